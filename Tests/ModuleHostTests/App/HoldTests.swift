import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Holds", .timeLimit(.minutes(10)))
struct HoldTests {
    // MARK: When there is something to hold

    @Test(
        "only background and terminate can be held",
        arguments: [
            ("init", "outside of an event"), ("launch", "in 'launch'"),
            ("activate", "in 'activate'"), ("resign-active", "in 'resign-active'"),
            ("background", nil), ("foreground", "in 'foreground'"),
            ("memory-warning", "in 'memory-warning'"), ("terminate", nil),
            ("tick", "outside of an event"),
        ] as [(String, String?)])
    func whenToHold(event: String, refusal: String?) async throws {
        let probe = Probe("whenToHold \(event)")
        let take: Probe.Act = { module in
            do throws(HoldError) {
                try module.context.hold("x").end()
                module.probe?.note("held")
            } catch {
                module.probe?.note("\(error)")
            }
        }
        probe.when("a \(event)", take)
        if event == "tick" {
            probe.when("a activate") { module in
                module.context.timer(after: .zero) { [unowned module] in
                    try take(module)
                    probe.note("ticked")
                }
            }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        if event == "tick" {
            test.time.advance(by: .zero)
            await probe.reached("ticked")
        }
        for kind in [EventKind.memoryWarning, .background, .foreground] { try test.deliver(kind) }
        #expect(await test.stopped() == .stopped)
        let expected =
            refusal.map {
                "there is nothing to hold \($0): "
                    + "take a hold in didEnterBackground() or willTerminate()"
            } ?? "held"
        #expect(probe.entries.contains(expected))
        #expect(probe.entries.contains("held") == (refusal == nil))
    }

    // MARK: What waits

    /// How a hold ends.
    enum Ending: CaseIterable {
        case ended, release, ranOut, ranOutWithHandler, endedByHandler
    }

    static let waits = ["background", "terminate"].flatMap { step in
        Ending.allCases.map { (step, $0) }
    }

    @Test(
        "a stop goes on to its next step when the hold has ended, however it does", arguments: waits
    )
    func stopWaits(step: String, ending: Ending) async throws {
        let probe = Probe("stopWaits \(step) \(ending)")
        let shelf = HoldShelf()
        switch ending {
        case .ended, .release, .ranOut: probe.hold("a \(step)", as: "upload", on: shelf)
        case .ranOutWithHandler:
            probe.hold("a \(step)", as: "upload", on: shelf, noting: "a expiry")
        case .endedByHandler:
            probe.when("a \(step)") { module in
                try shelf.take("upload", module) {
                    probe.note("a expiry")
                    shelf.end("upload")
                }
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("b \(step)")
        _ = await test.recorder.first(
            containing: "the stop waits: x.a holds '\(step)': upload")
        await test.pass(.seconds(9))
        #expect(probe.entries.last == "b \(step)")
        #expect(test.holds == ["x.a \(step): upload, 1s left"])
        switch ending {
        case .ended: shelf.end("upload")
        case .release: shelf.release("upload")
        case .ranOut, .ranOutWithHandler, .endedByHandler: test.time.advance(by: .seconds(1))
        }
        #expect(await test.end() == .stopped)
        let terminations = step == "background" ? ["a terminate", "b terminate"] : []
        let expiry = ending == .ranOutWithHandler || ending == .endedByHandler ? ["a expiry"] : []
        let entries = probe.entries
        #expect(
            entries.drop { $0 != "b \(step)" }.dropFirst()
                == (expiry + terminations + ["b deinit", "a deinit"])[...])
        let lines = test.recorder.records.filter {
            $0.module == "x.a" && $0.message.contains("upload")
        }.map { "\($0.level): \($0.message)" }
        let end =
            switch ending {
            case .release: ["debug: released its hold on '\(step)' without ending it: upload"]
            case .ended: ["debug: ended its hold on '\(step)' after 9s: upload"]
            case .ranOut, .ranOutWithHandler, .endedByHandler:
                [
                    "warning: held '\(step)' longer than 10s: upload",
                    "debug: ended its hold on '\(step)' after 10s: upload",
                ]
            }
        #expect(lines == ["debug: holds '\(step)': upload"] + end)
        #expect(test.recorder.messages.filter { $0.contains("the stop waits") }.count == 1)
    }

    @Test(
        "a stop waits for holds of a background that was there before it, for what time they have")
    func heldBefore() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("a background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.background)
        await test.pass(.seconds(6))
        // Nothing but a stop waits.
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.host.stop(because: "the test says so")
        await test.pass(.seconds(3))
        #expect(probe.entries.last == "a memory-warning")
        test.time.advance(by: .seconds(1))
        #expect(await test.end() == .stopped)
        #expect(probe.entries.suffix(2) == ["a terminate", "a deinit"])
    }

    @Test("the lane serves timers, start-up results, calls and questions while a stop waits")
    func meanwhile() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let work = Door()
        probe.when("a init") { module in
            try module.context.startup("task", priority: .low) {
                probe.note("task begins")
                work.pass()
            } then: {
                probe.note("task result")
            }
        }
        probe.when("a background") { module in
            try shelf.take("upload", module)
            module.context.timer(after: .seconds(1)) { probe.note("tick") }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        await probe.reached("task begins")
        test.host.stop(because: "the test says so")
        await probe.reached("a background")
        await test.settled()
        test.time.advance(by: .seconds(1))
        await probe.reached("tick")
        work.open()
        await probe.reached("task result")
        #expect(test.host.metrics.withLock { $0.state } == .terminating)
        #expect(!probe.entries.contains("a terminate"))
        // An event means nothing any more, as in any stop.
        try test.deliver(.memoryWarning)
        await test.calm()
        #expect(!probe.entries.contains("a memory-warning"))
        shelf.end("upload")
        #expect(await test.end() == .stopped)
    }

    @Test("each event of a stop is received once, though holds end twice and on many threads")
    func once() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let reasons = (0..<40).map { "upload \($0)" }
        for step in ["background", "terminate"] {
            probe.when("a \(step)") { module in
                for reason in reasons { try shelf.take("\(step) \(reason)", module) {} }
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "the test says so")
        for step in ["background", "terminate"] {
            await probe.reached("b \(step)")
            await test.settled()
            await withTaskGroup { group in
                for reason in reasons + reasons {
                    group.addTask { shelf.end("\(step) \(reason)") }
                }
            }
        }
        #expect(await test.end() == .stopped)
        #expect(probe.entries("terminate") == ["a terminate", "b terminate"])
        #expect(probe.entries("deinit") == ["b deinit", "a deinit"])
        #expect(shelf["background upload 0"]?.remaining == .zero)
        shelf.end("background upload 0")
    }

    @Test("what waits for one module does not wait for another")
    func ofOneModule() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        for name in ["a", "b"] { probe.hold("\(name) background", as: name, on: shelf) }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await test.settled()
        let slot = try #require(test.host.gate.lane.slot(1))
        let isKept = test.host.holds.keep(LaneWork { _ in probe.note("on") }, untilNoneOf: slot)
        #expect(isKept)
        shelf.end("a")
        await probe.reached("on")
        #expect(test.holds == ["x.b background: b, 10s left"])
        #expect(!test.host.holds.keep(LaneWork { _ in }, untilNoneOf: slot))
        shelf.end("b")
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Foreground

    @Test("in the foreground a hold does not run out; in the background its time begins anew")
    func foreground() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("a background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.background)
        await test.pass(.seconds(6))
        #expect(test.holds == ["x.a background: upload, 4s left"])
        try test.deliver(.foreground)
        await test.settled()
        #expect(test.holds == ["x.a background: upload"])
        await test.pass(.seconds(60), by: .seconds(2))
        #expect(shelf["upload"]?.remaining == nil)
        try test.deliver(.background)
        await test.settled()
        #expect(test.holds == ["x.a background: upload, 10s left"])
        try test.deliver(.foreground)
        await test.settled()
        // A stop goes through the background, so the hold has its time once more.
        test.host.stop(because: "the test says so")
        await test.calm()
        await test.pass(.seconds(9))
        #expect(test.holds == ["x.a background: upload, 1s left"])
        #expect(!probe.entries.contains("a terminate"))
        test.time.advance(by: .seconds(1))
        #expect(await test.end() == .stopped)
    }

    @Test(
        "in the foreground a hold runs out all the same once something waits for its module alone")
    func awaitedInForeground() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("a background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", probe: probe).launched()
        for kind in [EventKind.background, .foreground] { try test.deliver(kind) }
        await test.settled()
        let slot = try #require(test.host.gate.lane.slot(1))
        #expect(test.host.holds.keep(LaneWork { _ in probe.note("on") }, untilNoneOf: slot))
        #expect(test.holds == ["x.a background: upload, 10s left"])
        await test.pass(.seconds(10))
        await probe.reached("on")
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Time

    @Test("during a stop the time left ends with the stop's, which names who holds")
    func overdue() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("a terminate", as: "upload", on: shelf, noting: "a expiry")
        probe.hold("c terminate", as: "sync", on: shelf)
        let test = try await HostUnderTest(
            "a", "b", "c", top: #""deadlines": {"stopAll": "7s"}"#, probe: probe
        ).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("c terminate")
        await test.pass(.seconds(4))
        #expect(test.holds == ["x.a terminate: upload, 3s left", "x.c terminate: sync, 3s left"])
        test.time.advance(by: .seconds(3))
        guard case .overdue(let modules) = await test.end() else {
            Issue.record("the stop should have run out of time")
            return
        }
        #expect(modules.map(\.text) == ["x.a", "x.c"])
        let lines = test.recorder.records.filter { $0.level == .error }.map {
            "\($0.module ?? ""): \($0.message)"
        }
        #expect(
            lines == [
                "x.a: held 'terminate' until the stop was out of time: upload",
                "x.c: held 'terminate' until the stop was out of time: sync",
            ])
        // It is too late for all of these, and they do nothing.
        shelf.end("upload")
        shelf.release("sync")
        test.time.advance(by: .seconds(60))
        #expect(shelf["upload"]?.remaining == .zero)
        #expect(!probe.entries.contains("a expiry"))
    }

    @Test("status and modules show what is held, and for how long yet")
    func shown() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("b background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await test.pass(.seconds(2))
        let hold = OpenHold(
            module: try ModuleID("x.b"), step: .background, reason: "upload",
            remaining: .seconds(8))
        let daemon = ControlledDaemon(test.host, slatefile: "slatefile.json")
        let status = try daemon.status()
        #expect(status.holds == [hold])
        #expect(status.metrics.state == .terminating)
        let modules = Promise<[ModuleStatus]?>()
        daemon.modules { modules.keep(try? $0.get()) }
        #expect(await modules.value?.map(\.holds) == [[], [hold]])
        shelf.end("upload")
        #expect(await test.end() == .stopped)
    }

    @Test("a waiting stop wakes no thread: there is an alarm for the hold, and one for the stop")
    func idle() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("a background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("a background")
        await test.settled()
        while test.isAtWork { await Task.yield() }
        // The watchdog looks once more.
        test.time.advance(by: .seconds(5))
        #expect(test.time.pendingAlarms == 2)
        shelf.end("upload")
        #expect(await test.end() == .stopped)
        #expect(test.host.holds.open.isEmpty)
    }

    @Test("a hold that has ended leaves no alarm behind")
    func alarms() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("a background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.background)
        await test.settled()
        while test.isAtWork { await Task.yield() }
        // The watchdog looks once more.
        test.time.advance(by: .seconds(5))
        #expect(test.time.pendingAlarms == 1)
        shelf.end("upload")
        #expect(test.time.pendingAlarms == 0)
        #expect(await test.stopped() == .stopped)
    }
}

extension HostUnderTest {
    /// Whether the lane has a current job.
    fileprivate var isAtWork: Bool {
        host.gate.lane.watched(at: host.gate.lane.ownership).isBusy
    }
}
