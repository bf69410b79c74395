import EventStreams
import Foundation
import Testing

@testable import RedisBridge
@testable import RedisStreams

/// Messages of which each comes to one host of a group.
@Suite(.timeLimit(.minutes(2))) struct SharedWorkTests {
    let folder: TestFolder
    let server: RedisServer

    init() throws {
        folder = try TestFolder()
        server = try RedisServer()
    }

    private static let shared =
        #"{"from": "start", "share": ["jobs.*"], "group": "workers", "claim": "1s"}"#

    private func host(
        _ id: String, _ config: String = shared, inbox: TestInbox = TestInbox(),
        topics: String = #"["jobs.*", "shared.*"]"#
    ) throws -> TestHost {
        try TestHost(
            id, .redis(server.address), folder: folder.folder(id), inbox: inbox, config: config,
            topics: topics)
    }

    private func jobs(_ range: ClosedRange<Int>) -> [Bridge.Message] {
        messages(range, of: "job", topic: "jobs.resize")
    }

    private func expectFinished(_ source: String, _ server: RedisServer) async throws {
        // All are finished when nothing is pending; before the group is there, that is an error.
        try await poll {
            (try? server.command("XPENDING", "shop:" + source, "workers"))?.elements?.first
                == .integer(0)
        }
    }

    @Test func eachComesToOneHostOfTheGroupAndToAllOthers() async throws {
        let sender = try host(idA, "{}")
        let (b, c) = (try host(idB), try host(idC))
        let all = try host("d000000000000004", #"{"from": "start"}"#)
        let hosts = [sender, b, c, all]
        for host in hosts { host.receive() }
        // What is published and received before a host is there may be removed.
        for id in [idB, idC] {
            try await poll { try server.command("HGET", "shop:seen", id) != .null }
        }
        await sender.publish(jobs(1...200))
        await sender.publish(messages(201...210, of: "all"))
        await all.inbox.waitUntil { $0.count == 210 }
        for host in [b, c] {
            await host.inbox.waitUntil { $0.count { $0.topic == "shared.order" } == 10 }
        }
        func taken() -> [IncomingEvent] {
            (b.inbox.events + c.inbox.events).filter { $0.topic == "jobs.resize" }
        }
        // Before that nothing may be pending, too.
        try await poll { taken().count >= 200 }
        try await expectFinished(idA, server)
        let taken = taken()
        #expect(taken.map(\.body).sorted() == bodies(1...200, of: "job").sorted())
        #expect(taken.allSatisfy { $0.source == "redis:" + idA })
        for host in hosts {
            await host.stop()
            #expect(host.inbox.lines == [] && host.inbox.duplicates == 0)
        }
    }

    @Test func aHostTakesNoMoreThanItWorksOff() async throws {
        let sender = try host(idA, "{}")
        let config = Self.shared.replacing("}", with: #", "window": 4}"#)
        let (slow, quick) = (try host(idB, config), try host(idC, config))
        slow.inbox.holdWork()
        slow.receive()
        await sender.publish(jobs(1...20))
        await slow.inbox.waitUntil { $0.count == 4 }
        quick.receive()
        await quick.inbox.waitUntil { $0.count == 16 }
        #expect(slow.inbox.events.count == 4)
        slow.inbox.finish()
        try await expectFinished(idA, server)
        #expect(slow.inbox.events.count == 4 && quick.inbox.events.count == 16)
        await slow.stop()
        await quick.stop()
    }

    @Test func whatAHostThatIsGoneHasNotFinishedComesToAnother() async throws {
        let sender = try host(idA, "{}")
        let (gone, there) = (try host(idB), try host(idC))
        gone.inbox.holdWork()
        gone.receive()
        await sender.publish(jobs(1...5))
        await gone.inbox.waitUntil { $0.count == 5 }
        there.receive()
        // As long as it is there, another host is given nothing of it, however long it takes.
        await sender.publish(jobs(6...6))
        await gone.stop()
        await there.inbox.waitUntil { Set($0.map(\.body)).isSuperset(of: bodies(1...5, of: "job")) }
        try await expectFinished(idA, server)
        await there.stop()
    }

    @Test func aHostThatBeginsAgainGoesOnWithItsOwn() async throws {
        let sender = try host(idA, "{}")
        let config = Self.shared.replacing("1s", with: "1h")
        let first = try host(idB, config)
        first.inbox.holdWork()
        first.receive()
        await sender.publish(jobs(1...5))
        await first.inbox.waitUntil { $0.count == 5 }
        await first.stop()
        let next = try host(idB, config)
        next.receive()
        await next.inbox.waitUntil { $0.count == 5 }
        try await expectFinished(idA, server)
        #expect(next.inbox.bodies().sorted() == bodies(1...5, of: "job"))
        await next.stop()
    }

    @Test func whatAMemberSendsItselfIsItsOwnWork() async throws {
        let (b, c) = (try host(idB), try host(idC))
        b.receive()
        c.receive()
        await b.publish(jobs(1...5))
        await b.publish(messages(6...6, of: "end"))
        await c.inbox.waitUntil { $0.count == 1 }
        try await expectFinished(idB, server)
        #expect(c.inbox.bodies() == bodies(6...6, of: "end"))
        await b.stop()
        await c.stop()
    }

    /// Its own work from after the backup is that of no other host.
    @Test func aRestoredMemberReceivesItsOwnWorkAgain() async throws {
        let (b, old) = (try host(idB), try host(idA))
        b.receive()
        old.receive()
        await old.publish(jobs(1...2))
        try await expectFinished(idA, server)
        await old.stop()
        _ = try folder.copy(idA, to: "backup")
        await old.publish(jobs(3...5))
        _ = try folder.copy("backup", to: idA)
        let restored = try host(idA)
        await restored.publish(messages(3...4, of: "again", topic: "jobs.resize"))
        restored.receive()
        await restored.inbox.waitUntil { $0.count == 3 }
        #expect(restored.inbox.bodies() == bodies(3...5, of: "job"))
        #expect(b.inbox.events.isEmpty)
        await b.stop()
        await restored.stop()
    }

    @Test func nothingIsRemovedThatTheGroupHasNotFinished() async throws {
        let sender = try host(idA, "{}")
        let worker = try host(idB)
        worker.inbox.holdWork()
        worker.receive()
        sender.receive()
        await sender.publish(jobs(1...5))
        await worker.inbox.waitUntil { $0.count == 5 }
        // Both note what they have several times meanwhile.
        await sender.publish(messages(6...60, of: "all"))
        await worker.inbox.waitUntil { $0.count == 60 }
        #expect(
            try server.command("XRANGE", "shop:" + idA, "1-100", "1-500").elements?.count == 5)
        worker.inbox.finish()
        try await expectFinished(idA, server)
        try await poll { try server.command("XLEN", "shop:" + idA) == .integer(0) }
        await worker.stop()
        await sender.stop()
    }

    @Test func whatAModuleHasYetToReceiveIsNotFinished() async throws {
        let sender = try host(idA, "{}")
        let config = Self.shared.replacing("}", with: #", "window": 3}"#)
        let (broken, other) = (try host(idB, config), try host(idC, config))
        broken.inbox.holdWork()
        broken.receive()
        await sender.publish(jobs(1...2))
        await broken.inbox.waitUntil { $0.count == 2 }
        // It is asked again and again, and goes on with others.
        for asked in 1...6 {
            broken.inbox.finish(.waiting)
            await broken.inbox.waitForDuplicates(asked * 2)
        }
        #expect(
            try server.command("XPENDING", "shop:" + idA, "workers").elements?.first
                == .integer(2))
        other.receive()
        await other.inbox.waitUntil { $0.count == 2 }
        broken.inbox.finish()
        try await expectFinished(idA, server)
        await broken.stop()
        await other.stop()
    }

    @Test func whatALaterWorkerSentBeforeComesToItToo() async throws {
        let sender = try host(idA, "{}")
        await sender.publish(jobs(1...3))
        await sender.stop()
        let worker = try host(idA)
        worker.receive()
        await worker.inbox.waitUntil { $0.count == 3 }
        await worker.publish(jobs(4...4))
        try await expectFinished(idA, server)
        #expect(worker.inbox.bodies() == bodies(1...3, of: "job"))
        await worker.stop()
    }

    @Test func aHostThatBeginsToShareGoesOnWhereItWas() async throws {
        let sender = try host(idA, "{}")
        let before = try host(idB, #"{"from": "start"}"#)
        before.receive()
        await sender.publish(jobs(1...2))
        await before.inbox.waitUntil { $0.count == 2 }
        await before.stop()
        await sender.publish(jobs(3...4))
        let after = try host(idB, #"{"share": ["jobs.*"], "group": "workers"}"#)
        after.receive()
        await after.inbox.waitUntil { $0.count == 2 }
        #expect(after.inbox.bodies().sorted() == bodies(3...4, of: "job"))
        await after.stop()
    }

    @Test func whatNoModuleTakesIsADeadLetter() async throws {
        let sender = try host(idA, "{}")
        let worker = try host(idB)
        worker.inbox.holdWork()
        worker.receive()
        await sender.publish(jobs(1...1))
        await worker.inbox.waitUntil { $0.count == 1 }
        worker.inbox.finish(.unheard("no module listens to topic 'jobs.resize'"))
        await worker.inbox.waitForLine {
            $0
                == "warning: message 1-100 of host \(idA) is a dead letter in Redis: host \(idB): no module listens to topic 'jobs.resize'"
        }
        try await expectFinished(idA, server)
        #expect(try server.command("XLEN", "shop:dead") == .integer(1))
        await worker.stop()
    }

    @Test func aGroupHasTheSameTopicsInAllHosts() async throws {
        let (b, c) = (try host(idB), try host(idC, #"{"share": ["jobs.a"], "group": "workers"}"#))
        b.receive()
        try await poll { try server.command("HGET", "shop:groups", "workers") != .null }
        c.receive()
        await c.inbox.waitForLine {
            $0.contains(
                "group 'workers' of Redis at '\(server.socket)' shares the topics 'jobs.*', and this host 'jobs.a': give all hosts of the group the same 'share'"
            )
        }
        await b.stop()
        await c.stop()
    }

    @Test func killsOfTheServerLoseNothing() async throws {
        let sender = try host(idA, "{}")
        let (b, c) = (try host(idB), try host(idC))
        for host in [b, c] { host.receive() }
        for round in 0..<4 {
            async let killed: Void = server.killAfter(40)
            await sender.publish(jobs(round * 100 + 1...round * 100 + 100))
            try await killed
        }
        let wanted = Set(bodies(1...400, of: "job"))
        try await poll { wanted.isSubset(of: (b.inbox.events + c.inbox.events).map(\.body)) }
        await b.stop()
        await c.stop()
    }
}
