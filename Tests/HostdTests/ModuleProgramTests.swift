import Glibc
import ModuleHost
import TestSupport
import Testing

/// A Swift module as a program of its own: `UploadsModule` of Tests/EmbeddedHost, which a host starts as `command`.
@Suite("A Swift module as a program", .timeLimit(.minutes(10)))
struct ModuleProgramTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func started() throws -> HostProcess {
        let program = HostProcess.program("EmbeddedHost")
        try folder.write(
            """
            { "slate": 1, "app": "shop",
              "modules": [
                { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true },
                { "id": "com.mm.uploads", "command": ["\(program)", "uploads"] }
              ] }
            """, to: "slatefile.json")
        let host = try HostProcess(["run"], in: folder.path)
        try host.waitForLine(containing: "ready pid=", on: .output)
        return host
    }

    private func send(_ topic: String, _ id: String) throws {
        let sent = try HostProcess.run(
            ["send", "message", "--payload", #"{"topic":"\#(topic)"}"#, "--id", id],
            in: folder.path)
        #expect(sent.exit == .code(0), "\(sent)")
    }

    @Test("it has several events at a time, wants one again later, and has the id of the host")
    func events() throws {
        let host = try started()
        try send("upload.begin", "first")
        try send("upload.begin", "second")
        try host.waitForLine(containing: "begins second", on: .error)
        #expect(!host.textSoFar(.error).contains("ends first"))
        try send("upload.end", "third")
        for id in ["first", "second", "third"] {
            try host.waitForLine(containing: "ends \(id)", on: .error)
        }
        let id = try folder.text(of: ".hostd/inbox/host-id").split(separator: "\n")
        #expect(id.count == 1 && id.first?.utf8.count == 16)
        #expect(host.textSoFar(.error).contains("begins first, host \(id.first ?? "")"))
        try send("upload.later", "fourth")
        try host.waitForLine(containing: "begins fourth again", on: .error)
        try host.waitForLine(containing: "receives events again", on: .error)
        host.send(SIGTERM)
        #expect(try host.waitForExit().exit == .code(0))
    }

    @Test("many that it wants later, before its handlers are suspended, come again in order")
    func later() throws {
        let host = try started()
        let ids = (0..<12).map { "n\($0)" }
        for id in ids { try send("upload.later", id) }
        for id in ids { try host.waitForLine(containing: "ends \(id)", on: .error) }
        host.send(SIGTERM)
        #expect(try host.waitForExit().exit == .code(0))
    }

    @Test("started without a host it says so, and ends")
    func alone() throws {
        let program = HostProcess.program("EmbeddedHost")
        let outcome = try HostProcess.run(["uploads"], program: program, in: folder.path)
        #expect(outcome.exit == .code(0) && outcome.output == "")
        let shell = try HostProcess.run(
            ["-c", "echo hello | '\(program)' uploads"], program: "/bin/sh", in: folder.path)
        #expect(shell.exit == .code(70))
        #expect(
            shell.error.contains(
                "the first line of standard input is not the 'initialize' of a host"), "\(shell)")
    }
}
