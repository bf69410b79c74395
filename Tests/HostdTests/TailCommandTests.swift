import Glibc
import TestSupport
import Testing

@testable import ModuleHost

@Suite("hostd tail", .timeLimit(.minutes(10)))
struct TailCommandTests {
    @Test("waits for a host, follows it at a level of its own, and ends with it")
    func later() throws {
        let folder = try TemporaryFolder()
        let tail = try HostProcess(["tail", "--level", "debug"], in: folder.path)
        try tail.waitForLine(
            containing: "hostd tail: no host runs on the state directory '.hostd' ('--state-dir' "
                + "chooses another one); waiting for one")
        let run = try HostdRun(
            HostdRun.slatefile(), in: folder, ["--log-level", "warning"]
        ).ready()
        try tail.waitForLine(containing: " follows", on: .output)
        _ = try run.hostd("send", "memory-warning", "--wait")
        try tail.waitForLine(containing: " memory-warning  ", on: .output)
        #expect(!(try run.terminated().error).contains("memory-warning"))
        #expect(try tail.waitForExit().exit == .code(0))
    }

    @Test("earlier lines: as many as asked for, about a module or an event, and then the next")
    func earlier() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        func warn() throws { _ = try run.hostd("send", "memory-warning", "--wait") }
        func tail(_ arguments: String...) throws -> HostProcess {
            try HostProcess(["tail"] + arguments, in: run.folder.path)
        }
        for _ in 0..<12 { try warn() }
        _ = try run.hostd("restart", "x.journal")
        let events = try tail("-n", "3", "--event", "memory-warning")
        let module = try tail("--since", "1h", "--module", "x.journal", "--json")
        let none = try tail("--lines=0", "--level=debug")
        let many = try tail()
        try events.waitForLine(containing: "memory-warning", on: .output, count: 3)
        try module.waitForLine(containing: "x.journal", on: .output)
        try none.waitForLine(containing: " follows", on: .output)
        try warn()
        try events.waitForLine(containing: "memory-warning", on: .output, count: 4)
        #expect(try run.terminated().exit == .code(0))
        let shown = try events.waitForExit().output.split(separator: "\n")
        #expect(shown.count == 4 && shown.allSatisfy { $0.contains("  memory-warning  ") })
        for line in try module.waitForExit().output.split(separator: "\n") {
            #expect(try JSONValue(parsing: String(line)).text.contains("x.journal"))
        }
        let late = try none.waitForExit().output.split(separator: "\n")
        #expect(late.count { $0.contains("  memory-warning  ") } == 1)
        let output = try many.waitForExit().output
        #expect(output.split(separator: "\n").count >= 10 && output.contains("x.journal"))
    }

    @Test(
        "arguments that make no sense",
        arguments: [
            (["-n", "many"], "'many' is not a value of '--lines', which takes a number from 0 to"),
            (["--lines", "1001"], "'1001' is not a value of '--lines'"),
            (["--since", "soon"], "'soon' is not a value of '--since': it is a duration such as"),
            (["--since", "launch"], "'launch' is not a value of '--since'"),
            (["--event", "pull"], "'pull' is not a value of '--event'"),
            (["--level", "loud"], "'loud' is not a value of '--level'"),
        ])
    func usage(arguments: [String], error: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(["tail"] + arguments, in: folder.path)
        #expect(outcome.exit == .code(64))
        #expect(outcome.error.contains(error), "\(outcome.error)")
    }

    @Test("a module that the host has not: 69, and the nearest one")
    func unknown() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let outcome = try run.hostd("tail", "--module", "x.jurnal")
        #expect(outcome.exit == .code(69))
        #expect(outcome.output == "")
        #expect(
            outcome.error == "hostd tail: no module 'x.jurnal'; did you mean 'x.journal'?\n")
    }
}
