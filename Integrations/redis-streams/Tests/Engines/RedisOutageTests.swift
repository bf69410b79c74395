import EventStreams
import Testing

@testable import RedisStreams

/// Redis that dies, has no memory or disk, or whose answers are lost.
@Suite(.timeLimit(.minutes(2))) struct RedisOutageTests {
    private func settings(_ address: RedisAddress) throws -> RedisSettings {
        var settings = try RedisSettings(address: address, app: "shop")
        settings.waitMilliseconds = 50
        settings.removalDelay = .zero
        return settings
    }

    /// Trap 1 of the design: a client that repeats a command by itself does twice what was done once.
    @Test func lostAnswerIsDecidedByTheStreamAndNotByRepeating() async throws {
        let server = try RedisServer()
        let proxy = try LossyProxy(to: server.socket)
        let engine = try RedisStreams(
            settings(proxy.address), owner: StreamOwner(name: Hosts.a, mark: "a"))
        _ = try await engine.publish([event(10)])
        for round in UInt64(2)...6 {
            let window = [event(round * 10, "1"), event(round * 10 + 1, "2")]
            proxy.loseNextAnswer()
            guard case .away = await streamError({ try await engine.publish(window) }) else {
                return fail("the answer was not lost")
            }
            // It was done; the engine looks, and adds nothing.
            #expect(try await engine.publish(window) == position(round * 10 + 1))
        }
        #expect(try server.command("XLEN", "shop:\(Hosts.a)") == .integer(11))
        #expect(try server.info("commandstats", "cmdstat_xadd:calls=") == 11)
        #expect(try await engine.events(of: Hosts.a).count == 11)
    }

    @Test func lostAnswerOfAReadIsReadAgain() async throws {
        let server = try RedisServer()
        let proxy = try LossyProxy(to: server.socket)
        let a = try RedisStreams(
            settings(server.address), owner: StreamOwner(name: Hosts.a, mark: "a"))
        let b = try RedisStreams(
            settings(proxy.address), owner: StreamOwner(name: Hosts.b, mark: "b"))
        let all = (1...10).map { event($0) }
        _ = try await a.publish(all)
        #expect(try await b.hosts().count == 1)
        var (cursor, read) = (StreamPosition.start, [StreamEvent]())
        while cursor < position(10) {
            proxy.loseNextAnswer()
            let error = await streamError {
                try await b.read(after: [Hosts.a: cursor], limit: 3)
            }
            guard case .away = error else { return fail("the answer was not lost") }
            let entries = try await b.read(after: [Hosts.a: cursor], limit: 3)
            read += try entries.map { try $0.event() }
            cursor = try #require(entries.last).position
        }
        #expect(read == all)
    }

    @Test func nothingIsLostOrDoubledWhenTheServerIsKilled() async throws {
        let server = try RedisServer()
        let engine = try RedisStreams(
            settings(server.address), owner: StreamOwner(name: Hosts.a, mark: "a"))
        var all: [StreamEvent] = []
        for round in UInt64(1)...20 {
            // The server is killed while windows are published, each as often as it takes.
            async let killed: Void = server.killAfter(Int(round * 7 % 40))
            for window in UInt64(0)..<30 {
                let events = (1...8).map { event(round * 1000 + window * 10 + $0) }
                all += events
                while await streamError({ try await engine.publish(events) }) != nil {
                    try Task.checkCancellation()
                    await server.waitUntilStartedAgain()
                }
            }
            try await killed
        }
        #expect(try await engine.events(of: Hosts.a) == all)
    }

    /// The engines of two hosts.
    private func pair(on server: RedisServer) throws -> (RedisStreams, RedisStreams) {
        (
            try RedisStreams(
                settings(server.address), owner: StreamOwner(name: Hosts.a, mark: "a")),
            try RedisStreams(
                settings(server.address), owner: StreamOwner(name: Hosts.b, mark: "b"))
        )
    }

    @Test func notingAndTrimmingNeedNoMemory() async throws {
        let server = try RedisServer()
        let (a, b) = try pair(on: server)
        _ = try await a.publish([event(10), event(20)])
        try await b.seen([:])
        try server.command("CONFIG", "SET", "maxmemory", "1")
        guard case .full = await streamError({ try await a.publish([event(30)]) }) else {
            return fail("published")
        }
        // A host that has lost its connection takes its stream, whose mark is there, without memory, too.
        try await b.seen([Hosts.a: position(10)])
        try await a.seen([Hosts.a: position(20)])
        #expect(try server.command("XLEN", "shop:\(Hosts.a)") == .integer(1))
    }

    /// Hosts that read are enough to have a full memory become free.
    @Test func hostsThatReadMakeRoomInAFullMemory() async throws {
        let server = try RedisServer()
        let (a, b) = try pair(on: server)
        try await b.seen([:])
        let used = try server.info("memory", "used_memory:")
        try server.command("CONFIG", "SET", "maxmemory", String(used + 8 << 20))
        let large = String(repeating: "x", count: 100_000)
        var (next, cursor, wasFull) = (UInt64(1), StreamPosition.start, 0)
        while next <= 400 {
            let error = await streamError { try await a.publish([event(next, large)]) }
            guard error != nil else {
                next += 1
                continue
            }
            guard case .full(let text) = error else { return fail("\(error as Any)") }
            #expect(text.contains("Its memory is full"))
            wasFull += 1
            let entries = try await b.readAll(of: [Hosts.a], after: [Hosts.a: cursor], limit: 10)
            #expect(entries.first?.position == cursor.next)
            cursor = try #require(entries.last).position
            try await b.seen([Hosts.a: cursor])
            try await a.seen([Hosts.a: cursor])
        }
        #expect(wasFull > 2)
    }

    /// With `appendfsync always` Redis ends when its disk is full.
    @Test(.enabled(if: TemporaryFolder.canMount)) func fullDiskLosesNothing() async throws {
        let disk = try TemporaryFolder(megabytes: 8)
        let server = try RedisServer(
            RedisServer.durable + ["--auto-aof-rewrite-percentage", "0"], data: disk.path)
        let engine = try RedisStreams(
            settings(server.address), owner: StreamOwner(name: Hosts.a, mark: "a"))
        let large = String(repeating: "x", count: 100_000)
        var accepted: [StreamEvent] = []
        for number in UInt64(1)... {
            let window = [event(number * 10, large), event(number * 10 + 1, large)]
            guard let error = await streamError({ try await engine.publish(window) }) else {
                accepted += window
                continue
            }
            guard case .away = error else { return fail("\(error)") }
            server.waitUntilExit()
            #expect(TestProgram.run("mount", "-o", "remount,size=64m", disk.path))
            try server.start()
            #expect(try await engine.publish(window) == window[1].position)
            accepted += window
            break
        }
        #expect(accepted.count > 10)
        #expect(try await engine.events(of: Hosts.a) == accepted)
    }

    @Test func largeReplyIsReadInParts() async throws {
        let server = try RedisServer()
        let engine = try RedisStreams(
            settings(server.address), owner: StreamOwner(name: Hosts.a, mark: "a"))
        let large = String(repeating: "x", count: StreamLimits.event - 100)
        for window in UInt64(0)..<6 {
            _ = try await engine.publish((1...15).map { event(window * 100 + $0, large) })
        }
        #expect(try await engine.readAll(of: [Hosts.a], limit: 256).count == 90)
    }
}

extension StreamPosition {
    fileprivate var next: StreamPosition {
        self == .start ? position(1) : position(offset + 1)
    }
}
