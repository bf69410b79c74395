import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("ModuleContext", .timeLimit(.minutes(10)))
struct ModuleContextTests {
    // MARK: Settings

    private struct Settings: Decodable {
        var probe: String
        var server: String
        var port: UInt16?
    }

    @Test("settings are typed; what is missing or wrong is said with its place in the slatefile")
    func settings() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            do {
                _ = try module.context.config(Settings.self)
            } catch {
                module.probe?.note("\(error)")
            }
            let whole = try module.context.config([String: JSONValue].self)
            module.probe?.note(whole.keys.sorted().joined(separator: " "))
        }
        let test = try await HostUnderTest(
            [.init(name: "a", config: #""root": "a:b""#)], probe: probe
        )
        .launched()
        let message = try #require(probe.entries.first { $0.contains("missing key") })
        #expect(message.contains("line 2, column "))
        #expect(message.contains("missing key 'server'"))
        #expect(message.contains("unknown key 'root'"))
        #expect(probe.entries.contains("probe root"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("the app's settings are the app's; without any they are empty")
    func appSettings() async throws {
        let probe = Probe()
        let look: Probe.Act = { module in
            let settings = try module.context.appConfig([String: String].self)
            module.probe?.note("\(settings["domain"] ?? "none") of \(module.context.app)")
        }
        probe.when("a init", look)
        let first = try await HostUnderTest(
            "a", top: #""config": {"domain": "x.org"}"#, probe: probe
        ).launched()
        #expect(await first.stopped() == .stopped)
        let second = try await HostUnderTest("a", probe: probe).launched()
        #expect(await second.stopped() == .stopped)
        #expect(probe.entries("of") == ["x.org of test", "none of test"])
    }

    // MARK: Timers

    @Test("a timer ticks once, at its time")
    func once() async throws {
        let probe = Probe()
        probe.when("a launch") { module in
            module.context.timer(after: .seconds(3)) { probe.note("tick") }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        test.time.advance(by: .milliseconds(2_999))
        await test.settled()
        #expect(probe.entries("tick").isEmpty)
        test.time.advance(by: .milliseconds(1))
        await test.settled()
        test.time.advance(by: .seconds(60))
        await test.settled()
        #expect(probe.entries("tick") == ["tick"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that repeats ticks again after each tick, also one that threw")
    func every() async throws {
        let probe = Probe()
        probe.when("a launch") { module in
            module.context.timer(every: .seconds(1)) {
                probe.note("tick")
                if probe.entries("tick").count == 2 { throw TestError() }
            }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        for count in 1...4 {
            test.time.advance(by: .seconds(1))
            await test.settled()
            #expect(probe.entries("tick").count == count)
        }
        let failures = test.recorder.records.filter { $0.message == "broken" }
        #expect(failures.map(\.module) == ["x.a"])
        #expect(await test.stopped() == .stopped)
        test.time.advance(by: .seconds(10))
        #expect(probe.entries("tick").count == 4)
        #expect(test.time.pendingAlarms == 0)
    }

    @Test("one that is called off in its own tick, or by another's, ticks no more")
    func cancelled() async throws {
        let probe = Probe()
        probe.when("a launch") { module in
            var timers: [ModuleTimer] = []
            timers.append(
                module.context.timer(every: .seconds(1)) {
                    probe.note("first tick")
                    for timer in timers { timer.cancel() }
                    for timer in timers { probe.note("running \(timer.isRunning)") }
                })
            // Due at the same instant: its time has run out when the first calls it off.
            timers.append(module.context.timer(every: .seconds(1)) { probe.note("second tick") })
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        test.time.advance(by: .seconds(1))
        await test.settled()
        test.time.advance(by: .seconds(10))
        await test.settled()
        #expect(probe.entries("tick") == ["first tick"])
        #expect(probe.entries("running") == ["running false", "running false"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a timer of a module that has failed does not tick")
    func failedModule() async throws {
        let probe = Probe()
        probe.when("b launch") { module in
            module.context.timer(every: .seconds(1)) { probe.note("tick") }
            throw TestError()
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.time.advance(by: .seconds(3))
        await test.settled()
        #expect(probe.entries("tick").isEmpty)
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Start-up tasks

    @Test("a task's name is its module's; it may follow others of its module and of another")
    func names() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            try module.context.startup("index", after: ["cache", "x.b/feed"]) {
                probe.note("index")
            }
            try module.context.startup("cache") { probe.note("cache") }
        }
        probe.when("b init") { module in
            try module.context.startup("feed", after: ["x.a/cache"]) { probe.note("feed") }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        await probe.reached("index")
        #expect(probe.entries.filter { !$0.contains(" ") } == ["cache", "feed", "index"])
        for name in ["x.a/cache", "x.b/feed", "x.a/index"] {
            _ = await test.recorder.first {
                $0.message.hasPrefix("start-up task \(name) succeeded")
            }
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("a task registered after READY runs; a name that is taken is refused")
    func lateTask() async throws {
        let probe = Probe()
        probe.when("a init") { module in try module.context.startup("one") {} }
        probe.when("a memory-warning") { module in
            do {
                try module.context.startup("one") {}
            } catch {
                module.probe?.note("\(error)")
            }
            try module.context.startup("two", priority: .low) {
                2
            } then: { number in
                probe.note("took \(number)")
            }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("took 2")
        #expect(probe.entries.contains { $0.contains("'x.a/one'") })
        #expect(await test.stopped() == .stopped)
    }

    @Test("a task whose result cannot be taken has failed")
    func handBackThrows() async throws {
        let probe = Probe()
        probe.when("a init") { module in
            try module.context.startup("feed", required: true) {
                1
            } then: { _ in
                throw TestError()
            }
        }
        let test = try HostUnderTest("a", probe: probe)
        try test.host.launch()
        #expect(
            await test.end() == .failed("required start-up task 'x.a/feed' failed: broken"))
    }

    @Test("the result of a task of a module that has failed is discarded")
    func handBackToFailed() async throws {
        let probe = Probe()
        let work = Door()
        probe.when("b init") { module in
            try module.context.startup("feed") {
                work.pass()
            } then: {
                probe.note("took")
            }
        }
        probe.when("b launch") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        work.open()
        let record = await test.recorder.first(containing: "start-up task x.b/feed failed")
        #expect(record.message.contains("module 'x.b' was unloaded, so the result is discarded"))
        #expect(!probe.entries.contains("took"))
        #expect(await test.stopped() == .stopped)
    }
}
