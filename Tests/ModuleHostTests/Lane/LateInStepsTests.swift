import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// What it depends on in what a module takes too long.
@Suite("A module that takes too long in a step of its own", .timeLimit(.minutes(10)))
struct LateInStepsTests {
    @Test("in init is left out; when it comes at last it is let go")
    func lateInit() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b init") { _ in door.pass() }
        let test = try HostUnderTest("a", "b", "c", probe: probe)
        try test.host.launch()
        await probe.reached("b init")
        test.overrun(.seconds(20))
        await probe.reached("c activate")
        door.open()
        await probe.reached("b deinit")
        #expect(probe.entries("b") == ["b init", "b deinit"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("in init keeps no other module waiting for a start-up task of its own")
    func lateInitWithTask() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b init") { module in
            try module.context.startup("index", priority: .high) {
                1
            } then: { _ in
                probe.note("b takes its index")
            }
            door.pass()
        }
        let test = try HostUnderTest("a", "b", "c", probe: probe)
        try test.host.launch()
        await probe.reached("b init")
        test.overrun(.seconds(20))
        // One deadline, and no second one: the clock stands still.
        await probe.reached("c activate")
        _ = await test.recorder.first {
            $0.message.hasPrefix("start-up task x.b/index failed: module 'x.b' was unloaded")
        }
        door.open()
        await probe.reached("b deinit")
        #expect(probe.entries("b") == ["b init", "b deinit"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("in init is not waited for when the app stops", arguments: [false, true])
    func stoppedInInit(isRequired: Bool) async throws {
        let (probe, door) = (Probe(), Door())
        probe.when("b init") { _ in door.pass() }
        let more = isRequired ? #""required": true"# : ""
        let test = try HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: more), .init(name: "c")], probe: probe)
        try test.host.launch()
        await probe.reached("b init")
        test.overrun(.seconds(20))
        let failure = "did not return within 20s"
        if isRequired {
            #expect(
                await test.end() == .failed("required module 'x.b' failed in init: it \(failure)"))
        } else {
            await probe.reached("c activate")
            #expect(await test.stopped() == .stopped)
        }
        let said = test.recorder.messages.filter {
            $0.contains(failure) || $0.contains("catches up")
        }
        #expect(said.count == 1 + (isRequired ? 1 : 0), "\(said)")
        door.open()
        await probe.reached("b deinit")
    }

    @Test("in the init of a reload is not waited for when the app stops")
    func stoppedInReload() async throws {
        let (probe, door) = (Probe(), Door())
        probe.when("b init") { _ in door.pass() }
        let test = try await HostUnderTest("a", probe: probe).launched()
        async let outcome = test.reload("a", "b")
        await probe.reached("b init")
        test.overrun(.seconds(20))
        guard case .rolledBack = try await outcome else {
            Issue.record("not undone")
            return
        }
        #expect(await test.stopped() == .stopped)
        door.open()
        await probe.reached("b deinit")
    }

    @Test("in deinit after a failed launch is waited for when the app stops")
    func stoppedInRelease() async throws {
        struct Refusal: Error {}
        let probe = Probe()
        let door = probe.close("b deinit")
        probe.when("b launch") { _ in throw Refusal() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "test")
        await probe.reached("b deinit")
        test.overrun(.seconds(10))
        _ = await test.recorder.first(containing: "waiting for x.b")
        door.open()
        #expect(await test.end() == .stopped)
    }

    @Test("does not delay the line that says that the app stops")
    func stopAsked() async throws {
        let (probe, door) = (Probe(), Door())
        probe.when("b memory-warning") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        test.host.stop(because: "the test is over")
        #expect(test.recorder.messages.last == "stopping: the test is over")
        door.open()
        #expect(await test.end() == .stopped)
    }

    @Test("in launch ends the host if it is required")
    func requiredLateInLaunch() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b launch") { _ in door.pass() }
        let test = try HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: #""required": true"#), .init(name: "c")],
            probe: probe)
        try test.host.launch()
        await probe.reached("b launch")
        test.overrun(.seconds(20))
        await probe.reached("a terminate")
        #expect(probe.entries("launch") == ["a launch", "b launch"])
        _ = await test.recorder.first(containing: "unresponsive since before the stop: x.b")
        door.open()
        #expect(
            await test.end()
                == .failed("required module 'x.b' failed in launch: it did not return within 20s"))
    }

    @Test("in launch, cut short by a stop, is reported with the time that it had")
    func stoppedInLaunch() async throws {
        let (probe, door) = (Probe(), Door())
        probe.when("b launch") { _ in door.pass() }
        let test = try HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: #""required": true"#)], probe: probe)
        try test.host.launch()
        await probe.reached("b launch")
        test.host.stop(because: "test")
        // Half of the first third of the time of the stop.
        test.overrun(.seconds(5))
        let line = await test.recorder.first(
            containing: "launch failed, and the module is required")
        #expect(!line.message.contains("20s"))
        #expect(line.message.contains(/did not return within [45](\.\d+)?s/))
        door.open()
        _ = await test.end()
    }

    @Test("in terminate does not keep the end from the others, and is left behind when time is up")
    func lateInTerminate() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b terminate") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        test.host.stop(because: "test")
        await probe.reached("b terminate")
        test.overrun(.seconds(10))
        await probe.reached("c terminate")
        _ = await test.recorder.first(containing: "waiting for x.b")
        test.time.advance(by: .seconds(30))
        #expect(await test.end() == .overdue([try ModuleID("x.b")]))
        // What the stuck stack refers to is released when it returns, if the process still stands.
        door.open()
        await probe.reached("a deinit")
    }

    @Test("in a claim search ends the search: going on could act twice")
    func claimSearch() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b open-url") { _ in door.pass() }
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b"), .init(name: "c", config: #""claims": true"#)],
            probe: probe
        ).launched()
        try test.deliver(.openURL, #"{"url": "slate://x"}"#)
        await probe.reached("b open-url")
        test.overrun()
        _ = await test.recorder.first {
            $0.event == "open-url" && $0.message == "1 module, 1 unresponsive"
        }
        #expect(!probe.entries.contains("c open-url"))
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("counts as failed in a reply that is put together")
    func reply() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b push") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.push, "{}")
        await probe.reached("b push")
        test.overrun()
        _ = await test.recorder.first {
            $0.event == "push" && $0.message == "2 modules, 1 unresponsive, failed"
        }
        door.open()
        #expect(await test.stopped() == .stopped)
    }
}
