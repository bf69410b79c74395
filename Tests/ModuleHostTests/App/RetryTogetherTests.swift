import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules that have failed and are restarted together", .timeLimit(.minutes(10)))
struct RetryTogetherTests {
    private let probe = Probe("RetryTogetherTests")

    /// A host of `a`, which runs, and so many others, which throw so often where they are made to.
    private func failing(
        _ count: Int, in step: String, times: Int
    ) async throws -> HostUnderTest {
        for number in 0..<count { probe.fail("m\(number) \(step)", times: times) }
        let entries = (0..<count).map {
            HostUnderTest.Entry(name: "m\($0)", more: #""retry": true"#)
        }
        return try await HostUnderTest(
            [HostUnderTest.Entry(name: "a")] + entries, probe: probe
        ).launched()
    }

    @Test(
        "a thousand that fail again and again are restarted together",
        arguments: ["init", "launch"])
    func together(_ step: String) async throws {
        let count = 1000
        let test = try await failing(count, in: step, times: 5)
        #expect(await test.failedCount() == count)
        #expect(test.host.app.openInModule().health.failed.count == count)
        for round in 0..<5 {
            while test.scheduledRestarts < count * (round + 1) { await test.settled() }
            // A quarter more than the delays of 100, 200, 400, 800 and 1600 ms.
            test.time.advance(by: .milliseconds(125 << round))
        }
        while await test.failedCount() > 0 {}
        #expect(probe.entries("init").count == 1 + 6 * count)
        #expect(await test.stopped() == .stopped)
    }

    /// The number of times that a module was made, or has received an event.
    private func count(_ entry: String) -> Int { probe.entries.count { $0 == entry } }

    @Test(
        "one that hangs where it is restarted with others holds them up no longer than its deadline"
    )
    func hangs() async throws {
        let test = try await failing(3, in: "launch", times: 1)
        let door = probe.closeOnce("m1 launch")
        test.time.advance(by: .milliseconds(125))
        while count("m1 launch") < 2 { await Task.yield() }
        test.overrun(.seconds(20))
        for name in ["m0", "m2"] { await probe.reached("\(name) activate") }
        let all = await test.statuses()
        #expect(all.map(\.state) == [.running, .running, .overdue, .running])
        door.open()
        await probe.reached("m1 activate")
        #expect(await test.failedCount() == 0)
        #expect(["m0", "m1", "m2"].map { count("\($0) init") } == [2, 2, 2])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one with a start-up task that cannot run fails again, and the others run")
    func invalidTask() async throws {
        let test = try await failing(4, in: "launch", times: 1)
        probe.when("m1 init") { module in
            try module.context.startup("first", after: ["x.nosuch/task"]) {}
        }
        test.time.advance(by: .milliseconds(125))
        for name in ["m0", "m2", "m3"] { await probe.reached("\(name) activate") }
        while await test.statuses()[2].reason?.contains("x.nosuch/task") != true {}
        while await test.statuses()[2].retryAfter == nil {}
        let states = await test.statuses().map(\.state)
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

    @Test("one that is restarted by hand meanwhile is not restarted once more")
    func restartedByHand() async throws {
        let test = try await failing(1, in: "launch", times: 1)
        let door = probe.closeOnce("m0 init")
        test.host.restart("x.m0", origin: .host) { _ in }
        while count("m0 init") < 2 { await Task.yield() }
        test.time.advance(by: .milliseconds(125))
        door.open()
        await probe.reached("m0 activate")
        await test.calm()
        #expect(await test.failedCount() == 0)
        #expect(count("m0 init") == 2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("several that hang let the others have their turn")
    func severalHang() async throws {
        let test = try await failing(4, in: "launch", times: 1)
        let doors = (0..<3).map { probe.closeOnce("m\($0) launch") }
        test.time.advance(by: .milliseconds(125))
        for round in 1...3 {
            while (0..<3).count(where: { count("m\($0) launch") == 2 }) < round {
                await Task.yield()
            }
            // The former ones are due again by then.
            test.overrun(.seconds(20))
        }
        await probe.reached("m3 activate")
        #expect(await test.statuses()[4].state == .running)
        for door in doors { door.open() }
        while await test.failedCount() > 0 { test.time.advance(by: .seconds(1)) }
        #expect(await test.stopped() == .stopped)
    }
}
