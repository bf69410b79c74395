import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("A module that takes too long", .timeLimit(.minutes(10)))
struct LaneTakeoverTests {
    @Test("loses the lane after its deadline; the others receive the event")
    func others() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        #expect(probe.entries("background") == ["a background", "b background"])
        test.overrun()
        await probe.reached("c background")
        _ = await test.recorder.first {
            $0.event == "background" && $0.message == "2 modules, 1 unresponsive"
        }
        let record = await test.recorder.first(
            containing: "unresponsive: delivery continues without it")
        #expect(record.module == "x.b" && record.event == "background")
        door.open()
        _ = await test.recorder.first(containing: "responsive again")
        #expect(await test.stopped() == .stopped)
    }

    @Test("receives what it missed when it returns, each once and in order, and then is one of all")
    func catchesUp() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        try test.deliver(.memoryWarning)
        try test.deliver(.foreground)
        await probe.reached("c activate")
        #expect(probe.entries("b").last == "b background")
        door.open()
        _ = await test.recorder.first(containing: "responsive again")
        try test.deliver(.memoryWarning)
        await test.settled()
        let expected = ["background", "memory-warning", "foreground", "activate", "memory-warning"]
        for name in ["a", "b", "c"] {
            #expect(probe.entries(name).suffix(5) == expected.map { "\(name) \($0)" })
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("again and again takes no more room than once")
    func again() async throws {
        let probe = Probe()
        let round = Guarded(0)
        let doors = (0..<5).map { _ in Door() }
        probe.when("b memory-warning") { _ in
            let round = round.withLock(\.self)
            probe.note("b is stuck \(round)")
            doors[round].pass()
        }
        probe.when("c memory-warning") { _ in probe.note("c goes on \(round.withLock(\.self))") }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        let lane = test.host.gate.lane
        for number in doors.indices {
            round.withLock { $0 = number }
            try test.deliver(.memoryWarning)
            await probe.reached("b is stuck \(number)")
            test.overrun()
            await probe.reached("c goes on \(number)")
            doors[number].open()
            while lane.hasStalledThreads() { await test.settled() }
        }
        #expect(lane.state.withLock(\.threads.count) == 2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("is not called or sent to while it is unresponsive, and the caller gets an error at once")
    func calls() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        probe.when("a memory-warning") { module in
            let report = module.context.center.send(to: (any PingResponder).self) {
                try $0.ping("x")
            }
            module.probe?.note("report \(report.delivered) \(report.failed) \(report.overdue)")
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        try test.deliver(.memoryWarning)
        await probe.reached("report 2 0 1")
        #expect(probe.entries("ping") == ["a ping", "c ping"])
        door.open()
        _ = await test.recorder.first(containing: "responsive again")
        #expect(!probe.entries.contains("b ping"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("takes its callers along; the innermost is to blame, and each receives the event once")
    func nested() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a background") { module in
            let report = module.context.center.send(to: (any PingResponder).self) {
                try $0.ping("x")
            }
            module.probe?.note("a sent \(report.delivered)")
        }
        probe.when("b ping") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b ping")
        test.overrun()
        await probe.reached("c background")
        let record = await test.recorder.first(containing: "unresponsive, called by x.a")
        #expect(record.module == "x.b")
        #expect(!probe.entries.contains("b background"))
        door.open()
        await probe.reached("b background")
        await probe.reached("a sent 3")
        _ = await test.recorder.first {
            $0.module == "x.a" && $0.message.contains("responsive again")
        }
        _ = await test.recorder.first {
            $0.module == "x.b" && $0.message.contains("responsive again")
        }
        #expect(
            probe.entries("background").sorted() == [
                "a background", "b background", "c background",
            ])
        #expect(probe.entries("ping").sorted() == ["a ping", "b ping", "c ping"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("that sends while it is unresponsive waits until the lane has served it")
    func lateSender() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { module in
            door.pass()
            let report = module.context.center.send(to: (any PingResponder).self) {
                try $0.ping("x")
            }
            module.probe?.note("b sent \(report.delivered) \(report.overdue)")
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await probe.reached("c background")
        door.open()
        // It is overdue itself, so its own message does not reach it.
        await probe.reached("b sent 2 1")
        #expect(await test.stopped() == .stopped)
    }

    @Test("has its start-up results and timers wait for it")
    func errands() async throws {
        let probe = Probe()
        let door = Door()
        let work = Door()
        probe.when("b init") { module in
            try module.context.startup("feed") {
                work.pass()
            } then: {
                probe.note("b took feed")
            }
        }
        probe.when("b background") { _ in
            door.pass()
            probe.note("b returned")
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        work.open()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        door.open()
        await probe.reached("b took feed")
        _ = await test.recorder.first(containing: "responsive again")
        let entries = probe.entries
        #expect(
            entries.firstIndex(of: "b returned") ?? .max < entries.firstIndex(of: "b took feed")
                ?? 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("misses what is beyond its backlog, and the log says how much")
    func backlog() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: #""backlog": 3"#)], probe: probe
        ).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        for _ in 0..<8 { try test.deliver(.memoryWarning) }
        await test.settled()
        door.open()
        let record = await test.recorder.first(containing: "responsive again")
        #expect(
            record.message
                == "responsive again: it missed 5 events, more than its backlog of 3 or 16 MiB")
        #expect(probe.entries("memory-warning").filter { $0.hasPrefix("b") }.count == 3)
        #expect(await test.stopped() == .stopped)
    }

    @Test("says that it has caught up, also where the app ends before that comes to its turn")
    func caughtUpAtEnd() async throws {
        let probe = Probe()
        let (door, lane) = (Door(), Door())
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await test.settled()
        test.host.onLane { _, _ in
            probe.note("lane")
            lane.pass()
        }
        await probe.reached("lane")
        door.open()
        while test.host.gate.lane.hasStalledThreads() { await Task.yield() }
        #expect(!test.recorder.messages.contains { $0.hasPrefix("responsive again") })
        test.host.end(.stopped)
        #expect(test.recorder.messages.contains("responsive again: it has caught up"))
        lane.open()
        #expect(await test.end() == .stopped)
    }

    @Test("has the deadline that the slatefile gives it, and others keep theirs")
    func ownDeadline() async throws {
        let probe = Probe()
        let doors = (Door(), Door())
        probe.when("a memory-warning") { _ in doors.0.pass() }
        probe.when("b memory-warning") { _ in doors.1.pass() }
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: #""deadline": "1s""#)], probe: probe
        ).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun(.seconds(1))
        #expect(!test.recorder.messages.contains { $0.contains("unresponsive") })
        doors.0.open()
        await probe.reached("b memory-warning")
        test.overrun(.seconds(1))
        let record = await test.recorder.first(
            containing: "unresponsive: delivery continues without it")
        #expect(record.module == "x.b")
        doors.1.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("is not suspected when the whole process stood still")
    func stoppedProcess() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        // One tick, however late it comes, is one tick.
        test.time.advance(by: .milliseconds(500))
        test.time.jump(by: .seconds(3600))
        test.time.advance(by: .milliseconds(500))
        #expect(!test.recorder.messages.contains { $0.contains("unresponsive") })
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("eight at once make the host unhealthy")
    func unhealthy() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a memory-warning") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun()
        _ = await test.recorder.first(containing: "unhealthy: 1 of 2 modules are unresponsive")
        door.open()
        #expect(await test.stopped() == .stopped)
    }
}
