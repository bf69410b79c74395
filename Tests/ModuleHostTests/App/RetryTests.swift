import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHost

@Suite("Modules that are restarted after they have failed", .timeLimit(.minutes(10)))
struct RetryTests {
    private let probe = Probe("RetryTests")

    /// Module `b` throws so many times where it is made to.
    private func breaks(_ what: String, times: Int) {
        let tries = Atomic(0)
        probe.when("b \(what)") { _ in
            if tries.add(1, ordering: .relaxed).newValue <= times { throw TestError() }
        }
    }

    private func entries(_ more: String) -> [HostUnderTest.Entry] {
        [HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "b", more: more)]
    }

    private func status(_ host: HostUnderTest) async -> ModuleStatus {
        await withCheckedContinuation { continuation in
            host.host.onLane { app, _ in continuation.resume(returning: app.moduleStatuses[1]) }
        }
    }

    /// Waits for the next try to be scheduled, and lets it begin.
    private func advance(
        _ host: HostUnderTest, by delay: Duration, after records: inout Int
    ) async -> Bool {
        let start = records
        let record = await host.recorder.first(from: start) {
            $0.message.hasPrefix("restarted in ")
        }
        records = host.recorder.records.count
        let retryAfter = await status(host).retryAfter
        host.time.advance(by: delay)
        return record.module == "x.b" && retryAfter != nil
    }

    @Test(
        "one that fails is restarted until it runs, and receives what has waited for it",
        arguments: ["init", "launch"])
    func untilItRuns(_ what: String) async throws {
        let folder = try TemporaryFolder()
        breaks(what, times: 3)
        let test = try await HostUnderTest.durable(
            "a", "b", in: folder, more: ["b": #""retry": true"#], probe: probe
        ).launched()
        _ = await test.outcome("waits")
        // A quarter more than the delays of 100, 200 and 400 ms.
        var records = 0
        #expect(await advance(test, by: .milliseconds(125), after: &records))
        #expect(await advance(test, by: .milliseconds(250), after: &records))
        #expect(await advance(test, by: .milliseconds(500), after: &records))
        _ = await test.recorder.first { $0.message.hasPrefix("slatefile applied") }
        #expect(await status(test).state != .failed)
        #expect(await status(test).retryAfter == nil)
        await probe.reached("b \(try #require(probe.received("a").first))")
        #expect(probe.entries("b").filter { $0 == "b \(what)" }.count == 4)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "without 'retry', or required, it is not restarted by itself", arguments: ["", "required"])
    func notAsked(_ more: String) async throws {
        breaks("init", times: 1)
        let isRequired = more == "required"
        let test = try HostUnderTest(
            entries(isRequired ? #""retry": true, "required": true"# : ""), probe: probe)
        if isRequired {
            try test.host.launch()
            guard case .failed = await test.end() else { return #expect(Bool(false), "it goes on") }
        } else {
            _ = try await test.launched()
            test.time.advance(by: .seconds(60))
            #expect(await status(test).state == .failed)
            #expect(await status(test).retryAfter == nil)
            #expect(await test.stopped() == .stopped)
        }
        #expect(probe.entries("b").filter { $0 == "b init" }.count == 1)
    }

    @Test("a reload that asks for it schedules a try, and one that does not calls it off")
    func reload() async throws {
        breaks("init", times: 1)
        let test = try await HostUnderTest(entries(""), probe: probe).launched()
        #expect(await status(test).retryAfter == nil)
        let retried = #""retry": true"#
        #expect(try await test.reload(entries(retried)).text == "applied: adjusted x.b")
        #expect(await status(test).retryAfter != nil)
        #expect(try await test.reload(entries("")).text == "applied: adjusted x.b")
        #expect(await status(test).retryAfter == nil)
        test.time.advance(by: .seconds(60))
        #expect(await status(test).state == .failed)
        #expect(try await test.reload(entries(retried)).text == "applied: adjusted x.b")
        test.time.advance(by: .milliseconds(125))
        await probe.reached("b launch")
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("b").filter { $0 == "b init" }.count == 2)
    }

    /// A host of `a`, which runs, and so many others, which throw so often where they are made to.
    private func failing(
        _ count: Int, in step: String, times: Int
    ) async throws -> HostUnderTest {
        let tries = Guarded<[Int: Int]>([:])
        for number in 0..<count {
            probe.when("m\(number) \(step)") { _ in
                let count = tries.withLock { tries in
                    tries[number, default: 0] += 1
                    return tries[number, default: 0]
                }
                if count <= times { throw TestError() }
            }
        }
        let entries = (0..<count).map {
            HostUnderTest.Entry(name: "m\($0)", more: #""retry": true"#)
        }
        return try await HostUnderTest(
            [HostUnderTest.Entry(name: "a")] + entries, probe: probe
        ).launched()
    }

    private func failedCount(_ host: HostUnderTest) async -> Int {
        await withCheckedContinuation { continuation in
            host.host.onLane { app, _ in
                continuation.resume(returning: app.moduleStatuses.count { $0.state == .failed })
            }
        }
    }

    private func reloads(_ host: HostUnderTest) -> Int {
        host.recorder.records.count { $0.message.hasPrefix("slatefile applied") }
    }

    private func scheduled(_ host: HostUnderTest) -> Int {
        host.recorder.records.count { $0.message.hasPrefix("restarted in ") }
    }

    @Test(
        "a thousand that fail again and again are restarted together",
        arguments: ["init", "launch"])
    func together(_ step: String) async throws {
        let count = 1000
        let test = try await failing(count, in: step, times: 5)
        #expect(await failedCount(test) == count)
        #expect(test.host.app.openInModule().health.failed.count == count)
        for round in 0..<5 {
            while scheduled(test) < count * (round + 1) { await test.settled() }
            // A quarter more than the delays of 100, 200, 400, 800 and 1600 ms.
            test.time.advance(by: .milliseconds(125 << round))
        }
        while await failedCount(test) > 0 {}
        // Those that are due within a tenth of their delays go together, and each is due within a quarter of 1.6 s.
        #expect((1...12).contains(reloads(test)))
        #expect(probe.entries("init").count == 1 + 6 * count)
        #expect(await test.stopped() == .stopped)
    }

    private func statuses(_ host: HostUnderTest) async -> [ModuleStatus] {
        await withCheckedContinuation { continuation in
            host.host.onLane { app, _ in continuation.resume(returning: app.moduleStatuses) }
        }
    }

    /// The number of times that a module was made, or has received an event.
    private func count(_ entry: String) -> Int { probe.entries.count { $0 == entry } }

    @Test(
        "one that hangs where it is restarted with others holds them up no longer than its deadline"
    )
    func hangs() async throws {
        let door = Door()
        let test = try await failing(3, in: "launch", times: 1)
        let isFirst = Atomic(true)
        probe.when("m1 launch") { _ in
            if isFirst.exchange(false, ordering: .relaxed) { door.pass() }
        }
        test.time.advance(by: .milliseconds(125))
        while count("m1 launch") < 2 { await Task.yield() }
        test.overrun(.seconds(20))
        for name in ["m0", "m2"] { await probe.reached("\(name) activate") }
        while await statuses(test)[2].retryAfter == nil {}
        let all = await statuses(test)
        #expect(all.map(\.state) == [.running, .running, .failed, .running])
        #expect(all[2].reason == "module 'x.m1' failed in launch: it did not return within 20s")
        #expect(all[2].retryAfter != nil)
        door.open()
        await probe.reached("m1 deinit")
        test.time.advance(by: .milliseconds(250))
        await probe.reached("m1 activate")
        #expect(await failedCount(test) == 0)
        // Those that were restarted with it were made twice.
        let inits = ["m0", "m1", "m2"].map { count("\($0) init") }
        #expect(inits[1] == 3 && [inits[0], inits[2]].allSatisfy((2...3).contains))
        #expect(await test.stopped() == .stopped)
    }

    @Test("where the error names none of them, each is restarted by itself")
    func oneByOne() async throws {
        let test = try await failing(4, in: "launch", times: 1)
        probe.when("m1 init") { module in
            try module.context.startup("first", after: ["x.nosuch/task"]) {}
        }
        test.time.advance(by: .milliseconds(125))
        for name in ["m0", "m2", "m3"] { await probe.reached("\(name) activate") }
        while await statuses(test)[2].reason?.contains("invalid start-up tasks") != true {}
        while await statuses(test)[2].retryAfter == nil {}
        let states = await statuses(test).map(\.state)
        #expect(states == [.running, .running, .failed, .running, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("none is restarted once a stop has begun")
    func stop() async throws {
        let test = try await failing(2, in: "launch", times: 1)
        let hold = Guarded<ModuleHold?>(nil)
        probe.when("a background") { module in
            let taken = try module.context.hold("saving")
            hold.withLock { $0 = taken }
        }
        test.host.stop(because: "the test says so")
        await probe.reached("a background")
        await test.calm()
        test.time.advance(by: .seconds(1))
        await test.calm()
        hold.withLock { $0 }?.end()
        #expect(await test.end() == .stopped)
        #expect(count("m0 init") == 1)
    }

    @Test("one whose need has failed by then is restarted with that")
    func needs() async throws {
        let isBroken = Atomic(true)
        probe.when("c init") { _ in if isBroken.load(ordering: .relaxed) { throw TestError() } }
        let test = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "b"),
                HostUnderTest.Entry(name: "c", more: #""retry": true, "needs": ["x.b"]"#),
            ], probe: probe
        ).launched()
        #expect(await statuses(test)[2].retryAfter != nil)
        isBroken.store(false, ordering: .relaxed)
        // READY looks for attempts that are due, too.
        await test.calm()
        test.host.onLane { app, _ in app.markFailed(app.records[1], "process", TestError()) }
        test.time.advance(by: .milliseconds(125))
        while await statuses(test)[2].retryAfter != nil {}
        let waiting = await statuses(test)[2]
        #expect(waiting.reason == "needs x.b, which failed: process: broken")
        test.host.restart("x.b", origin: .host) { _ in }
        await probe.reached("c activate")
        #expect(await failedCount(test) == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is restarted by hand meanwhile is not restarted once more")
    func restartedByHand() async throws {
        let door = Door()
        let test = try await failing(1, in: "launch", times: 1)
        let isFirst = Atomic(true)
        probe.when("m0 init") { _ in
            if isFirst.exchange(false, ordering: .relaxed) { door.pass() }
        }
        test.host.restart("x.m0", origin: .host) { _ in }
        while count("m0 init") < 2 { await Task.yield() }
        test.time.advance(by: .milliseconds(125))
        door.open()
        await probe.reached("m0 activate")
        await test.calm()
        #expect(await failedCount(test) == 0)
        #expect(count("m0 init") == 2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("several that hang let the others have their turn")
    func severalHang() async throws {
        let doors = (0..<3).map { _ in Door() }
        let test = try await failing(4, in: "launch", times: 1)
        for number in 0..<3 {
            let isFirst = Atomic(true)
            probe.when("m\(number) launch") { _ in
                if isFirst.exchange(false, ordering: .relaxed) { doors[number].pass() }
            }
        }
        test.time.advance(by: .milliseconds(125))
        for round in 1...3 {
            while (0..<3).count(where: { count("m\($0) launch") == 2 }) < round {
                await Task.yield()
            }
            // The former ones are due again by then.
            test.overrun(.seconds(20))
        }
        await probe.reached("m3 activate")
        #expect(await statuses(test)[4].state == .running)
        for door in doors { door.open() }
        while await failedCount(test) > 0 { test.time.advance(by: .seconds(1)) }
        #expect(await test.stopped() == .stopped)
    }

    @Test("a need that hangs in init is restarted when it has returned, and what needs it with it")
    func needHangs() async throws {
        let door = Door()
        let isFirst = Atomic(true)
        probe.when("b init") { _ in if isFirst.exchange(false, ordering: .relaxed) { door.pass() } }
        let test = try HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"),
                HostUnderTest.Entry(name: "b", more: #""retry": true"#),
                HostUnderTest.Entry(name: "c", more: #""needs": ["x.b"]"#),
            ], probe: probe)
        async let launched = test.launched()
        await probe.reached("b init")
        test.overrun(.seconds(20))
        _ = try await launched
        test.time.advance(by: .seconds(1))
        await test.calm()
        #expect(await statuses(test).map(\.state) == [.running, .failed, .failed])
        #expect(count("b init") == 1)
        door.open()
        await probe.reached("c activate")
        #expect(await failedCount(test) == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a lazy need that fails is restarted with what needs it, and not unloaded")
    func lazyNeed() async throws {
        let tries = Atomic(0)
        probe.when("b init") { _ in
            if tries.add(1, ordering: .relaxed).newValue <= 2 { throw TestError() }
        }
        let test = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"),
                HostUnderTest.Entry(name: "b", more: #""launch": "lazy""#),
                HostUnderTest.Entry(name: "c", more: #""needs": ["x.b"]"#),
            ], probe: probe
        ).launched()
        #expect(await failedCount(test) == 2)
        test.time.advance(by: .milliseconds(125))
        while scheduled(test) < 2 { await test.settled() }
        #expect(await failedCount(test) == 2)
        #expect(count("c init") == 0)
        test.time.advance(by: .milliseconds(250))
        await probe.reached("c activate")
        #expect(await failedCount(test) == 0)
        #expect(count("b init") == 3)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a lazy need that was unloaded is made where what needs it is restarted", arguments: [1, 3])
    func unloadedNeed(times: Int) async throws {
        breaks("init", times: times)
        let test = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"),
                HostUnderTest.Entry(name: "b", more: #""launch": "lazy""#),
                HostUnderTest.Entry(name: "c", more: #""needs": ["x.b"], "retry": true"#),
            ], probe: probe
        ).launched()
        // READY looks for what can be restarted, too.
        await test.calm()
        test.host.unload("x.b") { _ in }
        await test.calm()
        #expect(await statuses(test).map(\.state) == [.running, .onDemand, .failed])
        // The attempt of `b` is that of `c` now, and then `c` has its own.
        while await failedCount(test) > 0 {
            test.time.advance(by: .milliseconds(50))
            await test.calm()
        }
        #expect(await statuses(test).map(\.state) == [.running, .running, .running])
        #expect(count("b init") == times + 1)
        test.time.advance(by: .seconds(60))
        await test.calm()
        // That of the watchdog, and none for an attempt.
        #expect(test.time.pendingAlarms <= 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("an overdue module that is to be recreated stays so where others are restarted meanwhile")
    func outdated() async throws {
        let door = Door()
        probe.when("a memory-warning") { _ in door.pass() }
        let tries = Atomic(0)
        probe.when("b launch") { _ in
            if tries.add(1, ordering: .relaxed).newValue == 1 { throw TestError() }
        }
        let test = try await HostUnderTest(entries(#""retry": true"#), probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun(.seconds(5))
        test.host.restart("x.a", origin: .host) { _ in }
        await test.calm()
        test.time.advance(by: .seconds(1))
        await probe.reached("b activate")
        #expect(count("a init") == 1)
        door.open()
        while count("a init") < 2 { await Task.yield() }
        #expect(await test.stopped() == .stopped)
    }
}
