import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// What becomes of a hold's handler and of its alarm, and of holds whose module or host goes.
@Suite("Ends of holds", .timeLimit(.minutes(10)))
struct HoldEndTests {
    // MARK: Handlers

    @Test("a handler that is not needed is released in its module, however the hold ends")
    func handlerDropped() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.when("a background") { module in
            let gate = module.context.center.gate
            let canary = Canary {
                probe.note("dropped on the lane: \(gate?.lane.hold != nil)")
            }
            try shelf.take("upload", module) { withExtendedLifetime(canary) {} }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.background)
        await test.settled()
        shelf.end("upload")
        await test.settled()
        #expect(probe.entries.last == "dropped on the lane: true")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that is let go takes its holds along")
    func letGoWithModule() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.hold("a background", as: "upload", on: shelf, noting: "a expiry")
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("b background")
        await test.settled()
        test.host.onLane { app, thread in
            let record = app.records[0]
            _ = app.gate.call(record.slot, on: thread) { record.context?.invalidate() }
        }
        #expect(await test.end() == .stopped)
        #expect(shelf["upload"]?.remaining == .zero)
        test.time.advance(by: .seconds(60))
        #expect(!probe.entries.contains("a expiry"))
        #expect(probe.entries("terminate") == ["a terminate", "b terminate"])
    }

    @Test(
        "modules that are removed together end their holds one after the other, and each goes then")
    func removedTogether() async throws {
        let probe = Probe("removedTogether")
        let shelf = HoldShelf()
        let names = (0..<30).map { "m\($0)" }
        for name in names { probe.hold("\(name) background", as: name, on: shelf) }
        let stays = HostUnderTest.Entry(name: "a")
        let test = try await HostUnderTest(
            [stays] + names.map { HostUnderTest.Entry(name: $0) }, probe: probe
        ).launched()
        _ = try await test.reload([stays])
        await test.calm()
        // If each that ends made all others ask again, the last ones would take millions of jobs.
        for (index, name) in names.enumerated() {
            shelf.end(name)
            await probe.reached("\(name) deinit")
            #expect(probe.entries("terminate").count == index + 1)
            #expect(test.holds.count == names.count - index - 1)
        }
        #expect(await test.stopped() == .stopped)
    }

    // MARK: The host is released

    @Test("a host that is let go ends what was held, and leaves no alarm behind")
    func hostLetGo() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.when("a background") { module in
            let canary = Canary { probe.note("dropped") }
            try shelf.take("upload", module) { withExtendedLifetime(canary) {} }
        }
        let time = try await {
            let test = try await HostUnderTest("a", probe: probe).launched()
            try test.deliver(.background)
            await test.settled()
            #expect(test.holds == ["x.a background: upload, 10s left"])
            return test.time
        }()
        await probe.reached("dropped")
        #expect(shelf["upload"]?.remaining == .zero)
        shelf.end("upload")
        time.advance(by: .seconds(60))
        #expect(time.pendingAlarms == 0)
    }

    @Test("a stop that waits does not keep its app once it is out of time")
    func overdueLetsGo() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        probe.when("a background") { module in
            try shelf.take("upload", module) { withExtendedLifetime(module) {} }
        }
        weak var app: App?
        do {
            let test = try await HostUnderTest(
                "a", top: #""deadlines": {"stopAll": "7s"}"#, probe: probe
            ).launched()
            app = test.host.app.openInModule()
            test.host.stop(because: "the test says so")
            await test.calm()
            test.time.advance(by: .seconds(7))
            #expect(await test.end() == .overdue([try ModuleID("x.a")]))
            await probe.reached("a deinit")
        }
        // Its last job may still be on its way out.
        while app != nil { await Task.yield() }
        #expect(!probe.entries.contains("a terminate"))
    }

    // MARK: Alarms

    @Test("an alarm that was called off too late does not end what has its time anew")
    func lateAlarm() async throws {
        let time = DeafTimeSource()
        let recorder = LogRecorder()
        let lane = Lane(limits: Watchdog.Limits(), time: ManualTimeSource())
        let holds = HoldList(
            gate: Gate(lane: lane), log: recorder.log, time: time, deadlines: .init())
        holds.follow(.background)
        let id = try holds.add(
            HoldList.Request(
                module: try ModuleID("x.a"), slot: ModuleSlot(number: 1, id: nil),
                step: .background,
                reason: "upload", expiry: nil))
        time.clock.advance(by: .seconds(6))
        holds.follow(.foreground)
        time.clock.advance(by: .seconds(1))
        holds.follow(.background)
        time.clock.advance(by: .seconds(4))
        #expect(holds.remaining(id) == .seconds(6))
        #expect(holds.open.count == 1)
        time.clock.advance(by: .seconds(6))
        #expect(holds.open.isEmpty)
        #expect(
            recorder.messages.filter { $0.hasPrefix("held") }
                == ["held 'background' longer than 10s: upload"])
    }
}

/// A clock whose alarms cannot be called off any more.
private final class DeafTimeSource: TimeSource {
    struct Deaf: Alarm {
        func cancel() {}
    }

    let clock = ManualTimeSource()

    func now() -> ContinuousClock.Instant { clock.now() }

    func schedule(
        after delay: Duration, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm {
        clock.schedule(after: delay, body)
        return Deaf()
    }

    func schedule(
        at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm {
        clock.schedule(at: instant, body)
        return Deaf()
    }
}

/// Says when it ends.
private final class Canary: Sendable {
    private let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
