import EventStreams
import Foundation
import Synchronization
import Testing

@testable import RedisBridge
@testable import RedisStreams

let (idA, idB, idC) = ("a000000000000001", "b000000000000002", "c000000000000003")

/// Events from host to host.
@Suite(.timeLimit(.minutes(2))) struct BridgeTests {
    let folder: TestFolder
    let server: RedisServer
    var engine: TestEngine { get throws { try .redis(server.address) } }

    init() throws {
        folder = try TestFolder()
        server = try RedisServer()
    }

    private func host(
        _ id: String, _ name: String? = nil, inbox: TestInbox = TestInbox(), config: String = "{}"
    ) throws -> TestHost {
        try TestHost(id, engine, folder: folder.folder(name ?? id), inbox: inbox, config: config)
    }

    @Test func eventsComeToAllOtherHostsInTheirOrder() async throws {
        let config = #"{"from": "start"}"#
        let (a, b, c) = (
            try host(idA, config: config), try host(idB, config: config),
            try host(idC, config: config)
        )
        for each in [a, b, c] { each.receive() }
        async let fromA = a.publish(messages(1...100, of: "a"))
        async let fromB = b.publish(messages(1...50, of: "b"))
        #expect(await [fromA, fromB] == [0, 0])
        await c.inbox.waitUntil { $0.count == 150 }
        await b.inbox.waitUntil { $0.count == 100 }
        await a.inbox.waitUntil { $0.count == 50 }
        #expect(c.inbox.bodies(from: "redis:" + idA) == bodies(1...100, of: "a"))
        #expect(c.inbox.bodies(from: "redis:" + idB) == bodies(1...50, of: "b"))
        #expect(b.inbox.bodies() == bodies(1...100, of: "a"))
        #expect(a.inbox.bodies() == bodies(1...50, of: "b"))
        #expect(
            b.inbox.events.first
                == IncomingEvent(
                    id: idA + "/1-100", source: "redis:" + idA, topic: "shared.order",
                    body: "\"a 1\""))
        for each in [a, b, c] {
            await each.stop()
            #expect(each.inbox.lines == [] && each.inbox.duplicates == 0)
        }
    }

    /// Many events that come while a window is on its way are the next window.
    @Test func windowGrowsWithTheEventsThatWait() async throws {
        let a = try host(idA)
        await a.publish(messages(1...256, of: "a"), window: 64)
        #expect(try server.command("XLEN", "shop:" + idA) == .integer(256))
        #expect(try server.info("commandstats", "cmdstat_exec:calls=") < 64)
    }

    @Test func whatCameFromAnotherEngineGoesOutOnlyIfAsked() async throws {
        let (a, relay) = (try host(idA), try host(idB, config: #"{"relay": true}"#))
        for each in [a, relay] {
            await each.publish(messages(1...1, of: "own"))
            await each.publish(messages(2...2, of: "redis", source: "redis:" + idC))
            await each.publish(messages(3...3, of: "other", source: "mqtt:7"))
            await each.publish(messages(4...4, of: "topic", topic: "private.order"))
        }
        #expect(try server.command("XLEN", "shop:" + idA) == .integer(1))
        #expect(try server.command("XLEN", "shop:" + idB) == .integer(2))
    }

    @Test(arguments: ["now", "start"])
    func newHostBeginsWhereItIsTold(_ from: String) async throws {
        let a = try host(idA)
        await a.publish(messages(1...3, of: "a"))
        let config = #"{"from": "\#(from)", "receive": ["shared.*"]}"#
        var b = try host(idB, config: config)
        b.receive()
        // Later events are received either way, also those of a host that comes later.
        try await server.waitUntilHostIsThere(idB)
        let c = try host(idC)
        await c.publish(messages(1...2, of: "c"))
        await a.publish(messages(4...5, of: "a"))
        let first = from == "now" ? 4 : 1
        await b.inbox.waitUntil { $0.count == 8 - first }
        await b.stop()
        #expect(b.inbox.bodies(from: "redis:" + idA) == bodies(first...5, of: "a"))
        #expect(b.inbox.bodies(from: "redis:" + idC) == bodies(1...2, of: "c"))
        // A host that was here goes on where it was, whatever it is told.
        await a.publish(messages(6...7, of: "a"))
        b = try host(idB, inbox: b.inbox, config: config)
        b.receive()
        await b.inbox.waitUntil { $0.count == 10 - first }
        await b.stop()
        #expect(b.inbox.bodies(from: "redis:" + idA) == bodies(first...7, of: "a"))
        #expect(b.inbox.duplicates == 0)
    }

    /// On a full disk there may be room for a smaller event behind one that was refused.
    @Test func noEventOvertakesARefusedOneOnADiskWithoutRoom() async throws {
        let (a, inbox) = (try host(idA), TestInbox())
        await a.publish(messages(1...20, of: "a"))
        let refusals = Mutex(3)
        inbox.refuse { event in
            let isRefused =
                event.body == "\"a 2\""
                && refusals.withLock { count in
                    count -= 1
                    return count >= 0
                }
            return isRefused ? .notNow("the disk is full") : nil
        }
        let b = try TestHost(
            idB, engine, folder: folder.folder(idB), inbox: inbox, config: #"{"from": "start"}"#,
            room: 1 << 20)
        b.receive()
        await inbox.waitUntil { $0.count == 20 }
        await b.stop()
        #expect(inbox.bodies() == bodies(1...20, of: "a"))
        #expect(inbox.duplicates == 0)
    }

    @Test func cursorThatIsBehindOrDamagedDoublesNothingInTheInbox() async throws {
        let (a, b) = (try host(idA), try host(idB, config: #"{"from": "start"}"#))
        // A host that has received nothing keeps all events in the stream.
        try server.command("HSET", "shop:seen", idC, "99999999999999")
        b.receive()
        await a.publish(messages(1...5, of: "a"))
        await b.inbox.waitUntil { $0.count == 5 }
        await b.stop()
        let file = try folder.folder(idB) + "/redis-cursor.json"
        var duplicates: [Int] = []
        for text in ["{\n  \"\(idA)\": \"1-200\"\n}\n", "", "[]", "{\"\(idA)\": 5}"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let again = try host(idB, inbox: b.inbox)
            again.receive()
            let count = b.inbox.events.count
            await a.publish(messages(count + 1...count + 1, of: "a"))
            await b.inbox.waitUntil { $0.count == count + 1 }
            await again.stop()
            duplicates.append(b.inbox.duplicates)
        }
        #expect(b.inbox.bodies() == bodies(1...9, of: "a"))
        // Those behind the cursor; then all, since the file says nothing.
        #expect(duplicates == [3, 3 + 6, 3 + 6 + 7, 3 + 6 + 7 + 8])
        #expect(
            Set(b.inbox.lines) == [
                "warning: 'redis-cursor.json' cannot be read: all events of other hosts that are still there are received again"
            ])
    }

    @Test func poisonBecomesADeadLetterAndHoldsNothingUp() async throws {
        let (a, b) = (try host(idA), try host(idB, config: #"{"from": "start"}"#))
        await a.publish(messages(1...1, of: "a"))
        try server.command("XADD", "shop:" + idA, "1-101", "topic", "shared.x")
        try server.command(
            "XADD", "shop:" + idA, "1-102", "body", "{}", "topic", "\u{1b}[2J", "new", "1")
        await a.publish(messages(2...2, of: "a"))
        b.inbox.refuse { $0.topic == "\u{1b}[2J" ? .invalid("the topic is not valid") : nil }
        b.receive()
        await b.inbox.waitUntil { $0.count == 2 }
        await b.stop()
        #expect(b.inbox.bodies() == bodies(1...2, of: "a"))
        let dead = try #require(try server.command("XRANGE", "shop:dead", "-", "+").elements)
        let reasons = dead.map { $0.elements?.last?.pairs?["reason"]?.text }
        #expect(reasons == ["there is no field 'body'", "the topic is not valid"])
        #expect(
            b.inbox.lines.first
                == "warning: event 1-101 of host \(idA) is a dead letter in Redis: there is no field 'body'"
        )
    }

    @Test func inboxThatAcceptsNothingHoldsTheCursor() async throws {
        let (a, b, c) = (try host(idA), try host(idB), try host(idC, config: #"{"from": "start"}"#))
        c.inbox.refuse { $0.body == "\"a 3\"" ? .notNow("the disk is full") : nil }
        await a.publish(messages(1...5, of: "a"))
        await b.publish(messages(1...5, of: "b"))
        c.receive()
        // Another source is not held up.
        await c.inbox.waitUntil { $0.filter { $0.source == "redis:" + idB }.count == 5 }
        await c.inbox.waitUntil { $0.contains { $0.body == "\"a 2\"" } }
        #expect(!c.inbox.bodies().contains("\"a 3\""))
        c.inbox.refuse { _ in nil }
        await c.inbox.waitUntil { $0.count == 10 }
        await a.publish(messages(6...6, of: "a"))
        await c.inbox.waitUntil { $0.count == 11 }
        await c.stop()
        #expect(Set(c.inbox.bodies(from: "redis:" + idA)) == Set(bodies(1...6, of: "a")))
        #expect(
            c.inbox.lines == [
                "warning: the inbox does not accept events of other hosts: the disk is full. No events of other hosts come until that has changed",
                "notice: events of other hosts are received again",
            ])
    }
}

extension RedisServer {
    /// Waits until a host has taken its stream, and noted what it has seen after it looked for the others.
    func waitUntilHostIsThere(_ id: String) async throws {
        try await poll {
            try command("HGET", "shop:seen", id) != .null
                && info("commandstats", "cmdstat_xread:calls=") > 0
        }
    }
}
