import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The counts of what modules did with events", .timeLimit(.minutes(10)))
struct ModuleCountTests {
    private typealias Counts = DeliveryCounts.Counts
    private let probe = Probe("ModuleCountTests")

    private func counts(_ test: HostUnderTest) async -> [Counts] {
        await test.statuses().map { $0.counts ?? Counts() }
    }

    /// The counts since earlier ones, by module.
    private func counts(_ test: HostUnderTest, since former: [Counts]) async -> [Counts] {
        zip(await counts(test), former).map { now, former in
            Counts(
                deliveries: now.deliveries - former.deliveries,
                failures: now.failures - former.failures, time: now.time - former.time,
                slow: now.slow &- former.slow)
        }
    }

    @Test(
        "what handlers handled, how often they threw, and how long both took; not what was none of theirs"
    )
    func handlers() async throws {
        let test = try await HostUnderTest(
            [
                .init(name: "a", config: #""topics": ["tea"]"#),
                .init(name: "b", config: #""topics": ["tea", "milk"]"#),
                .init(name: "c", config: #""topics": ["none"]"#),
            ], probe: probe
        ).launched()
        probe.when("a message") { [time = test.time] _ in time.advance(by: .seconds(1)) }
        probe.when("b message") { [time = test.time] _ in
            time.advance(by: .seconds(2))
            throw TestError()
        }
        let before = await counts(test)
        for topic in ["tea", "tea", "milk"] {
            try test.deliver(.message, #"{"topic": "\#(topic)"}"#)
        }
        await test.answered()
        #expect(
            await counts(test, since: before) == [
                Counts(deliveries: 2, time: .seconds(2), slow: [0, 0, 0, 2, 0, 0, 0, 0]),
                Counts(failures: 3, time: .seconds(6), slow: [0, 0, 0, 0, 3, 0, 0, 0]),
                Counts(),
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that hangs has the lane until its deadline; what it has missed is counted, too")
    func hung() async throws {
        let door = Door()
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        probe.when("b push") { _ in door.pass() }
        let before = await counts(test)
        try test.deliver(.push, "{}")
        await probe.reached("b push")
        test.overrun()
        try test.deliver(.memoryWarning)
        await probe.reached("c memory-warning")
        let hung = await counts(test, since: before)
        #expect(hung.map(\.deliveries) == [2, 0, 2])
        #expect(hung.map(\.failures) == [0, 0, 0])
        #expect(hung[0].time == .zero && hung[1].time >= .seconds(5) && hung[2].time == .zero)
        // A bucket never falls: one that hangs is counted when it returns.
        #expect(hung[1].buckets == Array(repeating: 0, count: 8))
        test.time.advance(by: .seconds(60))
        door.open()
        await test.caughtUp()
        #expect(await counts(test, since: before).map(\.deliveries) == [2, 2, 2])
        let returned = await counts(test, since: before)[1]
        #expect(returned.time == hung[1].time)
        #expect(returned.buckets == [1, 1, 1, 1, 1, 1, 2, 2])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a module that hangs in the shutdown events of a reload has no time of the lane after it was lost"
    )
    func hungInReload() async throws {
        let door = Door()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        probe.when("b terminate") { _ in door.pass() }
        let before = await counts(test)
        async let outcome = test.reload([
            .init(name: "a"), .init(name: "b", type: "CallProbe"),
        ])
        await probe.reached("b terminate")
        test.overrun()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.time.advance(by: .seconds(60))
        door.open()
        #expect(try await outcome.text == "applied: recreated x.b")
        await test.settled()
        #expect(await counts(test, since: before)[1].time < .seconds(60))
        #expect(await test.stopped() == .stopped)
    }

    @Test("an asynchronous handler is counted when it returns or throws, with its whole time")
    func later() async throws {
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b", type: "AsyncProbe")], probe: probe
        ).launched()
        let before = await counts(test)
        try test.deliver(.push, "{}")
        await probe.reached("b push")
        await test.settled()
        test.time.advance(by: .seconds(2))
        #expect(await counts(test, since: before) == [Counts(deliveries: 1), Counts()])
        AsyncProbe.give("end", to: "push", of: probe)
        await test.answered()
        let slow: SIMD8<Int> = [0, 0, 0, 0, 1, 0, 0, 0]
        #expect(
            await counts(test, since: before)
                == [Counts(deliveries: 1), Counts(deliveries: 1, time: .seconds(2), slow: slow)])
        try test.deliver(.localNotification, #"{"title": "x"}"#)
        AsyncProbe.give("throw", to: "local-notification", of: probe)
        await test.answered()
        #expect(
            await counts(test, since: before)[1]
                == Counts(deliveries: 1, failures: 1, time: .seconds(2), slow: slow))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module in a process of its own is counted when that has answered")
    func process() async throws {
        let test = try await IsolatedTest(probe: probe).launched()
        let before = await counts(test.host)
        try test.host.deliver(.push, "{}")
        await test.host.answered()
        #expect(await counts(test.host, since: before).map(\.deliveries) == [0, 1, 1])
        #expect(await test.host.stopped() == .stopped)
    }

    @Test(
        "they stay when a module is recreated, and go when the slatefile has it no longer")
    func recreated() async throws {
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.push, "{}")
        await test.answered()
        let before = await counts(test)
        #expect(before[1].deliveries > 2)
        let other = HostUnderTest.Entry(name: "b", type: "CallProbe")
        #expect(try await test.reload([.init(name: "a"), other]).text == "applied: recreated x.b")
        await test.settled()
        #expect(await counts(test)[1].deliveries >= before[1].deliveries)
        #expect(try await test.reload("a").text == "applied: removed x.b")
        await test.settled()
        #expect(try await test.reload("a", "b").text == "applied: added x.b")
        await test.settled()
        #expect(await counts(test)[1].deliveries < before[1].deliveries)
        #expect(await test.stopped() == .stopped)
    }
}
