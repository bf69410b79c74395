import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("What a launch takes its time for", .timeLimit(.minutes(10)))
struct LaunchReportTests {
    private typealias Step = LaunchReport.Step
    private let probe = Probe("LaunchReportTests")

    private func report(
        _ times: LaunchTimes, _ tasks: StartupQueue = StartupQueue()
    ) -> LaunchReport { LaunchReport(times.current, tasks.report()) }

    @Test("a module that is created slowly, one that fails, and those that are not worth a line")
    func creations() async throws {
        let test = try HostUnderTest("a", "b", "c", "d", probe: probe)
        probe.when("b init") { _ in test.time.advance(by: .milliseconds(30)) }
        probe.when("c init") { _ in
            test.time.advance(by: .milliseconds(20))
            throw TestError()
        }
        probe.when("d launch") { _ in test.time.advance(by: .milliseconds(5)) }
        _ = try await test.launched()
        let report = test.host.launchReport
        let creation = Step(
            kind: .module, name: "x.b", started: .zero, ended: .milliseconds(30))
        var failure = Step(
            kind: .module, name: "x.c", started: .milliseconds(30), ended: .milliseconds(50))
        failure.problem = "failed"
        let launch = Step(
            kind: .launch, name: "launch", started: .milliseconds(50), ended: .milliseconds(55))
        let root = Step(
            kind: .root, name: "root", started: .milliseconds(55), ended: .milliseconds(55))
        #expect(report.ready == .milliseconds(55))
        #expect(report.steps == [creation, failure, launch, root])
        #expect(report.chain == [creation, failure, launch])
        #expect(await test.stopped() == .stopped)
    }

    @Test("before READY the chain ends with what it waits for")
    func unfinished() throws {
        let times = LaunchTimes()
        let start = ContinuousClock.now
        let (done, current) = (try ModuleID("x.a"), try ModuleID("x.b"))
        times.begin(at: start)
        times.begins(.module, done, at: start)
        times.ends(done, at: start + .milliseconds(10))
        times.begins(.process, current, at: start + .milliseconds(10))
        let report = report(times)
        #expect(report.chain.map(\.name) == ["x.a", "x.b"])
        #expect(report.chain.last?.ended == nil)
    }

    @Test("processes start at the same time: the chain has the ones that were waited for")
    func processes() throws {
        let times = LaunchTimes()
        let start = ContinuousClock.now
        func at(_ milliseconds: Int) -> ContinuousClock.Instant {
            start + .milliseconds(milliseconds)
        }
        times.begin(at: start)
        for (name, kind, from, begins, ends) in [
            ("x.a", LaunchStepKind.module, 0, 0, 10), ("x.p", .process, 0, 102, 102),
            ("x.q", .process, 0, 103, 50), ("x.b", .module, 103, 103, 110),
        ] {
            let id = try ModuleID(name)
            times.begins(kind, id, from: at(from), at: at(begins))
            times.ends(id, at: at(ends))
        }
        // It hangs: the launch goes on without it, and its end does not count.
        let hung = try ModuleID("x.hung")
        times.begins(.module, hung, at: at(110))
        times.mark(.created, at: at(5110))
        times.ends(hung, at: at(9000))
        let report = report(times)
        #expect(report.chain.map(\.name) == ["x.p", "x.b", "x.hung"])
        #expect(report.steps.map(\.name) == ["x.a", "x.p", "x.q", "x.b", "x.hung"])
        #expect(report.steps.last?.problem == "unresponsive")
        #expect(report.steps.last?.ended == .milliseconds(5110))
        #expect(report.ready == nil)
    }

    @Test("start-up tasks: the chain has those with high priority, the steps have all that began")
    func tasks() async throws {
        let times = LaunchTimes()
        let clock = ManualTimeSource()
        let queue = StartupQueue(width: 1, time: clock)
        func add(
            _ name: String, _ priority: StartupPriority, after: [String] = [], _ time: Int
        ) throws {
            try queue.register(
                StartupTask(name, priority: priority, after: after) {
                    clock.advance(by: .milliseconds(time))
                })
        }
        try add("x.a/keys", .high, 10)
        try add("x.a/directory", .high, after: ["x.a/keys"], 1500)
        try add("x.b/later", .default, 3000)
        let start = clock.now()
        times.begin(at: start - .milliseconds(40))
        times.mark(.created, at: start)
        try queue.admit(.high)
        await queue.done(.high)
        times.mark(.tasksDone, at: clock.now())
        times.mark(.launched, at: clock.now())
        times.mark(.ready, at: clock.now() + .milliseconds(2))
        try queue.admit(.default)
        await queue.done(.default)
        let report = report(times, queue)
        #expect(report.ready == .milliseconds(1552))
        #expect(report.chain.map(\.name) == ["x.a/keys", "x.a/directory", "root"])
        #expect(report.chain[1].started == .milliseconds(50))
        #expect(report.chain[1].duration == .milliseconds(1500))
        let later = try #require(report.steps.first { $0.name == "x.b/later" })
        #expect(!later.isAwaited && later.duration == .seconds(3))
    }
}
