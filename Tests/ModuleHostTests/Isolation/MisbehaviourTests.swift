import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules of other processes that misbehave")
struct MisbehaviourTests {
    /// Something that ends a process, and what the log says of it.
    struct Sin: CustomTestStringConvertible, Sendable {
        let name: String
        let log: String
        /// More of its entry in the slatefile.
        var more = ""

        var testDescription: String { name }

        static let impatient = #""deadline": "100ms", "killAfter": "1s""#
    }

    /// How a crash looks; a sanitizer makes an exit of it, or has the runtime print on standard output.
    private static func crashed(by signal: String) -> String {
        isSanitized
            ? #"process N (was killed by \w+|ended with code \d+|printed "swift-backtrace: .*)"#
            : "process N was killed by \(signal)"
    }

    static let deadly: [Sin] = [
        Sin(
            name: "trap",
            log: crashed(by: "SIG(ILL|TRAP)") + #"; its last output was ".*Fatal error: trap.*""#),
        Sin(name: "abort", log: crashed(by: "SIGABRT") + ".*"),
        Sin(name: "exit-in-event", log: "process N ended with code 0"),
        Sin(
            name: "hang-event",
            log: "process N did not answer 'event' within 1s, and was killed",
            more: Sin.impatient),
        Sin(
            name: "answer-never",
            log: "process N did not answer 'event' within 1s, and was killed",
            more: Sin.impatient),
        Sin(
            name: "spin", log: "process N did not answer 'event' within 1s, and was killed",
            more: Sin.impatient),
        Sin(
            name: "half-line",
            log: "process N did not answer 'event' within 1s, and was killed",
            more: Sin.impatient),
        Sin(name: "grandchild", log: "process N ended with code 1"),
        Sin(
            name: "flood-garbage",
            log: #"process N printed ".*", which is not a message: Parse error: .*, and was killed"#
        ),
        Sin(
            name: "long-line",
            log: "process N printed a line of more than 1048576 bytes, and was killed"),
        Sin(
            name: "invalid-utf8",
            log: #"process N printed ".*", which is not a message: Parse error: .*, and was killed"#
        ),
        Sin(
            name: "wrong-id",
            log: #"process N answered request .*, which is not pending, and was killed"#),
        Sin(
            name: "answer-twice",
            log: #"process N answered request \d+, which is not pending, and was killed"#),
        Sin(name: "close-stdout", log: "process N closed its output, and was killed"),
    ]

    @Test("a module is restarted, receives all its events, and delays no other", arguments: deadly)
    func comesBack(_ sin: Sin) async throws {
        let probe = Probe()
        let test = try await IsolatedTest(
            sin.name, "--after", "1", "--once", more: sin.more, probe: probe
        ).launched()
        let topics = (1...5).map { "n\($0)" }
        for topic in topics { try test.host.deliver(.message, "{\"topic\": \"\(topic)\"}") }
        await test.revived(late: sin.more == Sin.impatient)
        await test.host.settled()
        #expect(probe.entries("c").count { $0 == "c message" } == 5)
        #expect(await test.host.stopped() == .stopped)
        // In order, whatever was said twice.
        var received: [String] = []
        for entry in try test.received where entry.hasPrefix("message") {
            let topic = String(entry.split(separator: " ")[1])
            if received.last != topic { received.append(topic) }
        }
        #expect(received == topics)
        let log = test.log(.error)
        let pattern = try Regex(sin.log + "; it is started again")
        #expect(try log.contains { try pattern.wholeMatch(in: $0) != nil }, "\(log)")
        #expect(try test.isLeftBehind() == [])
    }

    @Test("one that says that its code does not return is not waited for, and is killed in time")
    func hangsLater() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(
            "hang-later", "--after", "1", "--once", more: Sin.impatient, probe: probe
        ).launched()
        try test.host.deliver(.push, "{}")
        await probe.reached("c push")
        await test.revived()
        #expect(await test.call("echo", ["text": "one"]) == #"{"text":"one"}"#)
        #expect(await test.host.stopped() == .stopped)
        #expect(
            test.log(.error) == [
                "its code did not return within 100ms",
                "process N did not return from its code within 1s, and was killed; it is started again",
            ])
    }

    @Test(
        "one that cannot begin is given up at once, and the app goes on",
        arguments: [
            ("exit", "process N ended with code 0, before it was ready"),
            (
                "hang-initialize",
                "process N did not answer 'initialize' within 500ms, and was killed, before it was ready"
            ),
            (
                "wrong-version",
                "process N answered 'initialize' in version 4 of the protocol; this host speaks 2 and 3, "
                    + "and was killed, before it was ready"
            ),
        ])
    func cannotBegin(_ sin: String, _ reason: String) async throws {
        let probe = Probe()
        let test = try await IsolatedTest(
            sin, top: #""deadlines": {"launch": "500ms"}"#, probe: probe
        ).launched()
        #expect(test.log() == ["init failed; the app continues without it: \(reason)"])
        #expect(probe.entries.contains("c launch"))
        #expect(await test.host.stopped() == .stopped)
        #expect(try test.isLeftBehind() == [])
    }

    @Test(
        "a program that there is none of, or that is none, is said to be so",
        arguments: [
            ("/nowhere/none", "there is no program '/nowhere/none'"),
            ("none-of-this-name", "there is no program 'none-of-this-name' in PATH"),
            ("/etc/passwd", "'/etc/passwd' is not executable: it needs 'chmod +x'"),
            ("/etc", "'/etc' is not executable: it needs 'chmod +x'"),
        ])
    func noProgram(_ name: String, _ reason: String) async throws {
        let test = try await HostUnderTest(
            [HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "b", command: [name])],
            processes: .quick, probe: Probe()
        ).launched()
        #expect(
            test.recorder.records.filter { $0.module == "x.b" }.map(\.message)
                == ["init failed; the app continues without it: \(reason)"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that dies again and again is given up, and says why")
    func givenUp() async throws {
        let probe = Probe()
        let test = try await IsolatedTest("abort", "--after", "1", probe: probe).launched()
        // A single event is delivered to it three times at most.
        for _ in 0..<2 { try test.host.deliver(.message, #"{"topic": "news"}"#) }
        _ = await test.host.recorder.first { $0.message.hasPrefix("process failed") }
        let reason = try #require(test.log(.error).first { $0.hasPrefix("process failed") })
        let died = try Regex(
            "process failed; the app continues without it: " + Self.crashed(by: "SIGABRT"))
        #expect(try died.prefixMatch(in: reason) != nil)
        #expect(reason.hasSuffix("; it ended 5 times within 30s, and is not restarted again"))
        let answer = await test.call("echo", ["text": "a"])
        #expect(answer.contains("cannot be called now: it failed: "), "\(answer)")
        #expect(await test.host.stopped() == .stopped)
        #expect(try test.isLeftBehind() == [])
    }

    @Test("one that is required takes the app along when it is given up")
    func required() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(
            "abort", "--after", "1", more: #""required": true"#, probe: probe
        ).launched()
        // A single event is delivered to it three times at most.
        for _ in 0..<2 { try test.host.deliver(.message, #"{"topic": "news"}"#) }
        guard case .failed(let reason) = await test.host.end() else {
            Issue.record("it goes on")
            return
        }
        #expect(reason.hasPrefix("required module 'x.b' failed in process: process "))
    }

    @Test("a call in which one dies fails, and so does one that it does not answer")
    func calls() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(
            "hang-call", "--once", more: Sin.impatient, probe: probe
        ).launched()
        let first = test.begin("echo", ["text": "a"])
        await test.host.settled()
        test.host.time.advance(by: .milliseconds(100))
        #expect(await first.value == "x.b took too long to answer, and is unresponsive")
        await test.revived()
        #expect(
            test.log().contains {
                $0.hasPrefix("process N did not answer 'call' within 1s, and was killed")
            })
        #expect(await test.call("echo", ["text": "a"]) == #"{"text":"a"}"#)
        #expect(await test.host.stopped() == .stopped)
    }

    @Test(
        "a process that does not end is asked to end, and then killed",
        arguments: [
            "hang-shutdown", "ignore-term", "hang-shutdown,ignore-term",
        ])
    func doesNotEnd(_ sin: String) async throws {
        let probe = Probe()
        let test = try await IsolatedTest(
            sin, top: #""deadlines": {"stop": "100ms"}"#, probe: probe
        ).launched()
        let host = test.host.host
        host.stop(because: "test")
        // One that only ignores SIGTERM ends by itself.
        while !host.isOver, !host.moduleProcesses.ends.isTimed { await Task.yield() }
        test.host.time.advance(by: .milliseconds(100))
        test.host.time.advance(by: .milliseconds(50))
        #expect(await test.host.end() == .stopped)
        #expect(try test.isLeftBehind() == [])
    }

    @Test("a module that logs without end delays no other, and its log is cut")
    func talks() async throws {
        let probe = Probe()
        let test = try await IsolatedTest("flood-stderr", "--after", "1", probe: probe).launched()
        try test.host.deliver(.push, "{}")
        for line in [
            "it logs more than 100 lines a second: the rest is left out",
            "it sends more than the host can process: its output is read more slowly",
        ] {
            _ = await test.host.recorder.first { $0.message == line }
        }
        for _ in 0..<20 {
            try test.host.deliver(.message, #"{"topic": "news"}"#)
            try test.host.deliver(.memoryWarning)
            await test.host.settled()
            // Until it has caught up, so that it is behind anew at the next.
            while test.host.host.gate.lane.hasStalledThreads() { await test.host.settled() }
        }
        #expect(probe.entries("c").count { $0 == "c memory-warning" } == 20)
        #expect(await test.host.stopped() == .stopped)
        #expect(try test.isLeftBehind() == [])
        // That it is behind is said once in a flood, and not at each event. On a busy machine there may be more
        // than one flood.
        #expect(test.host.recorder.messages.count { $0.hasPrefix("unresponsive for now") } < 10)
        // A thousand at once, and a hundred a second.
        #expect(test.host.recorder.records.count { $0.module == "x.b" } < 50_000)
    }

    @Test("one that posts without end is killed, and in the end given up")
    func posts() async throws {
        let probe = Probe()
        let test = try await IsolatedTest("flood-stdout", "--after", "1", probe: probe).launched()
        try test.host.deliver(.push, "{}")
        let end = await test.host.recorder.first { $0.message.hasPrefix("process failed") }
        #expect(
            end.message.contains(
                "posted 1000 events more than can be delivered, without waiting for an answer, "
                    + "and was killed; it ended 5 times within 30s, and is not restarted again"))
        for _ in 0..<20 { try test.host.deliver(.memoryWarning) }
        await test.host.settled()
        #expect(probe.entries("c").count { $0 == "c memory-warning" } == 20)
        #expect(await test.host.stopped() == .stopped)
        #expect(try test.isLeftBehind() == [])
    }
}
