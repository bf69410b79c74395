import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd run: failed calls in the log", .timeLimit(.minutes(10)))
struct FailedCallTests {
    /// Runs a command, which fails, and returns the line of the log that says so.
    private func line(_ run: HostdRun, _ arguments: String..., containing text: String) throws
        -> String
    {
        let outcome = try HostProcess.run(
            arguments, in: run.folder.path, environment: ["HOSTD_TOKEN": "sesame-0123456789"])
        #expect(outcome.exit != .code(0))
        return try run.process.waitForLine(containing: text)
    }

    @Test("the log says that a refused route exists, and the caller does not learn it")
    func hidden() throws {
        let run = try HostdRun(
            """
            {"slate": 1, "app": "test", "schemes": ["slate"], "config": {"domain": "https://www.example.com"},
             "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.community", "entry": "Modules.CommunityModule"}
            ]}
            """
        ).ready()
        let call = try run.hostd("call", "x.community", "signOut")
        #expect(call.exit == .code(69))
        #expect(!call.error.contains("exists") && !call.error.contains("local"), "\(call.error)")
        let note = "; the route exists and is local, which the caller does not learn"
        let line = try run.process.waitForLine(
            containing: "call of x.community signOut failed: ")
        #expect(
            line.contains("no action 'signOut' of 'x.community'\(note) origin="), "\(line)")
        let open = try run.hostd("open", "slate://x.community/signOut")
        #expect(open.exit == .code(69))
        #expect(!open.error.contains("exists") && !open.error.contains("local"), "\(open.error)")
        try run.process.waitForLine(
            containing: "no route for 'slate://x.community/signOut'\(note)")
        let sent = try run.hostd(
            "send", "open-url", "--payload", #"{"url": "slate://x.community/signOut"}"#,
            "--wait")
        #expect(!sent.output.contains("exists"), "\(sent.output)")
        try run.process.waitForLine(
            containing: "not opened: no route for 'slate://x.community/signOut'\(note)")
        _ = try run.hostd("call", "x.community", "signOff")
        let other = try run.process.waitForLine(
            containing: "call of x.community signOff failed: ")
        #expect(!other.contains("exists"), "\(other)")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "a call and an open that fail leave a line: who, what, why; never a token or a query"
    )
    func lines() throws {
        let run = try HostdRun(HostdRun.shippedSlatefile()).ready()
        let lines = [
            try line(
                run, "call", "com.mm.community", "postz",
                containing:
                    "call of com.mm.community postz failed: no action 'postz' of 'com.mm.community'"
            ),
            try line(
                run, "call", "com.mm.community", "signOut",
                containing: "call of com.mm.community signOut failed: no action"),
            try line(
                run, "open", "slate://com.mm.community/userInfo?style=secret-4711",
                containing: "open of slate://com.mm.community/userInfo failed: parameter 'style'"),
        ]
        for line in lines {
            #expect(line.contains(" notice "), "\(line)")
            #expect(line.contains("origin=\"control from pid "), "\(line)")
            #expect(line.contains(" (uid \(getuid()))\""), "\(line)")
            #expect(!line.contains("sesame"), "\(line)")
        }
        #expect(!lines[2].contains("userInfo?"))
        #expect(try run.terminated().exit == .code(0))
    }
}
