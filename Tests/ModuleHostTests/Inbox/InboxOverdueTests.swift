import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Delivery from the inbox to late modules", .timeLimit(.minutes(10)))
struct InboxOverdueTests {
    @Test("killed while a module is unresponsive: it alone receives its current event again")
    func killedWhileLate() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            if module.context.event?.id == "stall" { door.pass() }
        }
        let test = try await HostUnderTest.durable("a", "b", "c", in: folder, probe: probe)
            .launched()
        let place = try #require(await test.accept("stall"))
        await probe.reached("b \(place)#1")
        test.overrun()
        guard case .done(let outcome)? = await test.outcome("after") else {
            return #expect(Bool(false), "no outcome")
        }
        #expect(outcome.delivered == 2 && outcome.overdue == 1)
        let left = try folder.copied()
        door.open()
        #expect(await test.stopped() == .stopped)
        #expect(probe.received("b").count == 2)

        let again = Probe("killedWhileLate, again")
        let next = try await HostUnderTest.durable("a", "b", "c", in: left, probe: again).launched()
        _ = await next.outcome("last")
        #expect(again.received("a").count == 1 && again.received("c").count == 1)
        #expect(again.received("b").count == 3 && again.received("b").first == "\(place)#2")
        #expect(await next.stopped() == .stopped)
    }

    @Test("a late module that a reload removes is forgotten before it returns")
    func removedWhileLate() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            door.pass()
        }
        let test = try await HostUnderTest.durable("a", "b", in: folder, probe: probe).launched()
        let place = try #require(await test.accept())
        await probe.reached("b \(place)#1")
        test.overrun()
        _ = await test.outcome()
        let directory = StateDirectory(path: folder.path)
        let b = try ModuleID("x.b")
        #expect(BlackBox.Contents(in: directory)?.progress?.behind[b]?.position == place)
        let text = try await test.reload("a").text
        #expect(text == "applied: removed x.b; 2 undelivered events become dead letters")
        // The note is cleared behind the dead letters.
        while !Task.isCancelled, BlackBox.Contents(in: directory)?.progress?.behind != [:] {
            test.time.advance(by: .seconds(1))
            test.inbox?.noteDropped()
            await Task.yield()
        }
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("an overdue module receives all durable events however far it is behind")
    func beyondBacklog() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            if module.context.event?.id == "stall" { door.pass() }
        }
        let test = try await HostUnderTest.durable(
            "a", "b", in: folder, more: ["b": #""backlog": 2"#], probe: probe
        ).launched()
        let place = try #require(await test.accept("stall"))
        await probe.reached("b \(place)#1")
        test.overrun()
        for number in 0..<20 {
            _ = await test.outcome("\(number)")
            if number % 4 == 0 { try test.deliver(.memoryWarning) }
        }
        door.open()
        _ = await test.outcome("last")
        let last = try #require(probe.received("a").last)
        await probe.reached("b \(last)")
        #expect(probe.received("b") == probe.received("a"))
        #expect(probe.received("b").count == 22)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a late module that is too far behind gives up the oldest, under its name")
    func tooFarBehind() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            if module.context.event?.id == "stall" { door.pass() }
        }
        var limits = Inbox.Limits()
        limits.behind = 4000
        let test = try await HostUnderTest.durable(
            "a", "b", in: folder, more: ["b": #""backlog": 2"#], limits: limits, probe: probe
        ).launched()
        let place = try #require(await test.accept("stall"))
        await probe.reached("b \(place)#1")
        test.overrun()
        for number in 0..<200 {
            _ = await test.outcome("\(number)")
            test.time.advance(by: .milliseconds(100))
        }
        door.open()
        _ = await test.outcome("last")
        let last = try #require(probe.received("a").last)
        await probe.reached("b \(last)")
        let rejected = try DeadLetters(InboxFolder(in: StateDirectory(path: folder.path)))
            .contents().events
        #expect(rejected.allSatisfy { $0.modules?.map(\.text) == ["x.b"] })
        #expect(rejected.count > 100)
        let (given, received) = (rejected.map { "\($0.position)#1" }, probe.received("b"))
        // It was at work on the first one, which was given up for the case that it never returned.
        #expect(received.first == given.first)
        let all = probe.received("a")
        #expect(Set(given).union(received) == Set(all))
        #expect(given == all.filter(Set(given).contains))
        #expect(received == all.filter(Set(received).contains))
        // So it may be once more when it has returned: the move to the dead letters does not stop with the clock.
        #expect(Set(given).intersection(received).count <= 3)
        #expect(await test.stopped() == .stopped)
    }
}
