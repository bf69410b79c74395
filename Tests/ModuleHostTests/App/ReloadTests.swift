import TestSupport
import Testing

@testable import AppService
@testable import ModuleHostCore

/// What modules see of a reload that goes well.
@Suite("Reload", .timeLimit(.minutes(10)))
struct ReloadTests {
    @Test("a new module is made, launched and brought to the app's state; no other is notified")
    func added() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        #expect(try await test.reload("b", "a").text == "applied: added x.b; adjusted x.a")
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(
            probe.entries == [
                "a init", "a launch", "a activate", "b init", "b launch", "a configuration-changed",
                "b activate", "b memory-warning", "a memory-warning",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a removed module is notified of its end, as in a stop, and released")
    func removed() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(try await test.reload("a").text == "applied: removed x.b")
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(
            probe.entries("b") == [
                "b init", "b launch", "b activate", "b resign-active", "b background",
                "b terminate", "b deinit",
            ])
        #expect(probe.entries("memory-warning") == ["a memory-warning"])
        #expect(test.host.gate.lane.vacantNumbers(1) == [2])
        #expect(await test.stopped() == .stopped)
    }

    @Test("in the background a new module is notified of it, and a removed one is not again")
    func inBackground() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        #expect(try await test.reload("a", "c").text == "applied: added x.c; removed x.b")
        #expect(probe.entries("c") == ["c init", "c launch", "c background"])
        #expect(
            probe.entries("b") == [
                "b init", "b launch", "b activate", "b resign-active", "b background",
                "b terminate", "b deinit",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is made anew is launched before the old one is stopped")
    func recreated() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b", type: "CallProbe")], probe: probe
        ).launched()
        #expect(await test.call("x.b", "sum", ["left": 1, "right": 2]) == "3")
        let outcome = try await test.reload("a", "b")
        #expect(outcome.text == "applied: recreated x.b")
        #expect(probe.entries("b") == ["b sum", "b init", "b launch", "b activate"])
        #expect(await test.call("x.b", "sum") == "no module 'x.b'")
        let back = try await test.reload([.init(name: "a"), .init(name: "b", type: "CallProbe")])
        #expect(back.text == "applied: recreated x.b")
        #expect(await test.call("x.b", "sum", ["left": 1, "right": 2]) == "3")
        #expect(
            probe.entries("b").suffix(5) == [
                "b resign-active", "b background", "b terminate", "b deinit", "b sum",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("what a removed module throws in its shutdown events is logged under its name")
    func removedThrows() async throws {
        let probe = Probe()
        probe.when("b terminate") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(try await test.reload("a").text == "applied: removed x.b")
        await probe.reached("b deinit")
        let failures = test.recorder.records.filter { $0.message == "failed: broken" }
        #expect(failures.map(\.module) == ["x.b"])
        #expect(failures.map(\.event) == ["terminate"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the order changes for events, messages and claims")
    func reordered() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        let outcome = try await test.reload([
            .init(name: "c", config: #""claims": true"#), .init(name: "a"), .init(name: "b"),
        ])
        #expect(
            outcome.text
                == "applied: config changed: x.c; adjusted x.c, x.a; order of modules")
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(
            probe.entries("memory-warning") == [
                "c memory-warning", "a memory-warning", "b memory-warning",
            ])
        #expect(await test.stopped() == .stopped)
        #expect(
            probe.entries("terminate") == ["c terminate", "a terminate", "b terminate"])
        #expect(probe.entries("deinit") == ["b deinit", "a deinit", "c deinit"])
    }

    @Test("the same once more changes nothing; modules that take settings are still notified")
    func unchanged() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        #expect(try await test.reload("a", "b").text == "applied: added x.b")
        #expect(try await test.reload("a", "b").text == "nothing changed")
        await test.settled()
        #expect(
            probe.entries("configuration-changed") == [
                "a configuration-changed", "a configuration-changed", "b configuration-changed",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("what came before READY waits for it, and a reload waits for the one before it")
    func turns() async throws {
        let probe = Probe()
        let test = try HostUnderTest("a", probe: probe)
        async let first = test.reload("a", "b")
        async let second = test.reload("a")
        let launched = try await test.launched()
        let texts = try await [first.text, second.text]
        #expect(
            texts == ["applied: added x.b", "applied: removed x.b"]
                || texts == ["applied: added x.b", "nothing changed"])
        #expect(await launched.stopped() == .stopped)
    }

    @Test("limits change at once, of the app and of a module")
    func limits() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b memory-warning") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        let outcome = try await test.reload(
            [.init(name: "a"), .init(name: "b", more: #""deadline": "1s""#), .init(name: "c")])
        #expect(outcome.text == "applied: adjusted x.b")
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        // The watchdog may have been at its last tick of half a second.
        test.overrun(.seconds(2))
        await probe.reached("c memory-warning")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "start-up tasks of a new module run: high ones before it launches, of one made anew again")
    func startupTasks() async throws {
        let probe = Probe()
        probe.when("b init") { module in
            let probe = module.probe
            try module.context.startup("load", priority: .high, required: true) {
                probe?.note("b loads")
            } then: {
                probe?.note("b loaded")
            }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        #expect(try await test.reload("a", "b").text == "applied: added x.b")
        #expect(
            probe.entries("b") == ["b init", "b loads", "b loaded", "b launch", "b activate"])
        let outcome = try await test.reload(
            [.init(name: "a"), .init(name: "b", type: "CallProbe")])
        #expect(outcome.text == "applied: recreated x.b")
        #expect(try await test.reload("a", "b").text == "applied: recreated x.b")
        #expect(probe.entries.filter { $0 == "b loaded" }.count == 2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("the start-up tasks of modules that reloads replace are forgotten in the end")
    func forgottenTasks() async throws {
        let probe = Probe()
        probe.when("b init") { module in
            let probe = module.probe
            try module.context.startup("load", priority: .low) { probe?.note("b loads") }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let other = HostUnderTest.Entry(name: "b", type: "CallProbe")
        for round in 0..<200 {
            let outcome = try await test.reload(
                [.init(name: "a"), round.isMultiple(of: 2) ? other : .init(name: "b")])
            #expect(outcome.text == "applied: recreated x.b")
            await test.host.startup.done(.low)
        }
        #expect(probe.entries.filter { $0 == "b loads" }.count == 101)
        let tasks = test.host.startup.report().tasks
        #expect(test.host.startup.state.withLock { $0.graph.tasks.count } < 70)
        #expect(tasks.first { $0.name == "x.b/load" }?.outcome == .succeeded)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "modules made for a reload reach each other before it is committed; no other reaches them")
    func views() async throws {
        let probe = Probe()
        probe.when("c launch") { module in
            let sum = try module.context.mediator.perform(
                "x.d", "sum", ["left": 1, "right": 2], as: Int.self)
            let own = try module.context.services.resolve((any Named).self).name
            module.probe?.note("c: \(sum), \(own)")
            // The one that stays sees the app as it was.
            module.probe?.note(
                try module.context.mediator.perform("x.a", "act", as: String.self))
        }
        probe.whenCalled("a act") { module, _ in
            let d = Result { try module.context.mediator.perform("x.d", "sum") }
            let named = try module.context.services.resolve((any Named).self).name
            return "a: \(d.failure), \(named)"
        }
        for (name, step) in [("b", "old"), ("c", "new")] {
            probe.when("\(name) init") { module in
                try module.context.services.register((any Named).self) { NamedThing(name: step) }
            }
        }
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "b")], probe: probe
        ).launched()
        let outcome = try await test.reload([
            .init(name: "a", type: "CallProbe"), .init(name: "c"),
            .init(name: "d", type: "CallProbe"),
        ])
        #expect(outcome.text == "applied: added x.c, x.d; removed x.b")
        #expect(probe.entries("c:") == ["c: 3, new"])
        #expect(probe.entries("a:") == ["a: no module 'x.d'; did you mean 'x.a'?, old"])
        let later = try await test.asFirst {
            try $0.context.mediator.perform("x.a", "act", as: String.self)
        }
        #expect(later == "a: parameters, new")
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is removed may hold its end open; the reload does not wait for that")
    func holds() async throws {
        let probe = Probe()
        let hold = Guarded<ModuleHold?>(nil)
        probe.when("b background") { module in
            let taken = try module.context.hold("saving")
            hold.withLock { $0 = taken }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(try await test.reload("a").text == "applied: removed x.b")
        await test.settled()
        #expect(probe.entries("b").last == "b background")
        hold.withLock { $0 }?.end()
        await probe.reached("b deinit")
        #expect(probe.entries("b").suffix(2) == ["b terminate", "b deinit"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a removed module is notified that the time of its hold is over, and then released")
    func heldForTooLong() async throws {
        let (probe, shelf) = (Probe(), HoldShelf())
        probe.when("b background") { module in
            let lane = module.context.center.gate?.lane
            try shelf.take("saving", module) {
                probe.note("b expiry, on the lane: \(lane?.hold != nil)")
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(try await test.reload("a").text == "applied: removed x.b")
        await test.pass(.seconds(10))
        await probe.reached("b deinit")
        #expect(
            probe.entries("b").suffix(4)
                == ["b background", "b expiry, on the lane: true", "b terminate", "b deinit"])
        #expect(await test.stopped() == .stopped)
    }
}

private protocol Named: Sendable { var name: String { get } }

private struct NamedThing: Named { let name: String }

extension Result {
    fileprivate var failure: String {
        if case .failure(let error as RouteError) = self { "\(error)" } else { "parameters" }
    }
}
