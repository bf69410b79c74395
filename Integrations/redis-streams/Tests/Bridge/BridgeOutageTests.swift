import EventStreams
import Foundation
import Testing

@testable import RedisBridge
@testable import RedisStreams

/// Hosts whose Redis is away, and those whose state directory was copied or restored.
@Suite(.timeLimit(.minutes(2))) struct BridgeOutageTests {
    let folder: TestFolder
    let server: RedisServer

    init() throws {
        folder = try TestFolder()
        server = try RedisServer()
    }

    private func host(
        _ id: String, _ name: String? = nil, inbox: TestInbox = TestInbox(), stays: Bool = false
    ) throws -> TestHost {
        try TestHost(
            id, .redis(server.address, stays: stays), folder: folder.folder(name ?? id),
            inbox: inbox,
            config: #"{"from": "start"}"#)
    }

    @Test func eventsWaitWhileRedisIsAway() async throws {
        let (a, b) = (try host(idA), try host(idB))
        b.receive()
        await a.publish(messages(1...10, of: "a"))
        await b.inbox.waitUntil { $0.count == 10 }
        server.kill()
        async let failures = a.publish(messages(11...100, of: "a"))
        await a.inbox.waitForLine { $0.hasPrefix("warning: ") }
        await b.inbox.waitForLine { $0.hasPrefix("warning: ") }
        try server.start()
        #expect(await failures > 0)
        await b.inbox.waitUntil { $0.count == 100 }
        await b.stop()
        #expect(b.inbox.bodies() == bodies(1...100, of: "a"))
        #expect(try server.added(idA) == 100)
        // One line at the beginning, one at the end, however long it took.
        #expect(
            a.inbox.lines.count == 2 && a.inbox.lines.last == "notice: events are published again")
        #expect(
            a.inbox.lines.first?.hasSuffix("Events wait in the inbox until they can be published")
                == true)
        #expect(b.inbox.lines.last == "notice: events of other hosts are received again")
    }

    @Test func killedRedisLosesDoublesAndMixesNothing() async throws {
        let (a, b) = (try host(idA), try host(idB))
        b.receive()
        for round in 0..<20 {
            async let killed: Void = server.killAfter(round * 7 % 30)
            await a.publish(messages(round * 100 + 1...round * 100 + 100, of: "a"))
            try await killed
        }
        await b.inbox.waitUntil { $0.count == 2000 }
        await b.stop()
        #expect(b.inbox.bodies() == bodies(1...2000, of: "a"))
        #expect(try server.added(idA) == 2000)
    }

    @Test func stoppedBridgesLoseAndDoubleNothing() async throws {
        var (a, b) = (try host(idA), try host(idB))
        for round in 0..<10 {
            b.receive()
            async let published = a.publish(
                messages(round * 50 + 1...round * 50 + 50, of: "a"))
            let count = round * 50 + 25
            await b.inbox.waitUntil { $0.count >= count }
            await b.stop()
            _ = await published
            b = try host(idB, inbox: b.inbox)
            a = try host(idA)
        }
        b.receive()
        await b.inbox.waitUntil { $0.count == 500 }
        await b.stop()
        #expect(b.inbox.bodies() == bodies(1...500, of: "a"))
        #expect(a.inbox.lines == [])
    }

    /// A host that dies gives up to a window of events again that were published, and perhaps removed since then.
    @Test func eventsThatWereRemovedAreNotPublishedAgain() async throws {
        var (a, b) = (try host(idA), try host(idB))
        a.receive()
        b.receive()
        for round in 0..<5 {
            await a.publish(messages(round * 20 + 1...round * 20 + 20, of: "a"))
            await b.inbox.waitUntil { $0.count == round * 20 + 20 }
            let last = "\(idA)=1-\(round * 2000 + 2000)"
            for each in [idA, idB] { try await server.waitUntil(each, notes: last) }
            await a.stop()
            a = try host(idA, inbox: a.inbox)
            a.receive()
            // All is received and noted, so that it is removed.
            try await poll { try server.command("XLEN", "shop:" + idA) == .integer(0) }
            await a.publish(messages(round * 20 + 11...round * 20 + 20, of: "a"))
        }
        await a.publish(messages(101...101, of: "a"))
        await b.inbox.waitUntil { $0.count == 101 }
        for each in [a, b] { await each.stop() }
        b = try host(idB, inbox: b.inbox)
        #expect(b.inbox.bodies() == bodies(1...101, of: "a"))
        #expect(b.inbox.duplicates == 0 && a.inbox.lines == [])
    }

    /// Positions that went back in time: the stream has other events there.
    @Test func restoredStateDirectoryLosesNothing() async throws {
        let (b, old) = (try host(idB, stays: true), try host(idA, stays: true))
        b.receive()
        old.receive()
        await old.publish(messages(1...10, of: "a"))
        await b.inbox.waitUntil { $0.count == 10 }
        await old.stop()
        _ = try folder.copy(idA, to: "backup")
        await old.publish(messages(11...20, of: "lost"))
        // The disk is lost; the host goes on from the backup, at the same positions.
        _ = try folder.copy("backup", to: idA)
        let restored = try host(idA, stays: true)
        await restored.publish(messages(11...15, of: "again"))
        restored.receive()
        await b.inbox.waitUntil { $0.count == 25 }
        await restored.inbox.waitUntil { $0.count == 10 }
        #expect(
            b.inbox.bodies() == bodies(1...10, of: "a") + bodies(11...20, of: "lost")
                + bodies(11...15, of: "again"))
        // It receives what it has lost, and nothing else of its own.
        #expect(restored.inbox.bodies() == bodies(11...20, of: "lost"))
        #expect(restored.inbox.lines.count == 1)
        #expect(
            restored.inbox.lines.first?.hasPrefix(
                "warning: stream \(idA) is beyond event 1-1100, and has another event there")
                == true)
        await b.stop()
        await restored.stop()
        // A restart goes on with the new stream.
        let restarted = try host(idA, inbox: restored.inbox)
        await restarted.publish(messages(16...17, of: "again"))
        #expect(try await restarted.hosts().count == 3)
        #expect(restarted.inbox.lines.count == 1)
    }

    /// Two machines of one image: both live, with one host id.
    @Test func copiedStateDirectoryLosesNothing() async throws {
        let (c, a) = (try host(idC, stays: true), try host(idA, stays: true))
        c.receive()
        await a.publish(messages(1...5, of: "a"))
        a.receive()
        _ = try folder.copy(idA, to: "copy")
        let copy = try host(idA, "copy", stays: true)
        copy.receive()
        await copy.publish(messages(6...15, of: "copy"))
        await a.publish(messages(6...12, of: "a"))
        await c.inbox.waitUntil { $0.count == 22 }
        await a.inbox.waitUntil { $0.count == 10 }
        await copy.inbox.waitUntil { $0.count == 7 }
        let all = c.inbox.bodies()
        #expect(all.filter { $0.hasPrefix("\"a") } == bodies(1...12, of: "a"))
        #expect(all.filter { $0.hasPrefix("\"copy") } == bodies(6...15, of: "copy"))
        #expect(a.inbox.bodies() == bodies(6...15, of: "copy"))
        #expect(copy.inbox.bodies() == bodies(6...12, of: "a"))
        for each in [a, copy, c] { await each.stop() }
    }

    /// Windows of a host that gave later events before it knew that an earlier one had failed.
    @Test func laterEventIsNotPublishedBeforeAFailedOne() async throws {
        let a = try host(idA)
        let all = messages(1...3, of: "a")
        await a.publish([all[0]])
        server.kill()
        await #expect(throws: NotNow(after: .seconds(3600))) {
            try await a.bridge.publish(all[1])
        }
        try server.start()
        await #expect(throws: NotNow.self) { try await a.bridge.publish(all[2]) }
        #expect(try server.added(idA) == 1)
        try await a.bridge.publish(all[1])
        try await a.bridge.publish(all[2])
        #expect(try server.added(idA) == 3)
        #expect(a.inbox.lines.count == 2)
    }

    /// The same logic on the other engine.
    @Test func bridgeOnFiles() async throws {
        let shared = try TestFolder()
        let engine = TestEngine.files(shared.path + "/shop")
        let a = try TestHost(idA, engine, folder: folder.folder("a"))
        let b = try TestHost(
            idB, engine, folder: folder.folder("b"), config: #"{"from": "start"}"#)
        b.receive()
        await a.publish(messages(1...50, of: "a"))
        await b.inbox.waitUntil { $0.count == 50 }
        await b.stop()
        #expect(b.inbox.bodies() == bodies(1...50, of: "a"))
    }
}

extension TestHost {
    fileprivate func hosts() async throws -> [StreamName: StreamPosition] {
        try await bridge.hosts()
    }
}

extension RedisServer {
    /// Waits until a host has noted a position.
    fileprivate func waitUntil(_ id: String, notes position: String) async throws {
        try await poll { try command("HGET", "shop:seen", id).text?.contains(position) == true }
    }
}
