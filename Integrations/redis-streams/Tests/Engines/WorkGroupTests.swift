import EventStreams
import Synchronization
import Testing

@testable import RedisStreams

/// The messages that a group of hosts shares, at the server.
@Suite(.timeLimit(.minutes(2))) struct WorkGroupTests {
    private let server: RedisServer
    private let (a, b, c): (StreamName, StreamName, StreamName)
    private let owner: StreamOwner

    init() throws {
        server = try RedisServer()
        a = try #require(StreamName(hostID: idA))
        b = try #require(StreamName(hostID: idB))
        c = try #require(StreamName(hostID: idC))
        owner = StreamOwner(name: a, mark: StreamOwner.newMark())
    }

    private var settings: RedisSettings {
        get throws {
            var settings = try RedisSettings(address: server.address, app: "shop")
            settings.waitMilliseconds = 20
            return settings
        }
    }

    private func group(
        start: Bool = true, claim: Duration = .seconds(60), topics: [String] = ["jobs.*"]
    ) throws -> WorkGroup {
        try WorkGroup(name: "g", topics: topics, beginsAtStart: start, claim: claim)
    }

    private func publish(_ numbers: ClosedRange<UInt64>) async throws {
        let engine = RedisStreams(try settings, owner: owner)
        _ = try await engine.publish(
            numbers.map {
                StreamEvent(
                    position: StreamPosition(segment: 1, offset: $0), id: nil, topic: "jobs.x",
                    body: "\($0)")
            })
    }

    /// Makes it long ago that a host said something of what it was given.
    private func makeSilent(_ host: StreamName, _ offset: Int) throws {
        _ = try server.command(
            "XCLAIM", "shop:" + idA, "g", host.text, "0", "1-\(offset)", "IDLE", "3600000",
            "JUSTID")
    }

    private func offsets(_ entries: [StreamEntry]) -> [UInt64] { entries.map(\.position.offset) }

    /// Takes so many entries, one after the other; fewer where there are no more.
    private func take(_ count: Int, by taker: RedisTaker) async throws -> [UInt64] {
        var taken: [UInt64] = []
        // Each stream has its turn.
        for _ in 0..<count * 2 where taken.count < count {
            taken += try await offsets(taker.take(1))
        }
        return taken
    }

    @Test func whatIsHeldIsNotTakenOver() async throws {
        try await publish(1...3)
        let first = RedisTaker(try settings, try group(), own: b)
        #expect(try await take(3, by: first) == [1, 2, 3])
        for offset in 1...3 { try makeSilent(b, offset) }
        let keeper = RedisKeeper(try settings, try group(), own: b)
        let position = StreamPosition(segment: 1, offset: 2)
        try await keeper.hold([a: [position]])
        // One that looks for hosts that are silent for a minute.
        let clock = MovedClock()
        let third = RedisTaker(try settings, try group(), own: c) { clock.now }
        // Those that could not say so while the server was away have their turn first.
        #expect(try await third.take(9) == [])
        clock.move(by: .seconds(31))
        #expect(try await offsets(third.take(9)) == [1, 3])
        // The host itself has the one that it held.
        let again = RedisTaker(try settings, try group(), own: b)
        #expect(try await offsets(again.take(9)) == [2])
    }

    @Test func aLostReplyIsGivenAgain() async throws {
        try await publish(1...4)
        let first = RedisTaker(try settings, try group(), own: b)
        #expect(try await take(2, by: first) == [1, 2])
        // Its connection is another one, and so may be what it was given by the former.
        let again = RedisTaker(try settings, try group(), own: b)
        #expect(try await offsets(again.take(9)) == [1, 2])
        #expect(try await offsets(again.take(9)) == [3, 4])
    }

    @Test func theGroupHasFinishedWhatIsBeforeTheOldestInWork() async throws {
        let taker = RedisTaker(try settings, try group(), own: b)
        let keeper = RedisKeeper(try settings, try group(), own: b)
        // There is neither the stream nor the group.
        #expect(try await keeper.finished(of: [a]) == [:])
        try await publish(1...4)
        #expect(try await take(3, by: taker) == [1, 2, 3])
        func position(_ offset: UInt64) -> StreamPosition {
            StreamPosition(segment: 1, offset: offset)
        }
        try await keeper.finish([a: [position(2)]])
        #expect(try await keeper.finished(of: [a]) == [a: position(0)])
        try await keeper.finish([a: [position(1)]])
        #expect(try await keeper.finished(of: [a]) == [a: position(2)])
        try await keeper.finish([a: [position(3)]])
        #expect(try await keeper.finished(of: [a]) == [a: position(3)])
        #expect(try await take(1, by: taker) == [4])
        #expect(try await keeper.finished(of: [a]) == [a: position(3)])
    }

    @Test func aNewGroupBeginsWhereItShall() async throws {
        try await publish(1...3)
        let taker = RedisTaker(try settings, try group(start: false), own: b)
        #expect(try await taker.take(9) == [])
        try await publish(4...4)
        #expect(try await offsets(taker.take(9)) == [4])
        // The host that comes second does not begin again.
        let second = RedisTaker(try settings, try group(start: true), own: c)
        #expect(try await second.take(9) == [])
    }

    @Test func whatWasRemovedMeanwhileHasNoFields() async throws {
        try await publish(1...1)
        let first = RedisTaker(try settings, try group(), own: b)
        #expect(try await first.take(9).count == 1)
        _ = try server.command("XDEL", "shop:" + idA, "1-1")
        let again = RedisTaker(try settings, try group(), own: b)
        let entries = try await again.take(9)
        #expect(offsets(entries) == [1] && entries.first?.fields == [])
    }

    @Test func aRemovedStreamIsJoinedAgain() async throws {
        try await publish(1...1)
        let taker = RedisTaker(try settings, try group(), own: b)
        #expect(try await taker.take(9).count == 1)
        _ = try server.command("DEL", "shop:" + idA)
        await #expect(throws: StreamError.self) { try await taker.take(9) }
        #expect(try await taker.take(9) == [])
    }

    @Test func noMoreIsTakenThanWanted() async throws {
        for id in ["a", "b", "d"] {
            let name = try #require(StreamName(hostID: id + "000000000000001"))
            let engine = RedisStreams(
                try settings, owner: StreamOwner(name: name, mark: StreamOwner.newMark()))
            _ = try await engine.publish(
                (1...2).map {
                    StreamEvent(
                        position: StreamPosition(segment: 1, offset: $0), id: nil,
                        topic: "jobs.x", body: "1")
                })
        }
        let taker = RedisTaker(try settings, try group(), own: c)
        var (all, takes) = (Set<StreamEntry>(), 0)
        while all.count < 6, takes < 30 {
            let entries = try await taker.take(1)
            #expect(entries.count <= 1)
            all.formUnion(entries)
            takes += 1
        }
        #expect(all.count == 6)
        // All of it is given again after the connection was lost.
        let again = RedisTaker(try settings, try group(), own: c)
        #expect(try await Set(again.take(1)) == all)
    }

    @Test func aReplyThatIsTooLargeIsTakenInParts() async throws {
        let engine = RedisStreams(try settings, owner: owner)
        let body = String(repeating: "x", count: (1 << 20) - 100)
        for window in 0..<10 {
            _ = try await engine.publish(
                (0..<8).map {
                    StreamEvent(
                        position: StreamPosition(segment: 1, offset: UInt64(window * 8 + $0 + 1)),
                        id: nil, topic: "jobs.x", body: body)
                })
        }
        let taker = RedisTaker(try settings, try group(), own: b)
        var (all, failures) = (Set<UInt64>(), 0)
        while all.count < 80, failures < 20 {
            do {
                all.formUnion(try await offsets(taker.take(256)))
            } catch {
                failures += 1
            }
        }
        #expect(all.count == 80 && failures > 0)
    }

    @Test func aNewGroupBeginsWhereItsHostWas() async throws {
        try await publish(1...4)
        let position = StreamPosition(segment: 1, offset: 2)
        let taker = RedisTaker(
            try settings, try group(start: false), own: b, beginnings: [a: position])
        #expect(try await offsets(taker.take(9)) == [3, 4])
    }

    @Test func anotherGroupHasItsOwnPlace() async throws {
        try await publish(1...2)
        let taker = RedisTaker(try settings, try group(), own: b)
        #expect(try await offsets(taker.take(9)) == [1, 2])
        let other = RedisTaker(
            try settings,
            try WorkGroup(name: "h", topics: ["x"], beginsAtStart: true, claim: .seconds(60)),
            own: b)
        #expect(try await offsets(other.take(9)) == [1, 2])
    }
}

/// A clock that a test moves.
private final class MovedClock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func move(by duration: Duration) { instant.withLock { $0 += duration } }
}
