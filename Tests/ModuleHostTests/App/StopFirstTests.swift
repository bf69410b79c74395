import TestSupport
import Testing

@testable import ModuleHostCore

/// Modules that own what only one instance can have: the old one is stopped before the new one is made.
@Suite("Modules that are replaced stop-first", .timeLimit(.minutes(10)))
struct StopFirstTests {
    private let probe = Probe("StopFirstTests")
    private let main = HostUnderTest.Entry(name: "m")

    private func entries(_ version: Int, more: String = "") -> [HostUnderTest.Entry] {
        [main]
            + ["b", "c"].map { name in
                HostUnderTest.Entry(
                    name: name,
                    more: #""replace": "stop-first""#
                        + (name == "c"
                            ? #", "needs": ["x.b"], "env": ["V\#(version)"]"#
                            : #", "env": ["V\#(version)"]"#)
                        + more,
                    type: "LazyProbe")
            } + [HostUnderTest.Entry(name: "d", more: #""needs": ["x.b"]"#, type: "LazyProbe")]
    }

    /// The entries of modules b and c from a number on.
    private func entries(from start: Int) -> [String] {
        probe.entries.dropFirst(start).filter { $0.hasPrefix("b ") || $0.hasPrefix("c ") }
    }

    @Test("all of a reload are stopped, in reverse order, before the first one is made")
    func order() async throws {
        let test = try await HostUnderTest(entries(1), probe: probe).launched()
        let start = probe.entries.count
        #expect(try await test.reload(entries(2)).text == "applied: recreated x.b, x.c")
        await test.settled()
        #expect(
            entries(from: start) == [
                "b background", "c background", "b terminate", "c terminate", "c deinit",
                "b deinit",
                "b init", "c init", "b launch", "c launch", "b activate", "c activate",
            ])
        // One that needs them stays.
        #expect(probe.entries("d") == ["d init", "d launch", "d activate"])
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "where one fails, those before are started again, as they were",
        arguments: ["init", "launch"])
    func failure(_ step: String) async throws {
        let test = try await HostUnderTest(entries(1), probe: probe).launched()
        let tries = Tries()
        probe.whenLazy("c \(step)") { _ in if tries.next() == 1 { throw TestError() } }
        let start = probe.entries.count
        let outcome = try await test.reload(entries(2)).text
        #expect(outcome == "undone: module 'x.c' failed in \(step): broken")
        await test.settled()
        let made = entries(from: start).filter { $0.hasSuffix("init") || $0.hasSuffix("deinit") }
        #expect(made.suffix(2) == ["b init", "c init"])
        #expect(made.count == 8)
        #expect(await test.statuses().allSatisfy { $0.state == .running })
        let number = RouteParameters(["number": "4"])
        #expect(await test.call("x.c", "touch", number) == "4")
        #expect(await test.call("x.b", "touch", number) == "4")
        // It can be tried again.
        #expect(try await test.reload(entries(3)).text == "applied: recreated x.b, x.c")
        #expect(await test.stopped() == .stopped)
    }

    @Test("where the one before fails, too, the reload has both reasons")
    func failsTwice() async throws {
        let test = try await HostUnderTest(entries(1), probe: probe).launched()
        probe.whenLazy("c init") { _ in throw TestError() }
        #expect(
            try await test.reload(entries(2)).text
                == "undone: module 'x.c' failed in init: broken; and its former instance cannot be started "
                + "again: module 'x.c': it failed: init: broken")
        #expect(await test.statuses().map(\.state) == [.running, .running, .failed, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "calls and events wait for the new instance, and nothing else does",
        arguments: [true, false])
    func waiting(_ isRestart: Bool) async throws {
        let program = try HeldProgram()
        try program.go()
        let folder = try TemporaryFolder()
        let entry = { (more: String) in
            program.entry("b", isRestart ? more : #""replace": "stop-first""# + more)
        }
        let first = HostUnderTest.Entry(name: "a", type: "LazyProbe")
        let test = try await HostUnderTest(
            [main, first, entry("")], top: #""schemes": ["t"]"#, folder: folder, processes: .quick,
            probe: probe
        ).launched()
        let done = Promise<String>()
        if isRestart {
            test.host.restart("x.b", origin: .host, stopsFirst: true) { done.keep("\($0)") }
        } else {
            let slatefile = try HostUnderTest.slatefile(
                [main, first, entry(#", "env": ["HOME"]"#)], top: #""schemes": ["t"]"#, probe: probe
            )
            test.host.reload(slatefile, tokens: .empty, origin: .host) { done.keep("\($0)") }
        }
        await program.starts(test, 2)
        #expect(await test.statuses().map(\.state) == [.running, .running, .replacing])
        async let byName = test.call("x.b", "ping")
        async let byURL = test.open("t://x.b/ping")
        _ = await test.accept()
        try test.host.post("news.one", nil, origin: .host)
        try test.host.post("lazy.one", nil, origin: .host)
        await probe.reached("a lazy.one")
        await probe.reached("a push")
        #expect(!probe.entries.contains("a news.one"))
        try program.go()
        #expect(await done.value.contains("applied"))
        #expect(await byName == #""pong""#)
        #expect(await byURL == #""pong""#)
        _ = await test.recorder.first { $0.message == "news.one" }
        #expect(test.recorder.records.contains { $0.message.hasPrefix("push ") })
        #expect(await test.statuses().map(\.state) == [.running, .running, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("an instance that does not end in time keeps the module as it is")
    func doesNotEnd() async throws {
        let test = try await HostUnderTest(entries(1), probe: probe).launched()
        let door = Door()
        probe.whenLazy("c terminate") { _ in door.pass() }
        async let outcome = test.reload(entries(2))
        await probe.reached("c terminate")
        test.overrun()
        // The time of two steps of a stop, and that of processes after SIGTERM.
        test.time.advance(by: .seconds(60))
        await test.settled()
        door.open()
        let text = try await outcome.text
        #expect(text.hasPrefix("undone: the old instance of x.c has not ended within "))
        await test.caughtUp()
        while await test.statuses().contains(where: { $0.state != .running }) {
            await test.settled()
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop in the middle ends in order")
    func stopped() async throws {
        let program = try HeldProgram()
        try program.go()
        let test = try await HostUnderTest(
            [main, program.entry("b")], processes: .quick, probe: probe
        ).launched()
        let done = Promise<String>()
        test.host.restart("x.b", origin: .host, stopsFirst: true) { done.keep("\($0)") }
        await program.starts(test, 2)
        async let answer = test.call("x.b", "ping")
        await test.settled()
        #expect(await test.stopped() == .stopped)
        #expect(await answer == "\(RouteError.stopped)")
        #expect(await done.value.contains("stopped"))
    }

    @Test("the main module is never stopped first")
    func mainModule() async throws {
        let test = try await HostUnderTest("m", probe: probe).launched()
        let done = Promise<String>()
        test.host.restart("x.m", origin: .host, stopsFirst: true) { done.keep("\($0)") }
        #expect(await done.value.contains("the app cannot be without its main module"))
        #expect(probe.entries("m").count { $0 == "m init" } == 1)
        #expect(await test.stopped() == .stopped)
    }
}

/// Counts tries, from 1 on.
private final class Tries: Sendable {
    private let count = Guarded(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
