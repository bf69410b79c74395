import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// A failed module that is tried again counts as failed until it runs, and only one instance of it is there.
@Suite("Attempts with failed modules", .timeLimit(.minutes(10)))
struct AttemptTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("AttemptTests")

    private func touch(_ module: String, of test: HostUnderTest) async -> String {
        await test.call("x.\(module)", "touch", RouteParameters(["number": "7"]))
    }

    @Test("what is left of a failed instance is released before the next one is made")
    func released() async throws {
        probe.fail("b launch", times: 2)
        let test = try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "b", more: #""retry": true"#)], probe: probe
        ).launched()
        for _ in 0..<20 where await test.failedCount() > 0 {
            test.time.advance(by: .milliseconds(125))
            await test.calm()
        }
        #expect(
            probe.entries("b") == [
                "b init", "b launch", "b deinit", "b init", "b launch", "b deinit", "b init",
                "b launch", "b activate",
            ])
        #expect(test.recorder.records.count { $0.message == "runs again" } == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("calls have the reason at once, in whatever step it fails, until it runs")
    func calls() async throws {
        let step = Atomic(0)
        probe.whenLazy("l launch") { _ in
            if step.load(ordering: .relaxed) == 0 { throw TestError(description: "no disk") }
        }
        probe.whenLazy("l init") { _ in
            if step.load(ordering: .relaxed) == 1 { throw TestError(description: "no memory") }
        }
        let test = try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "l", more: #""retry": true"#, type: "LazyProbe")],
            probe: probe
        ).launched()
        #expect(await touch("l", of: test).contains("launch: no disk"))
        step.store(1, ordering: .relaxed)
        for _ in 0..<20 where await test.statuses()[1].reason?.contains("memory") != true {
            test.time.advance(by: .milliseconds(125))
            await test.calm()
        }
        #expect(await touch("l", of: test).contains("init: no memory"))
        #expect(test.host.app.openInModule().health.failed.map(\.text) == ["x.l"])
        step.store(2, ordering: .relaxed)
        for _ in 0..<20 where await test.failedCount() > 0 {
            test.time.advance(by: .milliseconds(500))
            await test.calm()
        }
        #expect(await touch("l", of: test) == "7")
        #expect(test.host.app.openInModule().health.failed.isEmpty)
        let counts = test.host.currentMetrics
        #expect(counts.modulesRunning == 2 && counts.modulesFailed == 0)
        #expect(await test.stopped() == .stopped)
    }

    /// The module `a`, and a program `b`, which is tried again.
    private func entries(_ program: HeldProgram) -> [Entry] {
        [Entry(name: "a"), program.entry("b", #""retry": true"#)]
    }

    /// A host of these whose program has exited once, and whose process starts again.
    private func starting(
        _ program: HeldProgram, in folder: TemporaryFolder? = nil
    ) async throws -> HostUnderTest {
        try program.go("exit")
        let test = try await HostUnderTest(
            entries(program), folder: folder, processes: .quick, probe: probe
        ).launched()
        _ = await test.recorder.first { $0.message.hasPrefix("restarting in ") }
        test.time.advance(by: .milliseconds(125))
        await program.starts(test, 2)
        return test
    }

    @Test(
        "while its process starts, a program is a failed one, and durable events wait for it in order"
    )
    func program() async throws {
        let (folder, program) = (try TemporaryFolder(), try HeldProgram())
        let test = try await starting(program, in: folder)
        #expect(await test.statuses().map(\.state) == [.running, .failed])
        #expect(await test.statuses()[1].reason?.contains("ended with code 3") == true)
        let answer = await test.call("x.b", "ping")
        #expect(!answer.contains("pong"))
        for _ in 0..<2 {
            guard case .done(let done) = await test.outcome() else {
                Issue.record("not delivered")
                return
            }
            #expect(done.waitsFor.map(\.text) == ["x.b"])
        }
        try program.go()
        let line = await test.recorder.first { $0.message.hasPrefix("runs again") }
        #expect(line.message == "runs again; 2 events of the inbox wait for it")
        func heard() -> [String] {
            test.recorder.records.map(\.message).filter { $0.hasPrefix("push ") }
        }
        while heard().count < 2 { await Task.yield() }
        #expect(heard() == heard().sorted())
        await test.caughtUp()
        #expect(await test.call("x.b", "ping") == #""pong""#)
        #expect(await test.statuses().map(\.state) == [.running, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("while it is made again, the black box says what waits for it")
    func noted() async throws {
        let folder = try TemporaryFolder()
        let tries = Atomic(0)
        let noted = Guarded<[Int]>([])
        probe.when("b init") { _ in
            let contents = BlackBox.Contents(in: StateDirectory(path: folder.path))
            noted.withLock { $0.append(contents?.progress?.behind.count ?? 0) }
            if tries.add(1, ordering: .relaxed).newValue < 3 { throw TestError() }
        }
        let test = try await HostUnderTest.durable(
            "a", "b", in: folder, more: ["b": #""retry": true"#], probe: probe
        ).launched()
        _ = await test.outcome("waits")
        while await test.failedCount() > 0 {
            test.time.advance(by: .milliseconds(50))
            await test.calm()
        }
        await probe.reached("b \(try #require(probe.received("a").first))")
        #expect(noted.withLock { $0 } == [0, 1, 1])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the process of a program does not start before what that needs runs")
    func need() async throws {
        probe.fail("c init")
        let program = try HeldProgram()
        let test = try await HostUnderTest(
            [
                Entry(name: "a"), Entry(name: "c", more: #""retry": true"#),
                program.entry("b", #""needs": ["x.c"]"#),
            ], processes: .quick, probe: probe
        ).launched()
        let recorder = test.recorder
        @Sendable func starts() -> Int { recorder.records.count { $0.message == "starts" } }
        let before = starts()
        let noted = Guarded<[Int]>([])
        probe.when("c init") { _ in
            let count = starts()
            let attempts = noted.withLock {
                $0.append(count)
                return $0.count
            }
            if attempts == 1 { throw TestError() }
        }
        while noted.withLock({ $0.count }) < 2 {
            test.time.advance(by: .milliseconds(50))
            await test.calm()
        }
        while starts() == before { await Task.yield() }
        #expect(noted.withLock { $0 } == [before, before])
        #expect(await test.statuses().map(\.state) == [.running, .running, .failed])
        try program.go()
        _ = await test.recorder.first { $0.module == "x.b" && $0.message == "runs again" }
        #expect(await test.call("x.b", "ping") == #""pong""#)
        #expect(
            test.recorder.records.count { $0.message == "restarting with what it needs" } == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("the routes of a program are known while it fails again")
    func routes() async throws {
        let program = try HeldProgram()
        try program.go()
        let test = try await HostUnderTest(
            entries(program), processes: .quick, probe: probe
        ).launched()
        #expect(await test.call("x.b", "ping") == #""pong""#)
        test.host.onLane { app, _ in app.markFailed(app.records[1], "run", TestError()) }
        #expect(await test.call("x.b", "ping").contains("run: broken"))
        try program.go("exit")
        while await test.statuses()[1].reason?.contains("ended with code 3") != true {
            test.time.advance(by: .milliseconds(50))
            await test.calm()
        }
        #expect(await test.call("x.b", "ping").contains("ended with code 3"))
        try program.go()
        while await test.failedCount() > 0 {
            test.time.advance(by: .milliseconds(50))
            await test.calm()
        }
        #expect(await test.call("x.b", "ping") == #""pong""#)
        #expect(await test.stopped() == .stopped)
    }

    @Test("the URLs of one with 'instead' come to it again once, however often it fails in between")
    func instead() async throws {
        probe.fail("b launch", times: 3)
        let test = try await HostUnderTest(
            [
                Entry(name: "a"),
                Entry(name: "b", more: #""retry": true, "instead": "https://m/*""#),
            ],
            probe: probe
        ).launched()
        for _ in 0..<50 where await test.failedCount() > 0 {
            test.time.advance(by: .milliseconds(125))
            await test.calm()
        }
        #expect(probe.entries("b").count { $0 == "b launch" } == 4)
        for text in ["its URLs and calls go to", "its URLs and calls come to it again"] {
            #expect(test.recorder.records.count { $0.message.hasPrefix(text) } == 1)
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop does not wait for the process of an attempt")
    func stop() async throws {
        let test = try await starting(try HeldProgram())
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reload of others leaves an attempt alone; one that removes the module ends it")
    func reload() async throws {
        let program = try HeldProgram()
        let test = try await starting(program)
        #expect(
            try await test.reload(entries(program) + [Entry(name: "c")]).text
                == "applied: added x.c")
        #expect(await test.statuses().map(\.state) == [.running, .failed, .running])
        #expect(try await test.reload("a").text == "applied: removed x.b, x.c")
        #expect(await test.statuses().map(\.state) == [.running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("after a reload of others the attempt goes on")
    func reloaded() async throws {
        let program = try HeldProgram()
        let test = try await starting(program)
        #expect(
            try await test.reload(entries(program) + [Entry(name: "c")]).text
                == "applied: added x.c")
        try program.go()
        _ = await test.recorder.first { $0.message == "runs again" }
        #expect(await test.call("x.b", "ping") == #""pong""#)
        #expect(await test.stopped() == .stopped)
    }
}
