import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// What must hold beside a module that is overdue, whatever it and the others do meanwhile.
@Suite("Beside a late module", .timeLimit(.minutes(10)))
struct OverdueModuleTests {
    // MARK: No module is left out, none is notified twice

    @Test("the modules after it are notified where one before it has failed")
    func failedBefore() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b launch") { _ in throw TestError() }
        probe.when("c launch") { _ in door.pass() }
        let test = try HostUnderTest("a", "b", "c", "d", "e", probe: probe)
        try test.host.launch()
        await probe.reached("c launch")
        test.overrun(.seconds(20))
        await probe.reached("e activate")
        #expect(
            probe.entries("launch")
                == ["a launch", "b launch", "c launch", "d launch", "e launch"])
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a message that it held up reaches the rest, though members went meanwhile")
    func membersGone() async throws {
        let probe = Probe()
        let door = Door()
        let extra = ProbeMember("extra", probe)
        probe.when("a init") { $0.context.center.add(extra) }
        probe.when("a background") { module in
            module.context.center.send(to: (any PingResponder).self) { try $0.ping("x") }
            module.probe?.note("a sent")
        }
        probe.when("b ping") { _ in door.pass() }
        probe.when("c background") { $0.context.center.remove(extra) }
        let test = try await HostUnderTest("a", "b", "c", "d", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b ping")
        test.overrun()
        await probe.reached("d background")
        door.open()
        await probe.reached("a sent")
        #expect(
            probe.entries("ping") == ["a ping", "extra ping", "b ping", "c ping", "d ping"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a claimed event is not delivered later to modules that it would not have reached")
    func claimed() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest(
            [.init(name: "a", config: #""claims": true"#), .init(name: "b"), .init(name: "c")],
            probe: probe
        ).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        try test.deliver(.openURL, #"{"url": "slate://x"}"#)
        try test.deliver(.memoryWarning)
        await probe.reached("c memory-warning")
        door.open()
        _ = await test.recorder.first(containing: "responsive again")
        #expect(probe.entries("open-url") == ["a open-url"])
        #expect(probe.entries.contains("b memory-warning"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a claimed event whose search ended at one overdue module does not reach another")
    func claimEndedAtLate() async throws {
        let probe = Probe()
        let doors = [Door(), Door()]
        probe.when("b background") { _ in doors[0].pass() }
        probe.when("c background") { _ in doors[1].pass() }
        let test = try await HostUnderTest("a", "b", "c", "d", probe: probe).launched()
        try test.deliver(.background)
        for name in ["b", "c"] {
            await probe.reached("\(name) background")
            test.overrun()
        }
        try test.deliver(.openURL, #"{"url": "slate://x"}"#)
        await test.settled()
        for door in doors { door.open() }
        for id in ["x.b", "x.c"] {
            _ = await test.recorder.first {
                $0.module == id && $0.message.contains("responsive again")
            }
        }
        #expect(probe.entries("open-url") == ["a open-url", "b open-url"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that returns while a claim is still being sought waits for how it ends")
    func claimInHand() async throws {
        let probe = Probe()
        let stuck = Door()
        let asked = Door()
        probe.when("b background") { _ in
            stuck.pass()
            probe.note("b returns")
        }
        probe.when("a open-url") { _ in asked.pass() }
        let test = try await HostUnderTest(
            [.init(name: "a", config: #""claims": true"#), .init(name: "b")], probe: probe
        ).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        try test.deliver(.openURL, #"{"url": "slate://x"}"#)
        await probe.reached("a open-url")
        stuck.open()
        await probe.reached("b returns")
        asked.open()
        _ = await test.recorder.first(containing: "responsive again")
        #expect(probe.entries("open-url") == ["a open-url"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a member that it removes while it catches up receives nothing more")
    func removedWhileBehind() async throws {
        let probe = Probe()
        let door = Door()
        let extra = ProbeMember("extra", probe)
        probe.when("b init") { $0.context.center.add(extra) }
        probe.when("b memory-warning") { _ in door.pass() }
        probe.when("b background") { $0.context.center.remove(extra) }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        test.overrun()
        try test.deliver(.background)
        await test.settled()
        door.open()
        _ = await test.recorder.first(containing: "responsive again")
        #expect(probe.entries.contains("b background"))
        #expect(!probe.entries.contains("extra background"))
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Counts

    @Test("what its members receive when it returns does not count among what the lane delivered")
    func tallyOfMembers() async throws {
        let probe = Probe()
        let doors = [Door(), Door()]
        let extra = ProbeMember("extra", probe)
        probe.when("b init") { $0.context.center.add(extra) }
        probe.when("b background") { _ in doors[0].pass() }
        probe.when("c background") { _ in doors[1].pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await probe.reached("c background")
        doors[0].open()
        await probe.reached("extra background")
        doors[1].open()
        let record = await test.recorder.first { $0.module == nil && $0.event == "background" }
        #expect(record.message == "2 modules, 1 unresponsive")
        #expect(probe.entries("extra").filter { $0.hasSuffix("background") }.count == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that returns does not count the next late one once more")
    func tallyOfLate() async throws {
        let probe = Probe()
        let doors = [Door(), Door(), Door()]
        for (index, name) in ["b", "c", "d"].enumerated() {
            probe.when("\(name) background") { _ in doors[index].pass() }
        }
        let test = try await HostUnderTest("a", "b", "c", "d", probe: probe).launched()
        try test.deliver(.background)
        for name in ["b", "c"] {
            await probe.reached("\(name) background")
            test.overrun()
        }
        await probe.reached("d background")
        doors[0].open()
        // Its thread has gone through the list to where it finds the lane lost.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let work = DeferredWork { continuation.resume() }
            let slot = test.host.app.openInModule().records[1].slot
            if !test.host.gate.lane.defer(for: slot, work) { continuation.resume() }
        }
        doors[2].open()
        let record = await test.recorder.first { $0.module == nil && $0.event == "background" }
        #expect(record.message == "2 modules, 2 unresponsive")
        doors[1].open()
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Errors

    @Test("what it throws when it returns is reported")
    func throwsLate() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in
            door.pass()
            throw TestError()
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await probe.reached("c background")
        door.open()
        _ = await test.recorder.first(containing: "responsive again")
        let failures = test.recorder.records.filter {
            $0.message == "failed after its deadline: broken"
        }
        #expect(failures.map(\.module) == ["x.b"])
        #expect(failures.map(\.event) == ["background"])
        #expect(await test.stopped() == .stopped)
    }

    private func isOverdue(_ id: ModuleID, in test: HostUnderTest) async -> Bool {
        await withCheckedContinuation { continuation in
            test.host.onLane { app, _ in
                continuation.resume(returning: app.record(of: id).map(app.isOverdue) == true)
            }
        }
    }

    @Test("one that throws in launch when it returns is failed, and gets nothing more")
    func throwsLateInLaunch() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b launch") { _ in
            door.pass()
            throw TestError()
        }
        let test = try HostUnderTest("a", "b", "c", probe: probe)
        try test.host.launch()
        await probe.reached("b launch")
        test.overrun(.seconds(20))
        await probe.reached("c activate")
        door.open()
        let record = await test.recorder.first(containing: "launch failed")
        #expect(record.module == "x.b")
        #expect(record.message == "launch failed; the app continues without it: broken")
        // As long as its thread has not returned, a stop leaves it behind.
        while await isOverdue(ModuleID(checked: "x.b"), in: test) { await Task.yield() }
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("b") == ["b init", "b launch", "b deinit"])
    }

    // MARK: Confinement

    @Test("the main module is not asked for the root while it is unresponsive in launch")
    func noRoot() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a launch") { _ in door.pass() }
        probe.when("a root") { _ in probe.note("asked") }
        let test = try HostUnderTest("a", "b", probe: probe)
        try test.host.launch()
        await probe.reached("a launch")
        test.overrun(.seconds(20))
        await probe.reached("b activate")
        #expect(!probe.entries.contains("asked"))
        _ = await test.recorder.first(containing: "no root: the module is unresponsive")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a root that takes too long does not keep the app from being ready")
    func rootStuck() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a root") { _ in
            probe.note("asked")
            door.pass()
        }
        let test = try HostUnderTest("a", "b", probe: probe)
        try test.host.launch()
        await probe.reached("asked")
        test.overrun(.seconds(20))
        await probe.reached("b activate")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("its settings do not change under its hands")
    func settings() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { module in
            door.pass()
            let probe = try module.context.config([String: String].self)["probe"]
            module.probe?.note("still \(probe ?? "nothing")")
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        let changed = try JSONValue(parsing: #"{"probe": "changed"}"#)
        let modules = try ["x.a", "x.b", "x.c"].map { try ModuleID($0) }
        var reload = ConfigurationReload(
            appConfig: nil, isAppConfigChanged: false,
            configs: Dictionary(uniqueKeysWithValues: modules.map { ($0, changed) }))
        reload.changed = Set(modules)
        test.host.enqueue(.own(.reload(reload, origin: .host)))
        await probe.reached("c configuration-changed")
        probe.when("b configuration-changed") { module in
            let probe = try module.context.config([String: String].self)["probe"]
            module.probe?.note("now \(probe ?? "nothing")")
        }
        door.open()
        await probe.reached("b configuration-changed")
        await probe.reached("now changed")
        #expect(probe.entries.contains("still \(probe.name)"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a member added by a caller of the one to blame is the caller's")
    func addedByCaller() async throws {
        let probe = Probe()
        let door = Door()
        let extra = ProbeMember("extra", probe)
        probe.when("a background") { module in
            module.context.center.send(to: (any PingResponder).self) { try $0.ping("x") }
            module.context.center.add(extra)
            module.probe?.note("a added")
        }
        probe.when("c ping") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("c ping")
        test.overrun()
        await probe.reached("b background")
        door.open()
        await probe.reached("a added")
        for id in ["x.a", "x.c"] {
            _ = await test.recorder.first {
                $0.module == id && $0.message.contains("responsive again")
            }
        }
        probe.when("b memory-warning") { module in
            module.context.center.send(to: (any PingResponder).self) { try $0.ping("y") }
        }
        probe.when("c ping") { _ in }
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(
            Array(probe.entries("ping").suffix(4)) == ["a ping", "extra ping", "b ping", "c ping"])
        #expect(await test.stopped() == .stopped)
    }
}
