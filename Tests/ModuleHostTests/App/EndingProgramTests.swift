import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Programs whose end with code 0 is their success: a script before a module that needs what it does.
@Suite("Programs that end", .timeLimit(.minutes(10)))
struct EndingProgramTests {
    private let probe = Probe("EndingProgramTests")
    private let program: HeldProgram
    private let main = HostUnderTest.Entry(name: "m")
    private let needing = HostUnderTest.Entry(
        name: "c", more: #""needs": ["x.b"]"#, type: "LazyProbe")

    init() throws { program = try HeldProgram() }

    private func host(
        _ more: String = "", and others: [HostUnderTest.Entry] = [],
        in folder: TemporaryFolder? = nil
    ) throws -> HostUnderTest {
        try HostUnderTest(
            [main, program.plain("b", more)] + others, top: #""schemes": ["t"]"#, folder: folder,
            processes: .quick, probe: probe)
    }

    private func states(_ test: HostUnderTest) async -> [ModuleStatus.State] {
        await test.statuses().map(\.state)
    }

    /// Waits until a process of the program waits for the test, and the host has noted it: its output may come first.
    private func starts(_ test: HostUnderTest, _ count: Int = 1) async {
        await program.starts(test, count)
        while !Task.isCancelled, await states(test)[1] != .running { await Task.yield() }
    }

    /// Waits until module b has done what it is for, so many times.
    private func done(_ test: HostUnderTest, _ count: Int = 1) async {
        func isDone(_ record: LogRecord) -> Bool {
            record.module == "x.b" && record.message == "done"
        }
        while test.recorder.records.count(where: isDone) < count { await Task.yield() }
    }

    private func lines(_ test: HostUnderTest) -> [String] {
        test.recorder.records.filter { $0.module == "x.b" && $0.level > .debug }.map(\.message)
    }

    private func restart(_ test: HostUnderTest) async -> String {
        let done = Promise<String>()
        test.host.restart("x.b", origin: .host) { done.keep("\($0)") }
        return await done.value
    }

    private func reload(_ test: HostUnderTest, _ entries: [HostUnderTest.Entry]) async throws
        -> String
    {
        try await test.reload(entries, top: #""schemes": ["t"]"#).text
    }

    @Test("READY does not wait for one, and it is done when it ends before it answers")
    func script() async throws {
        let test = try await host().launched()
        await starts(test)
        let statuses = await test.statuses()
        #expect(statuses.map(\.state) == [.running, .running])
        #expect(statuses[1].process?.processID != nil)
        #expect(
            await test.call("x.b", "ping")
                == "x.b cannot be called now: it has not answered 'initialize'")
        try program.go("0")
        await done(test)
        #expect(await states(test) == [.running, .done])
        #expect(await test.statuses()[1].process?.endedAt != nil)
        #expect(lines(test) == ["starts", "ends with 0", "done"])
        let reason = "x.b cannot be called now: it is done; 'hostd restart x.b' runs it again"
        #expect(await test.call("x.b", "ping") == reason)
        #expect(await test.open("t://x.b/ping") == reason)
        let metrics = test.host.metrics.withLock { $0 }
        #expect(metrics.modulesRunning == 1)
        #expect(metrics.modulesFailed == 0 && metrics.modulesDone == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("READY waits for a module that needs one, which is made when it is done")
    func needed() async throws {
        let other = HostUnderTest.Entry(name: "d", type: "LazyProbe")
        let test = try host(and: [needing, other])
        async let launched = test.launched()
        await starts(test)
        await probe.reached("d init")
        #expect(await states(test) == [.waiting, .running, .waiting, .waiting])
        #expect(await test.statuses()[2].reason == "waits for x.b, which has not ended")
        #expect(!probe.entries.contains("c init"))
        try program.go("0")
        _ = try await launched
        #expect(await states(test) == [.running, .done, .running, .running])
        #expect(probe.entries("c") == ["c init", "c launch", "c activate"])
        // Together with the others.
        #expect(
            try #require(probe.entries.firstIndex(of: "c launch"))
                < probe.entries.firstIndex(of: "d launch") ?? 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that needs another one runs after it, and so does what needs both")
    func chain() async throws {
        let test = try host(
            and: [
                .init(
                    name: "e", more: #""ends": true, "needs": ["x.b"]"#,
                    command: ["/bin/sh", "-c", "echo second"]),
                .init(name: "c", more: #""needs": ["x.e"]"#, type: "LazyProbe"),
            ])
        async let launched = test.launched()
        await starts(test)
        #expect(!test.recorder.records.contains { $0.message == "second" })
        try program.go("0")
        _ = try await launched
        #expect(await states(test) == [.running, .done, .done, .running])
        #expect(test.recorder.records.contains { $0.message == "second" })
        #expect(await test.stopped() == .stopped)
    }

    @Test("what needs one that does not end in time has failed, and is made when that ends")
    func late() async throws {
        let test = try host(#", "deadline": "3s""#, and: [needing])
        async let launched = test.launched()
        await starts(test)
        await test.settled()
        test.time.advance(by: .seconds(3))
        _ = try await launched
        #expect(await states(test) == [.running, .running, .failed])
        #expect(
            await test.statuses()[2].reason == "needs x.b, which has not ended within 3s")
        #expect(
            lines(test).contains(
                "has not ended within 3s: modules that need it are made when it does"))
        try program.go("0")
        await probe.reached("c activate")
        await test.settled()
        #expect(await states(test) == [.running, .done, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that ends with another code has failed, and what needs it with it")
    func fails() async throws {
        let test = try host(and: [needing])
        async let launched = test.launched()
        await starts(test)
        try program.go("1")
        _ = try await launched
        #expect(await states(test) == [.running, .failed, .failed])
        let reason = try #require(await test.statuses()[1].reason)
        #expect(reason.hasPrefix("init: process "))
        #expect(
            reason.hasSuffix(
                #" ended with code 1; its last output was "starts", "ends with 1""#))
        #expect(await restart(test).contains("applied"))
        await starts(test, 2)
        try program.go("0")
        await probe.reached("c activate")
        await test.settled()
        #expect(await states(test) == [.running, .done, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("with retry it is tried again, and then what needs it is made")
    func retried() async throws {
        let test = try host(#", "retry": true"#, and: [needing])
        async let launched = test.launched()
        await starts(test)
        try program.go("1")
        _ = try await launched
        while test.scheduledRestarts < 1 { await test.settled() }
        test.time.advance(by: .seconds(60))
        await starts(test, 2)
        let found = await test.statuses()
        #expect(found.map(\.state) == [.running, .running, .failed], "\(found)")
        try program.go("0")
        await probe.reached("c activate")
        await test.settled()
        #expect(await states(test) == [.running, .done, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a required one that fails ends the app")
    func required() async throws {
        let test = try host(#", "required": true"#)
        try test.host.launch()
        await starts(test)
        try program.go("1")
        guard case .failed(let reason) = await test.end() else {
            Issue.record("not failed")
            return
        }
        #expect(reason.hasPrefix("required module 'x.b' failed in init: process "))
    }

    @Test("a restart runs it again, and what needs it stays")
    func restarts() async throws {
        let test = try host(and: [needing])
        async let launched = test.launched()
        try program.go("0")
        _ = try await launched
        for run in 2...3 {
            #expect(await restart(test).contains("applied"))
            await starts(test, run)
            #expect(await states(test) == [.running, .running, .running])
            try program.go("0")
            await done(test, run)
        }
        #expect(probe.entries("c") == ["c init", "c launch", "c activate"])
        // One that runs ends first.
        #expect(await restart(test).contains("applied"))
        await starts(test, 4)
        #expect(await restart(test).contains("applied"))
        #expect(lines(test).count { $0 == "starts" } == 4)
        try program.go("0")
        await starts(test, 5)
        try program.go("0")
        await done(test, 4)
        #expect(await states(test) == [.running, .done, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reload runs it again where its entry has changed, and else leaves it")
    func reload() async throws {
        let test = try await host(and: []).launched()
        try program.go("0")
        await done(test)
        #expect(try await reload(test, [main, program.plain("b")]) == "nothing changed")
        let changed = program.plain("b", #", "env": ["A"]"#)
        // Added with what needs it.
        let outcome = try await reload(test, [main, changed, needing])
        #expect(outcome == "applied: added x.c; recreated x.b")
        await starts(test, 2)
        #expect(await states(test) == [.running, .running, .waiting])
        try program.go("0")
        await probe.reached("c activate")
        await test.settled()
        #expect(await states(test) == [.running, .done, .running])
        // Changed with what needs it: that comes behind it again.
        let again = program.plain("b", #", "env": ["B"]"#)
        let newer = HostUnderTest.Entry(
            name: "c", more: #""needs": ["x.b"], "env": ["B"]"#, type: "LazyProbe")
        #expect(
            try await reload(test, [main, again, newer]) == "applied: recreated x.b, x.c")
        await starts(test, 3)
        await probe.reached("c deinit")
        #expect(probe.entries("c").count { $0 == "c init" } == 1)
        try program.go("0")
        while probe.entries("c").count(where: { $0 == "c activate" }) < 2 { await test.settled() }
        await test.settled()
        #expect(await states(test) == [.running, .done, .running])
        #expect(await test.call("x.c", "touch", RouteParameters(["number": "4"])) == "4")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reload that is rolled back leaves it as it was")
    func rolledBack() async throws {
        let test = try await host(and: []).launched()
        try program.go("0")
        await done(test)
        let changed = program.plain("b", #", "env": ["A"]"#)
        probe.whenLazy("d init") { _ in throw TestError() }
        let failing = HostUnderTest.Entry(name: "d", type: "LazyProbe")
        #expect(
            try await reload(test, [main, changed, failing])
                == "undone: module 'x.d' failed in init: broken")
        #expect(await states(test) == [.running, .done])
        #expect(lines(test).count { $0 == "starts" } == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop in the middle gives it the time of a step")
    func stopped() async throws {
        let test = try await host().launched()
        await starts(test)
        async let end = test.stopped()
        while test.host.moduleProcesses.ending.isEmpty { await Task.yield() }
        try program.go("0")
        #expect(await end == .stopped)
        #expect(lines(test) == ["starts", "ends with 0"])
    }

    @Test("a stop before READY ends it, and what waits for it is not made")
    func stoppedEarly() async throws {
        let test = try host(and: [needing])
        try test.host.launch()
        await starts(test)
        async let end = test.stopped()
        while !test.host.moduleProcesses.ends.isTimed { await Task.yield() }
        // It does not end by itself.
        test.time.advance(by: .seconds(10))
        #expect(await end == .stopped)
        #expect(!probe.entries.contains("c init"))
    }

    @Test("one that is removed ends, and is gone")
    func removed() async throws {
        let test = try await host().launched()
        await starts(test)
        async let outcome = reload(test, [main])
        while test.host.moduleProcesses.ending.isEmpty { await Task.yield() }
        try program.go("0")
        #expect(try await outcome == "applied: removed x.b")
        while !test.host.moduleProcesses.ending.isEmpty { await Task.yield() }
        #expect(await states(test) == [.running])
        #expect(await test.call("x.b", "ping") == "no module 'x.b'")
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Those that speak the protocol

    /// A module that ends with a code at a push, and at the second one with 0.
    private func speaking(_ code: Int, in folder: TemporaryFolder) -> HostUnderTest.Entry {
        let script = #"""
            while IFS= read -r line; do
                id=${line#*'"id":'} id=${id%%,*}
                result=null
                case $line in
                *'"method":"initialize"'*)
                    result='{"protocol":2,"module":"x.b","events":["launch","push"],"routes":[{"pattern":"ping","access":"public"}]}' ;;
                *'"event":"launch"'*) echo launched >&2 ;;
                *'"event":"push"'*) [ -e "$1" ] && exit 0; : >"$1"; exit "$2" ;;
                *'"method":"call"'*) result='"pong"' ;;
                *'"method":"shutdown"'*) exit 0 ;;
                esac
                printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
            done
            """#
        return HostUnderTest.Entry(
            name: "b", more: #""ends": true"#,
            command: ["/bin/sh", "-c", script, "b", folder.path("ended"), "\(code)"])
    }

    @Test(
        "a module is done where its process ends with 0, and restarted where it does not",
        arguments: [0, 1])
    func speaks(_ code: Int) async throws {
        let folder = try TemporaryFolder()
        let test = try HostUnderTest(
            [main, speaking(code, in: folder), needing], top: #""schemes": ["t"]"#, folder: folder,
            processes: .quick, probe: probe)
        async let launched = test.launched()
        // Launched before READY, which waits for its end.
        _ = await test.recorder.first { $0.message == "launched" }
        await test.settled()
        #expect(!probe.entries.contains("c init"))
        test.time.advance(by: .seconds(20))
        _ = try await launched
        #expect(await states(test) == [.running, .running, .failed])
        #expect(await test.call("x.b", "ping") == #""pong""#)
        guard case .done = await test.outcome() else {
            Issue.record("not delivered")
            return
        }
        await done(test)
        await probe.reached("c activate")
        while await states(test) != [.running, .done, .running] { await test.settled() }
        #expect(
            await test.open("t://x.b/ping")
                == "x.b cannot be called now: it is done; 'hostd restart x.b' runs it again")
        let launches = lines(test).count { $0 == "launched" }
        #expect(launches == (code == 0 ? 1 : 2))
        // No event waits for it any more.
        guard case .done(let outcome) = await test.outcome() else {
            Issue.record("not delivered")
            return
        }
        #expect(outcome.waitsFor.isEmpty)
        #expect(test.host.gate.lane.state.withLock { $0.mailboxes.entries.isEmpty })
        #expect(await test.stopped() == .stopped)
    }

    @Test("events that wait for a failed one are done when it is done")
    func events() async throws {
        let folder = try TemporaryFolder()
        let test = try await host(in: folder).launched()
        await starts(test)
        try program.go("1")
        while await states(test) != [.running, .failed] { await test.settled() }
        guard case .done(let outcome) = await test.outcome() else {
            Issue.record("not delivered")
            return
        }
        #expect(outcome.waitsFor.map(\.text) == ["x.b"])
        #expect(await test.statuses()[1].waiting?.count == 1)
        #expect(await restart(test).contains("applied"))
        await starts(test, 2)
        try program.go("0")
        await done(test)
        await test.settled()
        #expect(await test.statuses()[1].waiting == nil)
        #expect(test.host.gate.lane.state.withLock { $0.mailboxes.entries.isEmpty })
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "its text is shown line by line, escaped by the log and bounded; it may close what it has")
    func text() async throws {
        let script = #"""
            printf '{"level":"info"}\n\n{"jsonrpc":"2.0","method":"log","params":{"message":"x"}}\n'
            printf '%5000s|\n' x
            printf '\033[31mred'
            exec <&- >&- 2>&-
            """#
        let test = try await HostUnderTest(
            [main, .init(name: "b", more: #""ends": true"#, command: ["/bin/sh", "-c", script])],
            processes: .quick, probe: probe
        ).launched()
        await done(test)
        let long = String(repeating: " ", count: 4096) + "…"
        #expect(
            lines(test) == [
                #"{"level":"info"}"#,
                #"{"jsonrpc":"2.0","method":"log","params":{"message":"x"}}"#, long,
                "\u{1B}[31mred", "done",
            ])
        #expect(await test.stopped() == .stopped)
    }
}
