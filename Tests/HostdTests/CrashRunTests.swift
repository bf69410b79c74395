import Glibc
import ModuleHost
import TestSupport
import Testing

/// Hosts that really crash, with the streams and signals of life.
///
/// A sanitizer takes the signals of a crash for its own reports.
@Suite("hostd run: crashes", .enabled(if: !isSanitized), .timeLimit(.minutes(10)))
struct CrashRunTests {
    /// A way to crash: by a message to the module, or by a signal from outside.
    struct Crash: CustomTestStringConvertible, Sendable {
        let name: String
        /// The signals by which it ends a process, depending on the processor.
        let signals: [Int32]
        var testDescription: String { name }

        static let inside = [
            Crash(name: "trap", signals: [SIGILL, SIGTRAP]),
            Crash(name: "null", signals: [SIGSEGV]),
            Crash(name: "overflow", signals: [SIGSEGV]),
            Crash(name: "abort", signals: [SIGABRT]),
        ]
    }

    /// The signals of a crash, and the one of Ctrl-\: Swift's runtime has handlers for all but SYS.
    static let signals = [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS, SIGQUIT]

    private static let host = HostProcess.program("TestHost")

    /// The last of the modules crashes; the one before it receives all that happens.
    private static func slatefile(_ more: String = "") -> String {
        """
        {"slate": 1, "app": "test", "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.journal", "entry": "Modules.JournalModule"},
          {"id": "x.crash", "entry": "TestHost.CrashingModule"\(more)}
        ]}
        """
    }

    /// Posts a message, whose end the command may not live to see.
    private func post(_ topic: String, _ payload: String, to run: HostdRun) throws {
        _ = try HostProcess.run(["post", topic, payload], in: run.folder.path)
    }

    /// What Swift's runtime says while it makes a backtrace.
    private func expectNoBacktrace(_ error: String) {
        for text in ["Backtracing", "Program crashed", "swift-runtime"] {
            #expect(!error.contains(text), "\(text) in \(error)")
        }
    }

    /// Which of the signals of a crash a process has handlers for.
    private func caught(_ process: Int32) throws -> [Int32] {
        let status = try readFile(at: "/proc/\(process)/status", limit: 1 << 16)
        let masks = try SignalMasks(String(decoding: status, as: UTF8.self))
        return Self.signals.filter { masks.caught.contains($0) }
    }

    @Test(
        "a module that crashes ends the host at once, and no module receives anything after that",
        arguments: Crash.inside)
    func inside(_ crash: Crash) throws {
        let first = try HostdRun(Self.slatefile(), program: Self.host).ready()
        try post("crash", "\"\(crash.name)\"", to: first)
        let ended = try first.ended()
        #expect(crash.signals.map(HostProcess.Exit.signal).contains(ended.exit))
        expectNoBacktrace(ended.error)
        // Why it trapped is on stderr all the same.
        #expect(ended.error.contains("Fatal error: as the test wants") == (crash.name == "trap"))
        #expect(try first.journaledEvents() == ["launch", "activate", "message"])
        let second = try HostdRun(nil, in: first.folder, program: Self.host).ready()
        let line = try second.process.waitForLine(containing: "the last host")
        #expect(
            line.hasSuffix(
                "the last host (process \(first.process.processID)) died while "
                    + "'x.crash' handled 'message'"))
        #expect(try second.terminated().exit == .code(0))
    }

    @Test("a signal of a crash, or Ctrl-\\, ends the host at once", arguments: signals)
    func outside(signal: Int32) throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        #expect(try caught(run.process.processID) == [])
        run.process.send(signal)
        let ended = try run.ended()
        #expect(ended.exit == .signal(signal))
        expectNoBacktrace(ended.error)
        #expect(try run.journaledEvents() == ["launch", "activate"])
        let second = try HostdRun(nil, in: run.folder).ready()
        try second.process.waitForLine(containing: "died while no module was running")
        #expect(try second.terminated().exit == .code(0))
    }

    @Test("ABRT ends a host that hangs, as the watchdog of a service manager wants")
    func hung() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "1h", "stop": "1h", "stopAll": "1h"}"#)
        pipe.fill()
        run.process.send(SIGUSR1)
        run.process.send(SIGABRT)
        #expect(try run.ended().exit == .signal(SIGABRT))
    }

    @Test("where SWIFT_BACKTRACE asks for one there is a backtrace, but not of an ABRT")
    func backtrace() throws {
        let environment = ["SWIFT_BACKTRACE": "enable=yes,color=no"]
        let run = try HostdRun(HostdRun.slatefile(), environment: environment).ready()
        let caught = try caught(run.process.processID)
        // Not every build has the handlers.
        #expect(caught.isEmpty || Set(caught) == Set(Self.signals).subtracting([SIGABRT, SIGSYS]))
        run.process.send(SIGABRT)
        let ended = try run.ended()
        #expect(ended.exit == .signal(SIGABRT))
        expectNoBacktrace(ended.error)
    }

    @Test("the process of a module ends at once, and says why", arguments: Crash.inside)
    func isolated(_ crash: Crash) throws {
        let run = try HostdRun(
            Self.slatefile(#", "isolation": "process""#), program: Self.host
        ).ready()
        try post("masks", "null", to: run)
        let masks = try SignalMasks(run.process.waitForLine(containing: "SigBlk:"))
        #expect(masks.blocked.isEmpty && masks.caught.isDisjoint(with: Self.signals))
        try post("crash", "\"\(crash.name)\"", to: run)
        let line = try run.process.waitForLine(containing: " was killed by ")
        #expect(line.contains("its last output was \"TestHost/") == (crash.name == "trap"))
        let ended = try run.terminated()
        #expect(ended.exit == .code(0))
        expectNoBacktrace(ended.error)
    }
}
