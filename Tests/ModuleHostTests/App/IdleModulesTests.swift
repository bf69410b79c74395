import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules that are watched for being idle", .timeLimit(.minutes(10)))
struct IdleModulesTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("IdleModulesTests")

    private func lazy(_ more: String = "") -> Entry {
        Entry(name: "l", more: #""launch": "lazy""# + more, type: "LazyProbe")
    }

    private func state(_ test: HostUnderTest) async -> ModuleStatus.State? {
        await test.statuses().first { $0.id.text == "x.l" }?.state
    }

    private func call(_ test: HostUnderTest) async throws {
        #expect(await test.call("x.l", "touch", RouteParameters(["number": "4"])) == "4")
        await test.settled()
    }

    /// Moves the clock on until the module is unloaded, a minute at most.
    private func untilUnloaded(_ test: HostUnderTest) async {
        // The lane may set the next alarm after the clock has moved on.
        for _ in 0..<60 where await state(test) != .onDemand {
            test.time.advance(by: .seconds(1))
            await test.settled()
        }
        #expect(await state(test) == .onDemand)
    }

    /// A host of an eager `m`, the lazy `l`, which needs it, and an eager `b`, which needs `l`.
    private func withChain(idle: String) async throws -> HostUnderTest {
        let modules = [
            Entry(name: "a", type: "CallProbe"), Entry(name: "m"),
            lazy(#", "idle": "\#(idle)", "needs": ["x.m"]"#),
            Entry(name: "b", more: #""needs": ["x.l"]"#),
        ]
        let test = try await HostUnderTest(modules, probe: probe).launched()
        await test.calm()
        return test
    }

    /// Moves the clock on by a minute, in steps, so that each alarm of it is set in time.
    private func passMinute(_ test: HostUnderTest) async {
        for _ in 0..<60 {
            test.time.advance(by: .seconds(1))
            await test.calm()
        }
    }

    @Test("calls are uses of one whose idle time came with a reload")
    func reload() async throws {
        let others = [Entry(name: "a", type: "CallProbe")]
        let test = try await HostUnderTest(others + [lazy()], probe: probe).launched()
        try await call(test)
        let outcome = try await test.reload(others + [lazy(#", "idle": "30s""#)])
        #expect(outcome.text == "applied: adjusted x.l")
        await test.settled()
        for _ in 0..<4 {
            test.time.advance(by: .seconds(20))
            try await call(test)
        }
        // A call would make another one.
        #expect(probe.entries("l").count { $0 == "l init" } == 1)
        await untilUnloaded(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that a reload removes leaves no alarm behind")
    func removed() async throws {
        let first = Entry(name: "a", type: "CallProbe")
        let test = try await HostUnderTest(
            [first, lazy(#", "idle": "30s""#)], probe: probe
        ).launched()
        try await call(test)
        await test.calm()
        let alarms = test.time.pendingAlarms
        #expect(try await test.reload([first]).text == "applied: removed x.l")
        await test.calm()
        #expect(test.time.pendingAlarms == alarms - 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reload is not a use")
    func reloaded() async throws {
        func entries(_ more: String) -> [Entry] {
            [Entry(name: "a", type: "CallProbe"), lazy(#", "idle": "30s""#)]
                + [Entry(name: "b", more: more)]
        }
        let test = try await HostUnderTest(entries(""), probe: probe).launched()
        try await call(test)
        for deadline in [11, 12] {
            test.time.advance(by: .seconds(14))
            let outcome = try await test.reload(entries(#""deadline": "\#(deadline)s""#))
            #expect(outcome.text == "applied: adjusted x.b")
            #expect(await state(test) == .running)
        }
        // The first reload and the second: 28 s by now.
        test.time.advance(by: .seconds(2))
        await test.settled()
        #expect(await state(test) == .onDemand)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "one that takes too long in launch, or in the state of the app, is made when it returns",
        arguments: ["launch", "activate"])
    func late(_ event: String) async throws {
        let door = Door()
        probe.whenLazy("l \(event)") { _ in door.pass() }
        let modules = [Entry(name: "a", type: "CallProbe"), lazy(#", "idle": "30s""#)]
        let test = try await HostUnderTest(modules, probe: probe).launched()
        async let answer = test.call("x.l", "touch", RouteParameters(["number": "4"]))
        await probe.reached("l \(event)")
        // That of an event, which is not for these.
        test.overrun(.seconds(5))
        #expect(test.host.gate.lane.overdueSlots.isEmpty)
        test.overrun(.seconds(20))
        #expect(await answer.contains("took too long"))
        door.open()
        await probe.reached("l activate")
        await test.caughtUp()
        await test.settled()
        #expect(await state(test) == .running)
        try await call(test)
        #expect(probe.entries("l") == ["l init", "l launch", "l activate", "l touch"])
        await untilUnloaded(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that throws from launch after its deadline has failed")
    func lateError() async throws {
        let door = Door()
        probe.whenLazy("l launch") { _ in
            door.pass()
            throw TestError()
        }
        let modules = [Entry(name: "a", type: "CallProbe"), lazy()]
        let test = try await HostUnderTest(modules, probe: probe).launched()
        async let answer = test.call("x.l", "touch", RouteParameters(["number": "4"]))
        await probe.reached("l launch")
        test.overrun(.seconds(20))
        #expect(await answer.contains("took too long"))
        door.open()
        await test.caughtUp()
        await test.settled()
        let status = await test.statuses().first { $0.id.text == "x.l" }
        #expect(status?.reason == "launch: broken")
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that was made at launch, for another that has failed since, is unloaded when idle")
    func madeAtLaunch() async throws {
        probe.fail("b launch")
        let modules = [
            Entry(name: "a", type: "CallProbe"), lazy(#", "idle": "30s""#),
            Entry(name: "b", more: #""needs": ["x.l"]"#),
        ]
        let test = try await HostUnderTest(modules, probe: probe).launched()
        #expect(await state(test) == .running)
        await untilUnloaded(test)
        #expect(probe.entries("l").last == "l deinit")
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "one that waits for a failed need is unloaded when idle, or by hand; nothing is tried in vain",
        arguments: [true, false])
    func waiting(byHand: Bool) async throws {
        let isBroken = Atomic(true)
        probe.when("m init") { _ in if isBroken.load(ordering: .relaxed) { throw TestError() } }
        let test = try await withChain(idle: "30s")
        #expect(await test.statuses().map(\.state) == [.running, .failed, .failed, .failed])
        if byHand { test.host.unload("x.l") { _ in } }
        await untilUnloaded(test)
        await passMinute(test)
        #expect(await test.statuses().map(\.state) == [.running, .failed, .onDemand, .failed])
        #expect(await test.statuses().allSatisfy { $0.retryAfter == nil })
        #expect(!test.recorder.messages.contains { $0.contains("rolled back") })
        #expect(probe.entries("init") == ["m init"])
        isBroken.store(false, ordering: .relaxed)
        test.host.restart("x.m", origin: .host) { _ in }
        await probe.reached("b activate")
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "one that waits for a lazy module, whose need fails while it cannot be made, waits for that"
    )
    func needFailsLater() async throws {
        let isBroken = Atomic(true)
        probe.whenLazy("l init") { _ in if isBroken.load(ordering: .relaxed) { throw TestError() } }
        let test = try await withChain(idle: "1s")
        await passMinute(test)
        #expect(await test.statuses().map(\.state) == [.running, .running, .failed, .failed])
        test.host.onLane { app, _ in app.markFailed(app.records[1], "run", TestError()) }
        await passMinute(test)
        let tries = probe.entries("l").count
        await passMinute(test)
        #expect(await test.statuses().allSatisfy { $0.retryAfter == nil })
        #expect(probe.entries("l").count == tries)
        isBroken.store(false, ordering: .relaxed)
        test.host.restart("x.m", origin: .host) { _ in }
        await probe.reached("b activate")
        #expect(await test.stopped() == .stopped)
    }
}
