import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules that are restarted with what they need", .timeLimit(.minutes(10)))
struct RetryNeedsTests {
    private let probe = Probe("RetryNeedsTests")

    /// The number of times that a module was made, or has received an event.
    private func count(_ entry: String) -> Int { probe.entries.count { $0 == entry } }

    /// Moves the clock on until no module has failed any more.
    private func untilAllRun(_ test: HostUnderTest) async {
        while await test.failedCount() > 0 {
            test.time.advance(by: .milliseconds(50))
            await test.calm()
        }
    }

    /// The modules `a`, the lazy `l`, and `b`, which needs it.
    private func entries(_ more: String = "") -> [HostUnderTest.Entry] {
        [
            HostUnderTest.Entry(name: "a"),
            HostUnderTest.Entry(name: "l", more: #""launch": "lazy""#),
            HostUnderTest.Entry(name: "b", more: #""needs": ["x.l"]"# + more),
        ]
    }

    /// A host of these, which has unloaded `l` after it failed, and begun to make it again for `b`.
    private func withoutNeed(_ more: String = "") async throws -> HostUnderTest {
        let test = try await HostUnderTest(entries(more), probe: probe).launched()
        // READY looks for what can be restarted, too.
        await test.calm()
        #expect(await test.statuses().map(\.state) == [.running, .failed, .failed])
        let made = count("l init")
        test.host.unload("x.l") { _ in }
        while count("l init") == made { await Task.yield() }
        return test
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
        #expect(await test.statuses()[2].retryAfter != nil)
        isBroken.store(false, ordering: .relaxed)
        // READY looks for attempts that are due, too.
        await test.calm()
        test.host.onLane { app, _ in app.markFailed(app.records[1], "process", TestError()) }
        test.time.advance(by: .milliseconds(125))
        while await test.statuses()[2].retryAfter != nil {}
        let waiting = await test.statuses()[2]
        #expect(waiting.reason == "needs x.b, which failed: process: broken")
        test.host.restart("x.b", origin: .host) { _ in }
        await probe.reached("c activate")
        #expect(await test.failedCount() == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a need that hangs in init is restarted when it has returned, and what needs it with it")
    func needHangs() async throws {
        let door = probe.closeOnce("b init")
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
        #expect(await test.statuses().map(\.state) == [.running, .failed, .failed])
        #expect(count("b init") == 1)
        door.open()
        await probe.reached("c activate")
        #expect(await test.failedCount() == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a lazy need that fails is restarted with what needs it, and not unloaded")
    func lazyNeed() async throws {
        probe.fail("l init", times: 2)
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        #expect(await test.failedCount() == 2)
        test.time.advance(by: .milliseconds(125))
        while test.scheduledRestarts < 2 { await test.settled() }
        #expect(await test.failedCount() == 2)
        #expect(count("b init") == 0)
        test.time.advance(by: .milliseconds(250))
        await probe.reached("b activate")
        #expect(await test.failedCount() == 0)
        #expect(count("l init") == 3)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a lazy need that was unloaded is made where what needs it is restarted", arguments: [1, 3])
    func unloadedNeed(times: Int) async throws {
        probe.fail("l init", times: times)
        let test = try await withoutNeed(#", "retry": true"#)
        // The attempt of `l` is that of `b` now, and then `b` has its own.
        await untilAllRun(test)
        #expect(await test.statuses().map(\.state) == [.running, .running, .running])
        #expect(count("l init") == times + 1)
        test.time.advance(by: .seconds(60))
        await test.calm()
        // That of the watchdog, and none for an attempt.
        #expect(test.time.pendingAlarms <= 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "one that needs two lazy modules runs as soon as both can be made",
        arguments: [(1, 1), (1, 2), (2, 1), (3, 5)])
    func twoLazyNeeds(failures: (Int, Int)) async throws {
        probe.fail("k init", times: failures.0)
        probe.fail("l init", times: failures.1)
        let test = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"),
                HostUnderTest.Entry(name: "k", more: #""launch": "lazy""#),
                HostUnderTest.Entry(name: "l", more: #""launch": "lazy""#),
                HostUnderTest.Entry(name: "b", more: #""needs": ["x.k", "x.l"]"#),
            ], probe: probe
        ).launched()
        await untilAllRun(test)
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        #expect(count("b init") == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that has failed itself, and its lazy need after it, are restarted together")
    func bothFail() async throws {
        probe.fail("b init", times: 1)
        let test = try await HostUnderTest(entries(#", "retry": true"#), probe: probe).launched()
        await test.calm()
        test.host.onLane { app, _ in app.markFailed(app.records[1], "run", TestError()) }
        await untilAllRun(test)
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        #expect(await test.stopped() == .stopped)
    }

    @Test("one without retries is restarted however often the lazy module that it needs has failed")
    func unloadedNeedWithoutRetries() async throws {
        probe.fail("l init", times: 5)
        let test = try await withoutNeed()
        while await test.statuses()[1].retryAfter == nil {}
        #expect(count("l init") == 2)
        await untilAllRun(test)
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        #expect(count("l init") == 6)
        #expect(count("b init") == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that waits for a lazy module is restarted when that is unloaded for being idle")
    func idleNeed() async throws {
        let isBroken = Atomic(true)
        probe.when("b init") { _ in if isBroken.load(ordering: .relaxed) { throw TestError() } }
        let modules = [
            HostUnderTest.Entry(name: "a"),
            HostUnderTest.Entry(name: "l", more: #""launch": "lazy", "idle": "30s""#),
            HostUnderTest.Entry(name: "b", more: #""needs": ["x.l"], "retry": true"#),
        ]
        let test = try await HostUnderTest(modules, probe: probe).launched()
        await test.calm()
        isBroken.store(false, ordering: .relaxed)
        test.host.onLane { app, _ in app.markFailed(app.records[1], "process", TestError()) }
        while await test.statuses()[2].retryAfter != nil {
            test.time.advance(by: .milliseconds(50))
            await test.calm()
        }
        let reason = "needs x.l, which failed: process: broken"
        #expect(await test.statuses()[2].reason == reason)
        // The lane may set the next alarm after the clock has moved on.
        for _ in 0..<100 where await test.failedCount() > 0 {
            test.time.advance(by: .seconds(1))
            await test.calm()
        }
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        #expect(count("l init") == 2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a lazy need that hangs where it is made for another is not made beside that")
    func lazyNeedHangs() async throws {
        let tries = Atomic(0)
        let door = Door()
        probe.when("l init") { _ in
            let number = tries.add(1, ordering: .relaxed).newValue
            if number == 1 { throw TestError() }
            if number == 2 { door.pass() }
        }
        let test = try await withoutNeed(#", "retry": true"#)
        test.overrun(.seconds(20))
        for _ in 0..<10 {
            await test.calm()
            test.time.advance(by: .seconds(60))
        }
        await test.calm()
        #expect(tries.load(ordering: .relaxed) == 2)
        door.open()
        await probe.reached("b activate")
        #expect(tries.load(ordering: .relaxed) == 3)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reload takes effect while a lazy module cannot be made that a failed one needs")
    func reload() async throws {
        probe.fail("l init")
        let test = try await withoutNeed()
        let outcome = try await test.reload(entries() + [HostUnderTest.Entry(name: "c")])
        #expect(outcome.text == "applied: added x.c")
        #expect(await test.statuses().map(\.state) == [.running, .failed, .failed, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that becomes required while its lazy need cannot be made is tried with delays")
    func becomesRequired() async throws {
        probe.fail("l init")
        let test = try await withoutNeed()
        while await test.statuses()[1].retryAfter == nil {}
        let required = entries(#", "required": true"#)
        #expect(try await test.reload(required).text == "applied: adjusted x.b")
        let (tries, scheduled) = (count("l init"), test.scheduledRestarts)
        // The lane may set the next alarm after the clock has moved on.
        while test.scheduledRestarts == scheduled {
            test.time.advance(by: .milliseconds(10))
            await test.calm()
        }
        #expect(count("l init") == tries + 1)
        #expect(await test.statuses()[1].retryAfter != nil)
        #expect(await test.stopped() == .stopped)
    }
}
