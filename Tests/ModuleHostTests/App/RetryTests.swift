import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules that are restarted after they have failed", .timeLimit(.minutes(10)))
struct RetryTests {
    private let probe = Probe("RetryTests")

    private func entries(_ more: String) -> [HostUnderTest.Entry] {
        [HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "b", more: more)]
    }

    /// Waits for the next try to be scheduled, and lets it begin.
    private func advance(
        _ host: HostUnderTest, by delay: Duration, after records: inout Int
    ) async -> Bool {
        let start = records
        let record = await host.recorder.first(from: start) {
            $0.message.hasPrefix("restarting in ")
        }
        records = host.recorder.records.count
        let retryAfter = await host.statuses()[1].retryAfter
        host.time.advance(by: delay)
        return record.module == "x.b" && retryAfter != nil
    }

    @Test(
        "one that fails is restarted until it runs, and receives what has waited for it",
        arguments: ["init", "launch"])
    func untilItRuns(_ what: String) async throws {
        let folder = try TemporaryFolder()
        probe.fail("b \(what)", times: 3)
        let test = try await HostUnderTest.durable(
            "a", "b", in: folder, more: ["b": #""retry": true"#], probe: probe
        ).launched()
        _ = await test.outcome("waits")
        // A quarter more than the delays of 100, 200 and 400 ms.
        var records = 0
        #expect(await advance(test, by: .milliseconds(125), after: &records))
        #expect(await advance(test, by: .milliseconds(250), after: &records))
        #expect(await advance(test, by: .milliseconds(500), after: &records))
        _ = await test.recorder.first {
            $0.message == "runs again; 1 event of the inbox waits for it"
        }
        #expect(await test.statuses()[1].state != .failed)
        #expect(await test.statuses()[1].retryAfter == nil)
        await probe.reached("b \(try #require(probe.received("a").first))")
        #expect(probe.entries("b").filter { $0 == "b \(what)" }.count == 4)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "without 'retry', or required, it is not restarted by itself", arguments: ["", "required"])
    func notAsked(_ more: String) async throws {
        probe.fail("b init", times: 1)
        let isRequired = more == "required"
        let test = try HostUnderTest(
            entries(isRequired ? #""retry": true, "required": true"# : ""), probe: probe)
        if isRequired {
            try test.host.launch()
            guard case .failed = await test.end() else { return #expect(Bool(false), "it goes on") }
        } else {
            _ = try await test.launched()
            test.time.advance(by: .seconds(60))
            #expect(await test.statuses()[1].state == .failed)
            #expect(await test.statuses()[1].retryAfter == nil)
            #expect(await test.stopped() == .stopped)
        }
        #expect(probe.entries("b").filter { $0 == "b init" }.count == 1)
    }

    @Test("a reload that asks for it schedules a try, and one that does not calls it off")
    func reload() async throws {
        probe.fail("b init", times: 1)
        let test = try await HostUnderTest(entries(""), probe: probe).launched()
        #expect(await test.statuses()[1].retryAfter == nil)
        let retried = #""retry": true"#
        #expect(try await test.reload(entries(retried)).text == "applied: adjusted x.b")
        #expect(await test.statuses()[1].retryAfter != nil)
        #expect(try await test.reload(entries("")).text == "applied: adjusted x.b")
        #expect(await test.statuses()[1].retryAfter == nil)
        test.time.advance(by: .seconds(60))
        #expect(await test.statuses()[1].state == .failed)
        #expect(try await test.reload(entries(retried)).text == "applied: adjusted x.b")
        test.time.advance(by: .milliseconds(125))
        await probe.reached("b launch")
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("b").filter { $0 == "b init" }.count == 2)
    }

    @Test("an overdue module that is to be recreated stays so where others are restarted meanwhile")
    func outdated() async throws {
        let door = Door()
        probe.when("a memory-warning") { _ in door.pass() }
        probe.fail("b launch", times: 1)
        let test = try await HostUnderTest(entries(#""retry": true"#), probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun(.seconds(5))
        test.host.restart("x.a", origin: .host) { _ in }
        await test.calm()
        test.time.advance(by: .seconds(1))
        await probe.reached("b activate")
        #expect(probe.entries.count { $0 == "a init" } == 1)
        door.open()
        while probe.entries("a").count(where: { $0 == "a init" }) < 2 { await Task.yield() }
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "the delays grow while it fails again soon after it runs, and are the first ones after 30 s"
    )
    func growth() async throws {
        probe.fail("b launch", times: 1)
        let test = try await HostUnderTest(entries(#""retry": true"#), probe: probe).launched()
        await test.calm()
        for (number, delay) in [100, 200, 400, 100].enumerated() {
            let left = try #require(await test.statuses()[1].retryAfter)
            #expect(left >= .milliseconds(delay * 3 / 4) && left <= .milliseconds(delay * 5 / 4))
            #expect(test.scheduledRestarts == number + 1)
            test.time.advance(by: left)
            while await test.failedCount() > 0 {}
            await test.calm()
            if number == 2 { test.time.advance(by: .seconds(30)) }
            test.host.onLane { app, _ in app.markFailed(app.records[1], "run", TestError()) }
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that has failed and that a reload makes lazy is tried again")
    func becomesLazy() async throws {
        probe.fail("b init", times: 1)
        let test = try await HostUnderTest(entries(""), probe: probe).launched()
        let outcome = try await test.reload(entries(#""launch": "lazy""#))
        #expect(outcome.text == "applied: adjusted x.b")
        #expect(await test.statuses()[1].retryAfter != nil)
        test.time.advance(by: .milliseconds(125))
        await test.calm()
        #expect(await test.statuses()[1].state == .onDemand)
        #expect(await test.stopped() == .stopped)
    }
}
