import ModuleHost
import TestSupport
import Testing

/// The environment that a host is started with.
@Suite("hostd: environment variables", .timeLimit(.minutes(10)))
struct EnvironmentTests {
    /// A password in Latin-1.
    private static let latin1 = #"export PASSWORD="$(printf 'caf\351')""#

    private static func slatefile(_ module: String) -> String {
        """
        {"slate": 1, "app": "test", "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.a", \(module)}
        ]}
        """
    }

    private static let error =
        ":3:62: error: environment variable 'PASSWORD' is not UTF-8; set it to text in UTF-8"

    @Test("a setting from a variable that is not UTF-8 is an error, also below --respawn")
    func setting() throws {
        let slatefile = Self.slatefile(
            #""command": ["true"], "config": {"password": "${PASSWORD}"}"#)
        for arguments in [[], ["--respawn"]] {
            let outcome = try HostdRun(slatefile, arguments, shell: Self.latin1).ended()
            #expect(outcome.exit == .code(78))
            #expect(outcome.error.contains("slatefile.json\(Self.error)"), "\(outcome.error)")
        }
        let folder = try TemporaryFolder()
        try folder.write(slatefile, to: "slatefile.json")
        let check = try HostProcess.run(
            ["-c", #"\#(Self.latin1); exec "$0" check"#, HostProcess.hostd], program: "/bin/sh",
            in: folder.path)
        #expect(check.exit == .code(78))
        #expect(check.error.contains("slatefile.json\(Self.error)"), "\(check.error)")
    }

    @Test("the process of a module receives the bytes of such a variable")
    func passedOn() throws {
        let script = """
            printf %s "$PASSWORD" >bytes
            while IFS= read -r line; do
                id=${line#*'"id":'} id=${id%%,*}
                printf '{"jsonrpc":"2.0","id":%s,"result":{"protocol":2,"module":"x.a"}}\\n' "$id"
                case $line in *'"shutdown"'*) exit ;; esac
            done
            """
        for arguments in [[], ["--respawn"]] {
            let folder = try TemporaryFolder()
            try folder.write(script, to: "a.sh")
            let run = try HostdRun(
                Self.slatefile(#""command": ["sh", "a.sh"], "env": ["PASSWORD"]"#), in: folder,
                arguments, shell: Self.latin1
            ).ready()
            #expect(
                try readFile(at: folder.path("bytes"), limit: 100) == Array("caf".utf8) + [0xE9])
            #expect(try run.terminated().exit == .code(0))
        }
    }

    @Test("a state directory whose name is not UTF-8 is refused: it would be another one")
    func stateDirectory() throws {
        let run = try HostdRun(
            HostdRun.slatefile(), shell: #"export STATE_DIRECTORY="$(printf 'st\351')""#)
        let outcome = try run.ended()
        #expect(outcome.exit == .code(64))
        #expect(outcome.error.contains("environment variable 'STATE_DIRECTORY' is not UTF-8"))
        #expect(run.folder.names == ["slatefile.json"])
    }

    @Test("the entry of a module's process, left in the environment, does not make a host one")
    func leftEntry() throws {
        let run = try HostdRun(
            HostdRun.slatefile(), environment: ["MODULEHOST_ENTRY": "Modules.JournalModule"]
        ).ready()
        #expect(try run.terminated().exit == .code(0))
    }
}
