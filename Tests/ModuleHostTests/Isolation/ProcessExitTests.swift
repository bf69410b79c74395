import Testing

@testable import ModuleHostCore

@Suite("End of a module's process")
struct ProcessExitTests {
    private func text(
        _ cause: ProcessExit.Cause, _ exit: ChildProcess.Exit, _ lastLines: [String] = []
    ) -> String {
        "\(ProcessExit(processID: 4711, cause: cause, exit: exit, lastLines: lastLines))"
    }

    @Test(
        "how it ended, in words",
        arguments: [
            (.itself, .code(0), "process 4711 ended with code 0"),
            (.itself, .code(3), "process 4711 ended with code 3"),
            (.itself, .signal(11), "process 4711 was killed by SIGSEGV"),
            (.asked, .code(0), "process 4711 ended with code 0"),
            (.asked, .signal(9), "process 4711 was killed by SIGKILL"),
            (.demand, .signal(9), "process 4711 was killed, to be started again"),
            (.closedOutput, .signal(9), "process 4711 closed its output, and was killed"),
            (
                .violation("answered request 3, which is not pending"), .signal(9),
                "process 4711 answered request 3, which is not pending, and was killed"
            ),
            (
                .silence("answer 'event'", .seconds(2)), .signal(9),
                "process 4711 did not answer 'event' within 2s, and was killed"
            ),
            // Nothing ran: there is no process to name.
            (
                .notStarted("cannot start 'x': No such file or directory"), .code(0),
                "cannot start 'x': No such file or directory"
            ),
        ] as [(ProcessExit.Cause, ChildProcess.Exit, String)])
    func causes(cause: ProcessExit.Cause, exit: ChildProcess.Exit, text: String) {
        #expect(self.text(cause, exit) == text)
    }

    @Test("what it said last: three lines, each as it may be shown")
    func lastLines() {
        #expect(
            text(.itself, .code(1), ["a"])
                == #"process 4711 ended with code 1; its last output was "a""#)
        #expect(
            text(.demand, .signal(9), ["a", "b", "\u{1B}[2J", "d"])
                == #"process 4711 was killed, to be started again; "#
                + #"its last output was "b", "\#u{FFFD}[2J", "d""#)
        let long = String(repeating: "x", count: 61)
        #expect(
            text(.itself, .code(1), [long])
                == "process 4711 ended with code 1; its last output was \"\(long.dropLast())…\"")
        let reason = "\(long): Fatal error: \(long)"
        #expect(
            text(.itself, .code(1), ["a", reason, "b"])
                == "process 4711 ended with code 1; its last output was \"\(reason)\"")
        // Of another one, or of none.
        #expect(text(.notStarted("cannot start"), .code(0), ["a"]) == "cannot start")
    }
}
