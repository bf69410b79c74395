import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules that are made when they are needed", .timeLimit(.minutes(10)))
struct LazyModulesTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("LazyModulesTests")

    /// Module `a`, which can call others; `l`, which is lazy; and `z`, which receives everything.
    private func entries(_ more: String = "", before: [Entry] = []) -> [Entry] {
        [Entry(name: "a", type: "CallProbe")] + before
            + [lazy("l", more), Entry(name: "z", config: #""topics": ["*"]"#)]
    }

    private func lazy(_ name: String, _ more: String = "", type: String = "LazyProbe") -> Entry {
        Entry(
            name: name, more: #""launch": "lazy""# + (more.isEmpty ? "" : ", " + more), type: type)
    }

    private func state(_ host: HostUnderTest, _ name: String = "l") async -> ModuleStatus? {
        await host.statuses().first { $0.id.text == "x.\(name)" }
    }

    private func unload(_ name: String, of host: HostUnderTest) async throws -> UnloadOutcome {
        try await withCheckedThrowingContinuation { continuation in
            host.host.unload("x.\(name)") { continuation.resume(with: $0) }
        }
    }

    private let touch = RouteParameters(["number": "4"])
    private let made = ["l init", "l launch", "l activate"]

    // MARK: What makes them

    @Test("nothing is made at launch, and the first call makes it, with launch and the state first")
    func call() async throws {
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        #expect(await state(test)?.state == .onDemand)
        #expect(await test.call("x.l", "touch", touch) == "4")
        #expect(probe.entries("l") == made + ["l touch"])
        #expect(await state(test)?.state == .running)
        #expect(await test.call("x.l", "touch", touch) == "4")
        #expect(probe.entries("l") == made + ["l touch", "l touch"])
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("l").suffix(2) == ["l terminate", "l deinit"])
    }

    @Test("the first URL makes it")
    func url() async throws {
        let test = try await HostUnderTest(
            entries(), top: #""schemes": ["t"]"#, probe: probe
        ).launched()
        #expect(await test.open("t://x.l/touch/7") == "7")
        #expect(probe.entries("l") == made + ["l touch"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a call in the middle of another module's call makes it, also where it needs others")
    func nested() async throws {
        let before = [lazy("k"), lazy("j", #""needs": ["x.k"]"#)]
        let test = try await HostUnderTest(
            entries(#""needs": ["x.j"]"#, before: before), probe: probe
        ).launched()
        let touch = touch
        let answer = try await test.asFirst { module in
            let number = try module.context.mediator.perform("x.l", "touch", touch, as: Int.self)
            return "\(number) \(module.context.id)"
        }
        #expect(answer == "4 x.a")
        #expect(probe.entries("init") == ["z init", "k init", "j init", "l init"])
        #expect(probe.entries("k").count == 3)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that a module needs which is made at launch is made before it")
    func needed() async throws {
        let test = try await HostUnderTest(
            [Entry(name: "a"), lazy("l"), Entry(name: "b", more: #""needs": ["x.l"]"#)],
            probe: probe
        ).launched()
        #expect(probe.entries("init") == ["a init", "l init", "b init"])
        #expect(probe.entries("launch") == ["a launch", "l launch", "b launch"])
        #expect(
            try await unload("l", of: test) == .refused("x.l is needed by x.b, which runs"))
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a message on one of its topics makes it, and comes to it in its place in the order",
        arguments: ["lazy.one", "news.today"])
    func message(_ topic: String) async throws {
        let test = try await HostUnderTest(
            [Entry(name: "a"), lazy("l"), Entry(name: "z")], probe: probe
        ).launched()
        try test.deliver(.message, #"{"topic": "other"}"#)
        await test.settled()
        #expect(probe.entries("l").isEmpty)
        probe.note("now")
        try test.deliver(.message, #"{"topic": "\#(topic)"}"#)
        await test.settled()
        let after = probe.entries.drop { $0 != "now" }.dropFirst()
        #expect(Array(after) == made + ["a message", "l \(topic)", "z message"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("an event that its class conforms to makes it, and events of the state do not")
    func events() async throws {
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        for kind in [EventKind.memoryWarning, .resignActive, .background] {
            try test.deliver(kind)
        }
        await test.settled()
        #expect(await state(test)?.state == .onDemand)
        try test.deliver(.push, "{}")
        await test.settled()
        #expect(probe.entries("l") == ["l init", "l launch", "l background", "l push"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the first service that is asked of it makes it")
    func service() async throws {
        let entries = [
            Entry(name: "a", type: "CallProbe"),
            lazy("s", #""idle": "30s""#, type: "LazyService"),
        ]
        let test = try await HostUnderTest(entries, probe: probe).launched()
        let answer = try await test.asFirst { module in
            let isThere = module.context.services.provides((any Greeting).self)
            let greeting = try module.context.services.resolve((any Greeting).self)
            return "\(isThere) \(greeting.greet("you"))"
        }
        #expect(answer == "true hello you")
        #expect(probe.entries("s") == ["s init"])
        // Others may have the service, so it stays.
        await test.settled()
        test.time.advance(by: .seconds(61))
        await test.settled()
        #expect(await state(test, "s")?.state == .running)
        #expect(try await unload("s", of: test) == .unloaded)
        #expect(await state(test, "s")?.state == .onDemand)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a call during launch makes it, and it receives launch once")
    func duringLaunch() async throws {
        let touch = touch
        probe.when("z launch") { module in
            _ = try module.context.mediator.perform("x.l", "touch", touch, as: Int.self)
        }
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        #expect(probe.entries("l") == ["l init", "l launch", "l touch", "l activate"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a long-running task begins when it is made, and keeps it")
    func running() async throws {
        let entries = [Entry(name: "a"), lazy("r", #""idle": "30s""#, type: "LazyRunner")]
        let test = try await HostUnderTest(entries, probe: probe).launched()
        #expect(await test.call("x.r", "touch") == #""touched""#)
        await probe.reached("run begins")
        await test.settled()
        test.time.advance(by: .seconds(61))
        await test.settled()
        #expect(await state(test, "r")?.state == .running)
        #expect(try await unload("r", of: test) == .unloaded)
        await probe.reached("run ends")
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Failing

    @Test(
        "one that fails is an answer with its reason, and is tried again after the back-off",
        arguments: ["init", "launch"])
    func fails(_ what: String) async throws {
        let tries = Atomic(0)
        probe.whenLazy("l \(what)") { _ in
            if tries.add(1, ordering: .relaxed).newValue <= 2 { throw TestError() }
        }
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        let reason = "x.l is not available: it failed: \(what): broken"
        #expect(await test.call("x.l", "touch", touch).contains("it failed: \(what): broken"))
        #expect(
            await test.call("x.l", "touch", touch).contains("it failed: \(what): broken"),
            "\(reason)")
        #expect(probe.entries("init").filter { $0 == "l init" }.count == 1)
        #expect(await state(test)?.state == .failed)
        #expect(await state(test)?.retryAfter != nil)
        // Errors of `init` are not counted, of lazy or eager modules: it handles no event.
        #expect(test.host.metrics.withLock { $0.failures } == (what == "launch" ? 1 : 0))
        // A quarter more than the delays of 100 and 200 ms.
        test.time.advance(by: .milliseconds(125))
        await test.settled()
        #expect(await state(test)?.state == .onDemand)
        #expect(await test.call("x.l", "touch", touch).contains("broken"))
        test.time.advance(by: .milliseconds(125))
        await test.settled()
        #expect(await test.call("x.l", "touch", touch).contains("broken"))
        test.time.advance(by: .milliseconds(125))
        await test.settled()
        #expect(await test.call("x.l", "touch", touch) == "4")
        #expect(await state(test)?.state == .running)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one whose need fails is not made, with the reason")
    func needFails() async throws {
        probe.whenLazy("k init") { _ in throw TestError() }
        let test = try await HostUnderTest(
            entries(#""needs": ["x.k"]"#, before: [lazy("k")]), probe: probe
        ).launched()
        #expect(
            await test.call("x.l", "touch", touch).contains(
                "it needs x.k: it failed: init: broken"))
        #expect(await state(test)?.state == .onDemand)
        #expect(probe.entries("l").isEmpty)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that hangs in init is overdue like any, and fails")
    func hangs() async throws {
        let door = Door()
        probe.whenLazy("l init") { _ in door.pass() }
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        async let answer = test.call("x.l", "touch", touch)
        await probe.reached("l init")
        test.overrun(.seconds(20))
        #expect(await answer.contains("x.l"))
        #expect(
            await state(test)?.reason == "init: it did not return within 20s")
        try test.deliver(.push, "{}")
        await test.settled()
        #expect(probe.entries("push") == ["z push"])
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Unloading

    @Test("one that is idle is unloaded, and made again by the next call")
    func idle() async throws {
        let test = try await HostUnderTest(entries(#""idle": "30s""#), probe: probe).launched()
        #expect(await test.call("x.l", "touch", touch) == "4")
        await test.settled()
        test.time.advance(by: .seconds(29))
        #expect(await test.call("x.l", "touch", touch) == "4")
        await test.settled()
        test.time.advance(by: .seconds(29))
        await test.settled()
        try test.deliver(.message, #"{"topic": "lazy.one"}"#)
        await test.settled()
        test.time.advance(by: .seconds(29))
        await test.settled()
        #expect(await state(test)?.state == .running)
        // The lane may have set the next alarm before or after the clock had come to its end.
        for _ in 0..<60 where await state(test)?.state != .onDemand {
            test.time.advance(by: .seconds(1))
            await test.settled()
        }
        await probe.reached("l deinit")
        #expect(await state(test)?.state == .onDemand)
        #expect(
            probe.entries("l")
                == made + [
                    "l touch", "l touch", "l lazy.one", "l background", "l terminate", "l deinit",
                ])
        #expect(await test.call("x.l", "touch", touch) == "4")
        #expect(probe.entries("l").suffix(4) == made + ["l touch"])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a timer, a hold, work or a call without an answer keeps it",
        arguments: ["timer", "hold", "work", "call"])
    func held(_ what: String) async throws {
        let door = Door()
        let module = Guarded<LaneConfined<LazyProbe>?>(nil)
        probe.whenLazy("l touch") { lazy in
            guard let lazy else { return }
            module.withLock { $0 = LaneConfined(lazy) }
            switch what {
            case "timer": lazy.context.timer(after: .seconds(100)) {}
            case "hold":
                lazy.held.append(try lazy.context.hold(.background, "the test", expiry: nil))
            case "work":
                try lazy.context.perform("work", deadline: .seconds(600), work: { door.pass() })
            default: break
            }
        }
        let test = try await HostUnderTest(entries(#""idle": "30s""#), probe: probe).launched()
        #expect(await test.call("x.l", "touch", touch) == "4")
        async let answer = what == "call" ? test.call("x.l", "later") : ""
        if what == "call" { await probe.reached("l later") }
        // No module is on the lane when the clock moves.
        await test.settled()
        test.time.advance(by: .seconds(31))
        await test.settled()
        #expect(await state(test)?.state == .running)
        if what == "timer" { test.time.advance(by: .seconds(70)) }
        test.host.onLane { app, _ in
            guard let record = app.records.first(where: { $0.id.text == "x.l" }),
                let lazy = module.withLock({ $0 })?.openInModule()
            else { return }
            for hold in lazy.held { hold.end() }
            lazy.held = []
            lazy.reply?.send("done")
            lazy.reply = nil
            _ = record
        }
        door.open()
        #expect(await answer == (what == "call" ? #""done""# : ""))
        await test.settled()
        module.withLock { $0 = nil }
        for _ in 0..<50 where await state(test)?.state != .onDemand {
            test.time.advance(by: .seconds(31))
            await test.settled()
        }
        let obstacle: String? = await withCheckedContinuation { continuation in
            test.host.onLane { app, _ in
                let record = app.records.first { $0.id.text == "x.l" }
                continuation.resume(
                    returning: record.flatMap { app.obstacle(toUnloading: $0, isIdle: true) })
            }
        }
        #expect(await state(test)?.state == .onDemand, "\(what): \(obstacle ?? "none")")
        #expect(probe.entries("l").last == "l deinit")
        #expect(await test.stopped() == .stopped)
    }

    @Test("by hand it is unloaded at once; one that is not lazy, or not made, is not")
    func byHand() async throws {
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        #expect(try await unload("l", of: test) == .notMade)
        let running = test.host.currentMetrics.modulesRunning
        #expect(await test.call("x.l", "touch", touch) == "4")
        #expect(test.host.currentMetrics.modulesRunning == running + 1)
        #expect(try await unload("l", of: test) == .unloaded)
        #expect(test.host.currentMetrics.modulesRunning == running)
        #expect(probe.entries("l").suffix(2) == ["l terminate", "l deinit"])
        #expect(await state(test)?.state == .onDemand)
        #expect(
            try await unload("a", of: test)
                == .refused("x.a is made at launch, and the app cannot be without it"))
        #expect(
            try await unload("z", of: test)
                == .refused(
                    "x.z is made at launch: add \"launch\": \"lazy\" to its entry, or remove it from "
                        + "the slatefile and reload"))
        await #expect(throws: NoSuchModule(name: "x.lz", nearest: "x.l")) {
            try await unload("lz", of: test)
        }
        #expect(await test.call("x.l", "touch", touch) == "4")
        #expect(await test.stopped() == .stopped)
    }
}
