import TestSupport
import Testing

@testable import ModuleHostCore

/// Tests of the report that `hostd why` derives from the states of modules and the record.
@Suite("The report of hostd why", .timeLimit(.minutes(1)))
struct WhyReportTests {
    private let now = WallTime(seconds: 10_000)

    private func status(
        _ name: String, _ state: ModuleStatus.State,
        _ change: (inout ModuleStatus) -> Void = { _ in }
    ) throws -> ModuleStatus {
        var status = ModuleStatus(
            id: try ModuleID("x.\(name)"), entry: "E", state: state, since: WallTime(seconds: 9000))
        change(&status)
        return status
    }

    private func knowledge(
        _ modules: [ModuleStatus], _ entries: [HostRecord] = [],
        _ change: (inout HostStatus) -> Void = { _ in }
    ) throws -> WhyKnowledge {
        let ring = try RecordRing(inMemory: 4 << 20)
        for entry in entries { ring.add(entry) }
        var host = HostStatus(
            HostIdentity(
                app: "demo", slatefile: "s.json", stateDirectory: ".hostd",
                startedAt: WallTime(seconds: 5000), stopTime: .seconds(1)), HostMetrics())
        change(&host)
        let slatefile = try HostUnderTest.slatefile(
            ["a", "b", "c"].map { name in
                HostUnderTest.Entry(name: name, more: name == "c" ? #""needs": ["x.b"]"# : "")
            }, top: "", probe: Probe())
        return WhyKnowledge(
            status: host, modules: modules, dependents: slatefile.dependents, record: ring.contents,
            program: "hostd", now: now)
    }

    private func entry(
        _ seconds: Int, _ module: String?, _ fact: HostRecord.Fact
    ) throws -> HostRecord {
        HostRecord(
            time: WallTime(seconds: seconds), module: try module.map { try ModuleID("x.\($0)") },
            fact)
    }

    @Test("an inbox that cannot do its work, since its first problem")
    func inbox() throws {
        var metrics = InboxMetrics()
        metrics.problems[.cursor] = "cannot keep the cursor: No space left on device"
        let since = try #require(metrics.problemSince)
        metrics.blocked = "no answer"
        #expect(metrics.problemSince == since)
        let report = try knowledge([]) { $0.inbox = metrics }.report()
        let finding = try #require(report.findings.first)
        #expect((finding.state, finding.since, finding.command) == ("inbox", since, "df -h .hostd"))
        metrics.problems[.cursor] = nil
        metrics.blocked = nil
        #expect(metrics.problemSince == nil)
        #expect(try knowledge([]) { $0.inbox = metrics }.report().findings == [])
    }

    @Test("requests that failed, of which the log has some: how many, the last, and its caller")
    func failedRequests() throws {
        let report = try knowledge(
            [],
            [
                try entry(9_000, nil, .requestsFailed(40, last: "long ago", processID: 7)),
                try entry(
                    9_990, nil, .requestsFailed(1559, last: "call of x.none y", processID: 7)),
                try entry(9_991, nil, .requestsFailed(2, last: "open of x://a", processID: 8)),
            ]
        ).report()
        let finding = try #require(report.findings.first)
        #expect(report.findings.count == 1)
        #expect(finding.state == "failing requests")
        #expect(
            finding.reason?.hasPrefix("1561 requests failed in the last 10 minutes; at ") == true)
        #expect(finding.reason?.hasSuffix(": open of x://a") == true)
        #expect(finding.command == "ps -f -p 8")
    }

    @Test("a start that took 5 s or more: how long, and the slowest step")
    func slowStart() throws {
        func report(_ time: Duration) throws -> WhyReport {
            try knowledge([]) { status in
                var metrics = HostMetrics()
                metrics.readyAfter = time
                status = HostStatus(status.identity, metrics)
                status.slowStart = [
                    LaunchReport.Step(
                        kind: .process, name: "x.a", started: .zero, ended: .seconds(1)),
                    LaunchReport.Step(
                        kind: .process, name: "x.b", started: .zero, ended: .seconds(4)),
                ]
            }.report()
        }
        #expect(try report(.seconds(4)).findings.isEmpty)
        let finding = try #require(try report(.seconds(6)).findings.first)
        #expect(finding.state == "slow start")
        #expect(finding.reason == "READY took 6s, 4s of it x.b")
        #expect(finding.command == "hostd startup")
    }

    @Test("nothing is wrong with modules that run, are done or not made, whatever was long ago")
    func well() throws {
        let modules = [
            try status("a", .running), try status("b", .done), try status("c", .onDemand),
        ]
        let entries = [
            try entry(9000, "a", .threw(in: .push, error: "no")),
            try entry(9000, nil, .delivered(.init(kind: .push, duration: .seconds(2)))),
            try entry(4000, "a", .task("x.a/index", outcome: "failed", .seconds(9))),
        ]
        #expect(try knowledge(modules, entries).report().findings == [])
    }

    @Test("the worst comes first, and a module that fails with another is left out")
    func order() throws {
        let modules = [
            try status("a", .overdue) { $0.behind = 4 },
            try status("b", .failed) {
                $0.reason = "init: no disk"
                $0.retryAfter = .seconds(3)
            },
            try status("c", .failed) {
                $0.reason = "needs x.b"
                $0.failedNeed = try? ModuleID("x.b")
            },
            try status("d", .running),
        ]
        let entries = [
            try entry(9900, "a", .unresponsive(in: "message")),
            try entry(9950, "d", .processEnded("process 7 was killed by SIGSEGV")),
            try entry(
                9960, nil,
                .delivered(.init(kind: .message, topic: "t", duration: .milliseconds(807)))),
            try entry(6000, "d", .task("x.d/index", outcome: "failed", .seconds(9))),
        ]
        let many = try (0..<1500).map { _ in
            try entry(9970, nil, .delivered(.init(kind: .push, duration: .milliseconds(2))))
        }
        var knowledge = try knowledge(modules, entries + many) { status in
            var inbox = InboxMetrics()
            inbox.rejected = 2
            status.inbox = inbox
        }
        #expect(!knowledge.report().findings.contains { $0.state == "dead letters" })
        knowledge.deadLetter = DeadLetter(
            time: .now(), reason: "no", position: EventPosition(segment: 1, offset: 1), line: [])
        let report = knowledge.report()
        #expect(
            report.findings.map { "\($0.module?.text ?? "host") \($0.state)" } == [
                "x.a unresponsive", "x.b failed", "x.d running", "host dead letters", "host slow",
                "x.d start-up task",
            ])
        let first = report.findings[0]
        #expect(first.reason == "it has not returned from 'message'" && first.events == 4)
        #expect(first.command?.hasPrefix("gdb -p ") == true)
        let failed = report.findings[1]
        #expect(failed.neededBy.map(\.text) == ["x.c"])
        #expect(failed.next == "restarting in 3s" && failed.command == "hostd restart x.b")
        #expect(
            report.findings[2].reason?.hasPrefix(
                "its process ended once in the last 10 minutes; at ") == true)
        #expect(
            report.findings[4].reason?.hasPrefix(
                "message t took 807ms at most, once in the last 10 minutes, at ") == true)
        let need = knowledge.report(of: modules[2]).findings[0]
        #expect(need.command == "hostd why x.b" && need.next == "restarting with x.b")
    }

    @Test("the last ten entries about the module")
    func entries() throws {
        let entries = try (0..<30).map {
            try entry($0, $0 % 2 == 0 ? "a" : "b", .processStarted($0))
        }
        let module = try status("a", .running)
        let report = try knowledge([module], entries).report(of: module)
        #expect(report.record.map(\.time.seconds) == [10, 12, 14, 16, 18, 20, 22, 24, 26, 28])
    }
}
