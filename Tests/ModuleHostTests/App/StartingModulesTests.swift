import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// The lane does not wait for a process that starts: others are called meanwhile, and what is for its module waits.
@Suite("Modules whose processes start", .timeLimit(.minutes(10)))
struct StartingModulesTests {
    private let probe = Probe("StartingModulesTests")
    private let program: HeldProgram
    private let main = HostUnderTest.Entry(name: "m")
    private let first = HostUnderTest.Entry(name: "a", type: "LazyProbe")
    private let lazy =
        #""launch": "lazy", "provides": ["ping"], "events": ["push"], "topics": ["news.*"]"#

    init() throws { program = try HeldProgram() }

    private func host(
        _ more: String, in folder: TemporaryFolder? = nil, isLaunched: Bool = true
    ) async throws -> HostUnderTest {
        let test = try HostUnderTest(
            [main, first, program.entry("b", more)], top: #""schemes": ["t"]"#, folder: folder,
            processes: .quick, probe: probe)
        return isLaunched ? try await test.launched() : test
    }

    /// Whether the first module is called, and the host says what there is, while module b is in a state.
    private func goesOn(_ test: HostUnderTest, while state: ModuleStatus.State) async -> Bool {
        let answer = await test.call("x.a", "touch", RouteParameters(["number": "7"]))
        let statuses = await test.statuses()
        return answer == "7" && statuses.map(\.state) == [.running, .running, state]
    }

    private func lines(_ test: HostUnderTest) -> [String] {
        test.recorder.records.filter { $0.module == "x.b" }.map(\.message)
            .filter { $0.hasPrefix("push ") || $0.hasPrefix("news.") }
    }

    /// The number of calls that wait for module b.
    private func waitingCalls(_ test: HostUnderTest) async -> Int {
        await withCheckedContinuation { continuation in
            test.host.onLane { app, _ in
                let start = app.onDemand.starts[ModuleID(checked: "x.b")]
                continuation.resume(returning: start?.jobs.count ?? 0)
            }
        }
    }

    @Test("calls of a lazy module wait for it, and no others do")
    func calls() async throws {
        let test = try await host(lazy)
        async let byName = test.call("x.b", "ping")
        async let byURL = test.open("t://x.b/ping")
        await program.starts(test)
        #expect(await goesOn(test, while: .waiting))
        try program.go()
        #expect(await byName == #""pong""#)
        #expect(await byURL == #""pong""#)
        #expect(await goesOn(test, while: .running))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a call of one that exits has the reason, and so has the next one")
    func exits() async throws {
        let test = try await host(lazy)
        async let answer = test.call("x.b", "ping")
        await program.starts(test)
        #expect(await goesOn(test, while: .waiting))
        try program.go("exit")
        let first = await answer
        #expect(first.contains("ended with code 3"))
        #expect(await test.call("x.b", "ping") == first)
        #expect(await goesOn(test, while: .failed))
        #expect(await test.stopped() == .stopped)
    }

    @Test("an interceptor is asked once for a call that waits")
    func intercepted() async throws {
        let test = try await HostUnderTest(
            [
                main, first, program.entry("b", lazy),
                .init(name: "g", type: "GuardProbe"),
            ], top: #""schemes": ["t"]"#, processes: .quick, probe: probe
        ).launched()
        async let answer = test.open("t://x.b/ping")
        await program.starts(test)
        try program.go()
        #expect(await answer == #""pong""#)
        #expect(probe.entries("g").count { $0.contains("ping") } == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("an event waits for those that receive it; one for others does not")
    func events() async throws {
        let test = try await host(lazy)
        try test.host.post("news.one", nil, origin: .host)
        try test.host.post("news.two", nil, origin: .host)
        await program.starts(test)
        try test.host.post("lazy.one", nil, origin: .host)
        await probe.reached("a lazy.one")
        #expect(probe.entries("a").allSatisfy { !$0.contains("news") })
        try program.go()
        _ = await test.recorder.first { $0.message == "news.two" }
        #expect(probe.entries("a").suffix(3) == ["a lazy.one", "a news.one", "a news.two"])
        #expect(lines(test) == ["news.one", "news.two"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("durable events wait a second, and go on without it; it receives them before any call")
    func durable() async throws {
        let folder = try TemporaryFolder()
        let test = try await host(lazy, in: folder)
        let first = await test.accept()
        let second = await test.accept()
        await program.starts(test)
        await test.settled()
        #expect(!probe.entries.contains("a push"))
        async let outcome = test.outcome()
        test.time.advance(by: LazyStarts.patience)
        guard case .done(let done) = await outcome else {
            Issue.record("not delivered")
            return
        }
        #expect(done.delivered == 2 && done.waitsFor.map(\.text) == ["x.b"])
        #expect(probe.entries.count { $0 == "a push" } == 3)
        #expect(lines(test).isEmpty)
        async let answer = test.call("x.b", "ping")
        while await waitingCalls(test) == 0 {}
        try program.go()
        #expect(await answer == #""pong""#)
        // What a process logs is read by another thread than its answers.
        while lines(test).count < 3 { await Task.yield() }
        let heard = lines(test)
        #expect(heard.count == 3)
        #expect(
            heard.prefix(2).map { $0.dropFirst(5) }
                == [first, second].map { "\($0.map { "\($0)" } ?? "")" })
        // Its note in the black box is its own again, and no longer that of a module which durable events wait for.
        let isAwaited = Promise<Bool?>()
        test.host.onLane { app, _ in
            isAwaited.keep(app.records.last?.slot.isAwaited.load(ordering: .relaxed))
        }
        #expect(await isAwaited.value == false)
        #expect(await test.stopped() == .stopped)
    }

    @Test("durable events come in order where it starts in time")
    func inTime() async throws {
        let folder = try TemporaryFolder()
        let test = try await host(lazy, in: folder)
        _ = await test.accept()
        await program.starts(test)
        async let outcome = test.outcome()
        try program.go()
        guard case .done(let done) = await outcome else {
            Issue.record("not delivered")
            return
        }
        #expect(done.delivered == 3 && done.waitsFor.isEmpty)
        while lines(test).count < 2 { await Task.yield() }
        #expect(lines(test).count == 2 && probe.entries.count { $0 == "a push" } == 2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module in the host's process that needs it comes up behind it")
    func needing() async throws {
        let test = try await HostUnderTest(
            [
                main, first, program.entry("b", lazy),
                .init(
                    name: "c", more: #""launch": "lazy", "needs": ["x.b"]"#, type: "LazyProbe"),
            ], processes: .quick, probe: probe
        ).launched()
        async let answer = test.call("x.c", "touch", RouteParameters(["number": "3"]))
        await program.starts(test)
        #expect(await test.call("x.a", "touch", RouteParameters(["number": "7"])) == "7")
        #expect(probe.entries("c").isEmpty)
        try program.go()
        #expect(await answer == "3")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop does not wait for a process that starts; the call is answered")
    func stop() async throws {
        let folder = try TemporaryFolder()
        let test = try await host(lazy, in: folder)
        async let answer = test.call("x.b", "ping")
        await program.starts(test)
        _ = await test.accept()
        #expect(await test.stopped() == .stopped)
        #expect(await answer == "\(RouteError.stopped)")
    }

    @Test("while a retried one starts, others are called")
    func retry() async throws {
        try program.go("exit")
        let test = try await host(#""retry": true"#)
        _ = await test.recorder.first { $0.message.hasPrefix("restarting in ") }
        test.time.advance(by: .milliseconds(125))
        await program.starts(test, 2)
        #expect(await goesOn(test, while: .failed))
        try program.go()
        _ = await test.recorder.first { $0.message.hasPrefix("runs again") }
        #expect(await goesOn(test, while: .running))
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "while one starts for a restart or a reload, others are called", arguments: [true, false])
    func replaced(_ isRestart: Bool) async throws {
        try program.go()
        let test = try await host("")
        let done = Promise<String>()
        if isRestart {
            test.host.restart("x.b", origin: .host) { done.keep("\($0)") }
        } else {
            let entries = [main, first, program.entry("b", #""env": ["HOME"]"#)]
            let slatefile = try HostUnderTest.slatefile(
                entries, top: #""schemes": ["t"]"#, probe: probe)
            test.host.reload(slatefile, tokens: .empty, origin: .host) { done.keep("\($0)") }
        }
        await program.starts(test, 2)
        #expect(await goesOn(test, while: .running))
        #expect(await test.call("x.b", "ping") == #""pong""#)
        try program.go()
        #expect(await done.value.contains("applied"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("while one starts at launch, the host says so, and a call waits")
    func launch() async throws {
        let test = try await host("", isLaunched: false)
        try test.host.launch()
        await program.starts(test)
        #expect(await test.statuses().map(\.state) == [.waiting, .waiting, .waiting])
        async let answer = test.call("x.b", "ping")
        try program.go()
        #expect(await answer == #""pong""#)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop in the middle of a launch does not wait for a process that starts")
    func stopInLaunch() async throws {
        let test = try await host("", isLaunched: false)
        try test.host.launch()
        await program.starts(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a chain of lazy modules is made without recursion")
    func chain() async throws {
        let count = 3500
        let entries = (0..<count).map { index in
            HostUnderTest.Entry(
                name: "m\(index)",
                more: #""launch": "lazy""#
                    + (index == 0 ? "" : #", "needs": ["x.m\#(index - 1)"]"#),
                type: "LazyProbe")
        }
        let test = try await HostUnderTest([main, first] + entries, probe: probe).launched()
        let answer = await test.call(
            "x.m\(count - 1)", "touch", RouteParameters(["number": "5"]))
        #expect(answer == "5")
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        #expect(await test.stopped() == .stopped)
    }
}
