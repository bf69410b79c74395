import ModuleHost
import TestSupport
import Testing

/// A real host whose module says things that are meant for the terminal of a user who asks about it.
@Suite("Hostile modules", .timeLimit(.minutes(10)))
struct HostileModuleTests {
    private static let evil = #"no \u001b[2J\u001b]0;pwned\u0007\nFORGED LINE \u009b31m\u202etxt"#
    private static let shown =
        #"no \u{1b}[2J\u{1b}]0;pwned\u{07}\nFORGED LINE \u{9b}31m\u{202e}txt"#

    /// A program that answers every request with the error, and says it on stderr, too.
    private static let program = #"""
        printf 'to stderr \033[2J\nFORGED LINE\n' >&2
        while IFS= read -r line; do
            id=${line#*'"id":'} id=${id%%,*}
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32005,"message":"%s"}}\n' "$id" '\#(evil)'
        done
        """#

    private static func slatefile(env: String) throws -> String {
        let command = String(
            decoding: try JSONEncoding.bytes(["/bin/sh", "-c", program]), as: UTF8.self)
        return """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.evil", "command": \(command), "env": [\(env)]}
            ]}
            """
    }

    private func check(
        _ outcome: HostProcess.Outcome, isJSON: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) {
        for text in [outcome.output, outcome.error] {
            let problem = HostileText.problem(in: text, isJSON: isJSON)
            #expect(problem == nil, "\(text.debugDescription)", sourceLocation: location)
        }
    }

    @Test("an error that clears the screen and forges a line is shown, and not obeyed")
    func error() throws {
        let run = try HostdRun(try Self.slatefile(env: "")).ready()
        let modules = try run.hostd("modules")
        #expect(modules.output.contains("x.evil  failed"))
        #expect(modules.unwrapped.contains(Self.shown))
        check(modules)

        let restart = try run.hostd("restart", "x.evil")
        #expect(restart.exit == .code(70))
        #expect(restart.error.contains(Self.shown))
        check(restart)

        // What it is made of has changed: it is recreated, and refuses.
        try run.folder.write(try Self.slatefile(env: #""HOME""#), to: "slatefile.json")
        let reload = try run.hostd("reload")
        #expect(reload.exit == .code(70))
        #expect(reload.error.contains(Self.shown))
        check(reload)

        let status = try run.hostd("status")
        #expect(status.output.contains("\nreload        rolled-back at "))
        #expect(status.output.contains(Self.shown))
        check(status)

        for command in ["modules", "status", "health"] {
            let json = try run.hostd(command, "--json")
            check(json, isJSON: true)
            let value = try JSONValue(parsing: json.output)
            guard command == "modules" else { continue }
            let reason = value.elements.compactMap { $0["reason"]?.string }.joined()
            // A program gets what the module said.
            #expect(reason.contains("\u{1B}[2J") && reason.contains("\nFORGED LINE"))
        }
        let outcome = try run.terminated()
        #expect(outcome.error.contains("FORGED LINE"))
        check(outcome)
    }

    @Test("so is what stands in a slatefile in place of an entry")
    func entry() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            #"{"slate": 1, "app": "a", "modules": [{"id": "x.a", "entry": "A\u001b[2J\nFORGED LINE.B", "main": true}]}"#,
            to: "slatefile.json")
        let outcome = try HostProcess.run(["check"], in: folder.path)
        #expect(outcome.exit == .code(78))
        #expect(outcome.error.contains("'A\u{FFFD}[2J\u{FFFD}FORGED LINE.B' is not an entry"))
        check(outcome)
        check(try HostProcess.run(["check", "--json"], in: folder.path), isJSON: true)
    }
}
