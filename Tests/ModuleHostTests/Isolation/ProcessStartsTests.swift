import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// A module's process as a script that leaves its number in a file when it starts, and waits before it says
/// what it is until some files are there.
private struct Script {
    let folder: TemporaryFolder

    func entry(_ name: String, waitsFor others: String...) -> HostUnderTest.Entry {
        // There is nothing left to wait for where the test was killed.
        let waits = others.map {
            "while ! [ -s \(folder.path)/\($0) ]; do kill -0 $PPID || exit; done"
        }
        let start = """
            echo 'x.\(name) starts' >&2
            echo $$ >\(folder.path)/\(name)
            \(waits.joined(separator: "\n"))
            """
        return HostUnderTest.Entry(
            name: name, command: ShellModule.command("x.\(name)", start: start))
    }

    /// The number of a process, once that has started.
    func number(_ name: String) -> Int32 {
        while true {
            let bytes = (try? readFile(at: "\(folder.path)/\(name)", limit: 100)) ?? []
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\n"), let number = Int32(text.dropLast()) { return number }
        }
    }

    /// Waits until a process has ended and been asked how.
    func gone(_ number: Int32) async { while kill(number, 0) == 0 { await Task.yield() } }
}

@Suite("Processes that start side by side", .timeLimit(.minutes(10)))
struct ProcessStartsTests {
    private let script: Script

    init() throws { script = Script(folder: try TemporaryFolder()) }

    @Test(
        "one is there when those before it have not said yet what they are; each speaks in its turn"
    )
    func launch() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [
                .init(name: "a"), script.entry("b", waitsFor: "c", "d"),
                script.entry("c", waitsFor: "d"), script.entry("d"),
            ], probe: probe
        ).launched()
        for name in ["b", "c", "d"] {
            _ = await test.recorder.first { $0.message == "x.\(name) starts" }
        }
        let log = test.log
        #expect(
            log.filter { $0.hasSuffix(": made") }.map { $0.prefix(3) } == [
                "x.a", "x.b", "x.c", "x.d",
            ])
        // Each has been there for long; its output is read when those before it are made.
        for (module, before) in [("x.b", "x.a"), ("x.c", "x.b"), ("x.d", "x.c")] {
            let line = try #require(log.firstIndex(of: "\(module): \(module) starts"))
            #expect(log[..<line].contains("\(before): made"))
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("so it is in a reload, where none is started that stays")
    func reload() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [.init(name: "a"), script.entry("b")], probe: probe
        ).launched()
        let number = script.number("b")
        let outcome = try await test.reload([
            .init(name: "a"), script.entry("b"), script.entry("c", waitsFor: "d"),
            script.entry("d"),
        ])
        #expect(outcome.text == "applied: added x.c, x.d")
        #expect(script.number("b") == number)
        #expect(await test.stopped() == .stopped)
    }

    @Test("those whose modules are not made any more are ended")
    func failedLaunch() async throws {
        let probe = Probe()
        probe.when("a init") { [script] _ in
            _ = (script.number("b"), script.number("c"))
            throw TestError()
        }
        let test = try HostUnderTest(
            [
                .init(name: "a", more: #""required": true"#), script.entry("b", waitsFor: "none"),
                script.entry("c"),
            ], probe: probe)
        try test.host.launch()
        #expect(
            await test.end() == .failed("required module 'x.a' failed in init: broken"))
        await script.gone(script.number("b"))
        await script.gone(script.number("c"))
        #expect(test.log.allSatisfy { !$0.hasPrefix("x.b") && !$0.hasPrefix("x.c") })
    }

    @Test("those of a reload that is undone are ended")
    func undone() async throws {
        let probe = Probe()
        probe.when("d init") { [script] _ in
            _ = (script.number("b"), script.number("c"))
            throw TestError()
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        let outcome = try await test.reload([
            .init(name: "a"), .init(name: "d"), script.entry("b", waitsFor: "none"),
            script.entry("c"),
        ])
        #expect(outcome.text == "undone: module 'x.d' failed in init: broken")
        await script.gone(script.number("b"))
        await script.gone(script.number("c"))
        #expect(await test.stopped() == .stopped)
    }
}

extension HostUnderTest {
    fileprivate var log: [String] {
        recorder.records.map { "\($0.module ?? "host"): \($0.message)" }
    }
}
