import AppService
import TestSupport
import Testing

@testable import ModuleHost

@Suite("Delivery from the inbox to late modules", .timeLimit(.minutes(10)))
struct InboxOverdueTests {
    @Test(
        "killed while a module is unresponsive: it alone hears again what it had not returned from")
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
        #expect(probe.heard("b").count == 2)

        let again = Probe("killedWhileLate, again")
        let next = try await HostUnderTest.durable("a", "b", "c", in: left, probe: again).launched()
        _ = await next.outcome("last")
        #expect(again.heard("a").count == 1 && again.heard("c").count == 1)
        #expect(again.heard("b").count == 3 && again.heard("b").first == "\(place)#2")
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
        #expect(try await test.reload("a").text == "applied: removed x.b")
        #expect(BlackBox.Contents(in: directory)?.progress?.behind == [:])
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a late module hears all durable events however far it is behind")
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
        let last = try #require(probe.heard("a").last)
        await probe.reached("b \(last)")
        #expect(probe.heard("b") == probe.heard("a"))
        #expect(probe.heard("b").count == 22)
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
        let last = try #require(probe.heard("a").last)
        await probe.reached("b \(last)")
        let rejected = try DeadLetters(InboxFolder(in: StateDirectory(path: folder.path)))
            .contents().events
        #expect(rejected.allSatisfy { $0.modules?.map(\.text) == ["x.b"] })
        #expect(rejected.count > 100)
        let (given, heard) = (rejected.map { "\($0.position)#1" }, probe.heard("b"))
        // It was at work on the first one, which was given up for the case that it never returned.
        #expect(heard.first == given.first)
        let all = probe.heard("a")
        #expect(Set(given).union(heard) == Set(all))
        #expect(given == all.filter(Set(given).contains))
        #expect(heard == all.filter(Set(heard).contains))
        // So it may be once more when it has returned: who puts aside does not stand still with the clock.
        #expect(Set(given).intersection(heard).count <= 3)
        #expect(await test.stopped() == .stopped)
    }
}
