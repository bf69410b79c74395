import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("A host's life", .timeLimit(.minutes(10)))
struct HostLifecycleTests {
    @Test("makes, launches and activates in slatefile order, and lets go in reverse order")
    func order() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        #expect(await test.stopped() == .stopped)
        #expect(
            probe.entries == [
                "a init", "b init", "c init", "a launch", "b launch", "c launch", "a activate",
                "b activate", "c activate", "a resign-active", "b resign-active", "c resign-active",
                "a background", "b background", "c background", "a terminate", "b terminate",
                "c terminate", "c deinit", "b deinit", "a deinit",
            ])
    }

    @Test(
        "high start-up tasks end before launch, default ones begin with it, low ones follow READY")
    func startupPhases() async throws {
        let probe = Probe()
        let atLaunch = Door()
        probe.when("a init") { module in
            try module.context.startup("high", priority: .high) {
                probe.note("high work")
            } then: {
                probe.note("high then")
            }
            try module.context.startup("default") {
                probe.note("default work")
                atLaunch.open()
            }
            try module.context.startup("low", priority: .low) { probe.note("low work") }
        }
        // Launch goes on only when the default task has run: it began beside it.
        probe.when("a launch") { _ in atLaunch.pass() }
        let test = try await HostUnderTest("a", probe: probe).launched()
        await probe.reached("low work")
        let entries = probe.entries
        #expect(Array(entries.prefix(3)) == ["a init", "high work", "high then"])
        #expect(Set(entries[3...4]) == ["a launch", "default work"])
        #expect(Array(entries.suffix(2)) == ["a activate", "low work"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("modules count as running from their launch to their failure")
    func countsRunning() async throws {
        let probe = Probe()
        probe.fail("a init")
        let door = probe.closeOnce("c launch")
        let test = try HostUnderTest("a", "b", "c", probe: probe)
        func counted() -> [Int] {
            let metrics = test.host.currentMetrics
            return [metrics.modulesRunning, metrics.modulesFailed]
        }
        async let launched = test.launched()
        await probe.reached("c launch")
        #expect(counted() == [0, 1])
        door.open()
        _ = try await launched
        #expect(counted() == [2, 1])
        test.host.onLane { app, _ in app.markFailed(app.records[1], "run", TestError()) }
        await test.settled()
        #expect(counted() == [1, 2])
        #expect(await test.stopped() == .stopped)
    }

    @Test("what a start-up task makes is handed back on the lane")
    func handBack() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            try module.context.startup("n", priority: .high) {
                6 * 7
            } then: { [unowned module] number in
                let isOnLane = module.context.event == nil && number == 42
                module.probe?.note(isOnLane ? "took 42" : "wrong")
            }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        #expect(probe.entries.contains("took 42"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("the main module's root is opened before the app is active")
    func root() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [
                .init(name: "a", config: #""root": "slate://home""#),
                .init(name: "b", config: #""claims": true"#), .init(name: "c"),
            ], probe: probe
        ).launched()
        let entries = probe.entries
        #expect(
            entries.firstIndex(of: "b open-url") ?? .max < entries.firstIndex(of: "a activate") ?? 0
        )
        #expect(!entries.contains("c open-url"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("what comes before READY waits for it, in order")
    func held() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a init") { _ in door.pass() }
        let test = try HostUnderTest("a", probe: probe)
        try test.host.launch()
        await probe.reached("a init")
        try test.deliver(.memoryWarning)
        try test.deliver(.background)
        try test.deliver(.foreground)
        door.open()
        await probe.reached("a foreground")
        await test.settled()
        #expect(
            probe.entries == [
                "a init", "a launch", "a activate", "a memory-warning", "a resign-active",
                "a background", "a foreground", "a activate",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a state event that means nothing is counted and logged")
    func meaningless() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.foreground)
        _ = await test.recorder.first(containing: "ignored: the app is active")
        #expect(!probe.entries.contains("a foreground"))
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Errors

    @Test("a module that throws in init is left out, and the app runs")
    func throwsInInit() async throws {
        let probe = Probe()
        probe.when("b init") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        #expect(probe.entries("launch") == ["a launch", "c launch"])
        #expect(
            test.recorder.messages.contains(
                "init failed; the app continues without it: broken"))
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("terminate") == ["a terminate", "c terminate"])
    }

    @Test("a required module that throws in init ends the host before anything is launched")
    func requiredThrowsInInit() async throws {
        let probe = Probe()
        probe.when("b init") { _ in throw TestError() }
        let test = try HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: #""required": true"#), .init(name: "c")],
            probe: probe)
        try test.host.launch()
        #expect(await test.end() == .failed("required module 'x.b' failed in init: broken"))
        #expect(probe.entries("launch").isEmpty && probe.entries("terminate").isEmpty)
        #expect(probe.entries.contains("a deinit"))
    }

    @Test("a module that throws in launch is failed, gets nothing more, and the app runs")
    func throwsInLaunch() async throws {
        let probe = Probe()
        probe.when("b launch") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        #expect(probe.entries("activate") == ["a activate", "c activate"])
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("b") == ["b init", "b launch", "b deinit"])
    }

    @Test("a required module that throws in launch ends the host; what was launched is stopped")
    func requiredThrowsInLaunch() async throws {
        let probe = Probe()
        probe.when("b launch") { _ in throw TestError() }
        let test = try HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: #""required": true"#), .init(name: "c")],
            probe: probe)
        try test.host.launch()
        #expect(await test.end() == .failed("required module 'x.b' failed in launch: broken"))
        #expect(probe.entries("launch") == ["a launch", "b launch"])
        #expect(probe.entries("terminate") == ["a terminate"])
        #expect(Array(probe.entries.suffix(3)) == ["c deinit", "b deinit", "a deinit"])
    }

    @Test("a module that throws in terminate does not keep the end from the others")
    func throwsInTerminate() async throws {
        let probe = Probe()
        probe.when("a terminate") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("terminate") == ["a terminate", "b terminate"])
        #expect(test.recorder.messages.contains("failed: broken"))
    }

    @Test("a required start-up task that fails ends the host, also after READY")
    func requiredTaskFails() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            try module.context.startup("db", priority: .low, required: true) { throw TestError() }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        #expect(
            await test.end() == .failed("required start-up task 'x.a/db' failed: broken"))
        #expect(probe.entries.contains("a terminate"))
    }

    @Test("start-up tasks that wait for an unregistered task end the launch")
    func unknownDependency() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            try module.context.startup("one", after: ["x.b/cahce"]) {}
            try module.context.startup("cache") {}
        }
        let test = try HostUnderTest("a", probe: probe)
        try test.host.launch()
        guard case .failed(let reason) = await test.end() else {
            Issue.record("it should have failed")
            return
        }
        #expect(reason.contains("x.b/cahce") && reason.contains("invalid start-up tasks"))
        #expect(probe.entries("launch").isEmpty)
    }

    // MARK: Replies

    @Test("replies to a push are joined, and one that throws counts as failed")
    func pushReplies() async throws {
        let probe = Probe()
        probe.when("b push") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.push, #"{"aps": {"badge": 1}}"#)
        let record = await test.recorder.first { $0.event == "push" && $0.module == nil }
        #expect(record.message == "2 modules, 1 failed, failed")
        #expect(await test.stopped() == .stopped)
    }

    @Test("the first to claim ends the search")
    func claims() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [
                .init(name: "a"), .init(name: "b", config: #""claims": true"#),
                .init(name: "c", config: #""claims": true"#),
            ], probe: probe
        ).launched()
        for (kind, payload) in [
            (EventKind.openURL, #"{"url": "slate://x"}"#), (.userActivity, #"{"type": "read"}"#),
            (.shortcut, #"{"type": "new"}"#),
        ] {
            try test.deliver(kind, payload)
            let record = await test.recorder.first {
                $0.event == kind.rawValue && $0.module == nil
            }
            #expect(record.message == "2 modules, claimed by x.b")
            #expect(!probe.entries.contains("c \(kind.rawValue)"))
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("a message reaches those that name its topic")
    func topics() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [
                .init(name: "a", config: #""topics": ["user.*"]"#),
                .init(name: "b", config: #""topics": ["user"]"#),
                .init(name: "c", config: #""topics": ["user.in", "x"]"#),
            ], probe: probe
        ).launched()
        try test.deliver(.message, #"{"topic": "user.in", "payload": 7}"#)
        await test.settled()
        #expect(probe.entries("message") == ["a message", "c message"])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "every event from outside reaches its responders",
        arguments: [
            (EventKind.memoryWarning, nil), (.push, "{}"),
            (.pushRegistered, #"{"deviceToken": "00ff"}"#),
            (.pushRegistrationFailed, #"{"error": "no network"}"#),
            (.notificationSettings, #"{"alert": true}"#), (.localNotification, #"{"id": "n"}"#),
            (.openURL, #"{"url": "slate://x"}"#), (.userActivity, #"{"type": "t"}"#),
            (.shortcut, #"{"type": "t"}"#), (.message, #"{"topic": "t"}"#),
        ] as [(EventKind, String?)])
    func everyEvent(kind: EventKind, payload: String?) async throws {
        let probe = Probe("everyEvent \(kind.rawValue)")
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(kind, payload)
        await test.settled()
        #expect(probe.entries(kind.rawValue) == ["a \(kind.rawValue)", "b \(kind.rawValue)"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the event in hand is numbered and not of the inbox, and outside of one there is none")
    func currentEvent() async throws {
        let probe = Probe()
        probe.when("a memory-warning") { module in
            module.probe?.note("number \(module.context.event?.sequence ?? 999)")
            module.probe?.note("position \(String(describing: module.context.position))")
        }
        probe.when("a init") { module in
            module.probe?.note("none \(module.context.event == nil)")
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.memoryWarning)
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(probe.entries("number") == ["number 2", "number 3"])
        #expect(probe.entries("position") == ["position nil", "position nil"])
        #expect(probe.entries("none") == ["none true"])
        #expect(await test.stopped() == .stopped)
    }
}
