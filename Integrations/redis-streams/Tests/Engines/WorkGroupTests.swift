import EventStreams
import Testing

@testable import RedisStreams

/// What a group of hosts shares, at the server.
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

    @Test func whatIsHeldIsNotTakenOver() async throws {
        try await publish(1...3)
        let first = RedisTaker(try settings, try group(), own: b)
        #expect(try await offsets(first.take(3)) == [1, 2, 3])
        for offset in 1...3 { try makeSilent(b, offset) }
        let keeper = RedisKeeper(try settings, try group(), own: b)
        let position = StreamPosition(segment: 1, offset: 2)
        try await keeper.hold([a: [position]])
        // One that looks for hosts that are silent for a minute.
        let third = RedisTaker(try settings, try group(), own: c)
        #expect(try await offsets(third.take(9)) == [1, 3])
        // The host itself has the one that it held.
        let again = RedisTaker(try settings, try group(), own: b)
        #expect(try await offsets(again.take(9)) == [2])
    }

    @Test func aLostReplyIsGivenAgain() async throws {
        try await publish(1...4)
        let first = RedisTaker(try settings, try group(), own: b)
        #expect(try await offsets(first.take(2)) == [1, 2])
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
        #expect(try await offsets(taker.take(3)) == [1, 2, 3])
        func position(_ offset: UInt64) -> StreamPosition {
            StreamPosition(segment: 1, offset: offset)
        }
        try await keeper.finish([a: [position(2)]])
        #expect(try await keeper.finished(of: [a]) == [a: position(0)])
        try await keeper.finish([a: [position(1)]])
        #expect(try await keeper.finished(of: [a]) == [a: position(2)])
        try await keeper.finish([a: [position(3)]])
        #expect(try await keeper.finished(of: [a]) == [a: position(3)])
        #expect(try await offsets(taker.take(3)) == [4])
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
