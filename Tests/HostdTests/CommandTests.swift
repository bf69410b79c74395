import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd: commands", .timeLimit(.minutes(10)))
struct CommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hostd(
        _ arguments: String..., environment: [String: String] = [:],
        output: HostProcess.Standard = .pipe, error: HostProcess.Standard = .pipe
    ) throws -> HostProcess.Outcome {
        try HostProcess.run(
            arguments, in: folder.path, environment: environment, output: output, error: error)
    }

    private func write(_ text: String, to name: String = "slatefile.json") throws {
        try writeFile(text.utf8, to: folder.path(name))
    }

    /// A slatefile without an error; its modules are no classes, so it says nothing of this binary.
    private let sound = """
        { "slate": 1, "app": "demo",
          "modules": [
            { "id": "com.mm.main", "command": ["true"], "main": true },
            { "id": "com.mm.other", "command": ["true"] }
          ],
          "signals": { "RTMIN+1": { "event": "memory-warning" } } }
        """

    // MARK: check

    @Test("check: a slatefile without an error")
    func checkSound() throws {
        try write(sound)
        let outcome = try hostd("check")
        #expect(outcome.output == "slatefile.json: ok, 2 modules\n")
        #expect(outcome.error == "")
        #expect(outcome.exit == .code(0))

        let json = try hostd("check", "slatefile.json", "--json")
        #expect(
            json.output
                == #"{"ok":true,"file":"slatefile.json","modules":2,"errors":[],"#
                + #""warnings":[]}"#
                + "\n")
    }

    @Test("check: what is missing on this machine is a warning, and the slatefile is valid")
    func checkWarnings() throws {
        try write(
            """
            { "slate": 1, "app": "demo",
              "modules": [{ "id": "x.main", "entry": "Modules.MainModule", "main": true },
                { "id": "x.a", "command": ["pyton3", "a.py"] },
                { "id": "x.b", "command": ["./plain"] }, { "id": "x.c", "command": ["sh"] },
                { "id": "x.d", "command": ["./lost"] }, { "id": "x.e", "command": ["./crlf"] },
                { "id": "x.f", "command": ["./env"] }, { "id": "x.g", "command": ["./good"] },
                { "id": "x.h", "command": ["${PYTHON}", "h.py"] }],
              "signals": { "TERM": { "event": "background" } } }
            """)
        try write("", to: "plain")
        for (name, line) in [
            ("lost", "#! /no/such/python -u\n"), ("crlf", "#!/bin/sh\r\n"),
            ("env", "#!/usr/bin/env python3\r\n"), ("good", "#!/bin/sh -e\n"),
        ] {
            try writeFile(line.utf8, to: folder.path(name), mode: 0o755)
        }
        let warnings = [
            "x.a: there is no program 'pyton3' in PATH",
            "x.b: './plain' in '.' is not executable: it needs 'chmod +x'",
            "x.d: the interpreter '/no/such/python' of './lost' in '.' does not exist: install it, or correct "
                + "the first line of the script",
            "x.e: the interpreter line '#!/bin/sh' of './crlf' in '.' ends with CR LF: save the script with LF "
                + "line ends",
            "x.f: the interpreter line '#!/usr/bin/env python3' of './env' in '.' ends with CR LF: save the "
                + "script with LF line ends",
            "x.h: there is no program '${PYTHON}' in PATH; variables are replaced in 'config' only: write "
                + #"["sh", "-c", "exec \"$NAME\" …"], and add the name to 'env'"#,
            "TERM does not stop the app: 'kill' and service managers send it for that",
        ]
        let outcome = try hostd("check")
        #expect(outcome.exit == .code(0))
        #expect(outcome.output == "slatefile.json: ok, 9 modules\n")
        #expect(
            outcome.error == warnings.map { "slatefile.json: warning: \($0)\n" }.joined())
        let json = try JSONValue(parsing: hostd("check", "--json").output)
        #expect(json["warnings"]?.elements.compactMap(\.string) == warnings)
    }

    @Test("check: every error, with its place")
    func checkErrors() throws {
        try write(
            """
            { "slate": 1, "app": "demo", "modlues": [],
              "modules": [{ "id": "com.mm.main", "command": ["true"], "main": true }],
              "deadlines": { "event": "5" } }
            """, to: "app.json")
        let outcome = try hostd("check", "app.json")
        #expect(outcome.exit == .code(78))
        #expect(outcome.output == "")
        #expect(outcome.error.contains("app.json:1:30: error: unknown key 'modlues'; "))
        #expect(outcome.error.contains("app.json:3:27: error: "))
        #expect(outcome.error.hasSuffix("2 errors in app.json\n"))

        let json = try hostd("check", "--json", "app.json")
        #expect(json.exit == .code(78))
        #expect(json.error == "")
        #expect(
            json.output.hasPrefix(
                #"{"ok":false,"file":"app.json","errors":[{"line":1,"column":30,"#
                    + #""pointer":"/modlues","message":"unknown key 'modlues'; "#))
    }

    @Test("no slatefile", arguments: [["check"], ["signals"], ["check", "slatefile.json/none"]])
    func noSlatefile(arguments: [String]) throws {
        let outcome = try HostProcess.run(arguments, in: folder.path)
        let path = arguments.count > 1 ? arguments[1] : "slatefile.json"
        #expect(outcome.exit == .code(66))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd \(arguments[0]): \(path): no such file
                \(arguments.count > 1 ? "" : "'hostd new app NAME' creates an app with one\n")\
                see 'hostd \(arguments[0]) --help' for how to name another

                """)
    }

    @Test("a folder")
    func directory() throws {
        let outcome = try hostd("check", folder.path)
        #expect(outcome.exit == .code(66))
        #expect(outcome.error == "hostd check: \(folder.path): is a folder, not a file\n")
        let json = try hostd("check", folder.path, "--json")
        #expect(json.exit == .code(66))
        #expect(
            json.output
                == #"{"ok":false,"file":"\#(folder.path)","errors":[{"message":"is a folder, "#
                + #"not a file"}]}"# + "\n")
    }

    @Test("unreadable: a device that would never end")
    func device() throws {
        let outcome = try hostd("check", "/dev/zero")
        #expect(outcome.exit == .code(66))
        #expect(outcome.error == "hostd check: /dev/zero: is not a regular file\n")
    }

    @Test("unreadable: not permitted", .enabled(if: Self.canRunAsNobody))
    func notPermitted() throws {
        let path = folder.path("slatefile.json")
        try writeFile(sound.utf8, to: path, mode: 0o600)
        let asRoot = CurrentProcess.userID == 0
        if asRoot {
            try #require(chmod(folder.path, 0o755) == 0)
        } else {
            try #require(chmod(path, 0) == 0)
        }
        let outcome = try HostProcess.run(["check", path], userID: asRoot ? Self.nobody : nil)
        #expect(outcome.exit == .code(66))
        #expect(outcome.error == "hostd check: \(path): may not be read by this user\n")
    }

    @Test("check: the file of tokens too, by its own name and without its lines")
    func checkTokens() throws {
        try write(sound.dropLast(2) + #", "security": { "tokens": "tokens.json" } }"#)
        let tokens = folder.path("tokens.json")
        try writeFile(
            #"[{"token": "s3cret", "name": "ci", "scopes": ["s://*"]}]"#.utf8, to: tokens,
            mode: 0o600)
        let failed = try hostd("check")
        #expect(failed.exit == .code(78))
        #expect(
            failed.error == """
                tokens.json:1:12: error: a token has 16 to 1024 visible ASCII characters and no space; \
                make one with: head -c 24 /dev/urandom | base64
                1 error in tokens.json

                """)
        let json = try hostd("check", "--json")
        #expect(json.exit == .code(78))
        #expect(
            json.output.hasPrefix(
                #"{"ok":false,"file":"tokens.json","errors":[{"line":1,"column":12,"#
                    + #""pointer":"/0/token","message":"a token has 16 to "#))

        try #require(chmod(tokens, 0o644) == 0)
        let open = try hostd("check")
        #expect(open.exit == .code(77))
        #expect(
            open.error == """
                hostd check: tokens.json: may be used by others than its owner; 'chmod 600' it
                it is 'security.tokens' of slatefile.json:6:84

                """)
        let run = try hostd("run")
        #expect(run.exit == .code(77))
        #expect(run.error.hasPrefix("hostd run: tokens.json: may be used by others"))
    }

    @Test("20 MB")
    func tooLarge() throws {
        try writeFile([UInt8](repeating: 0x20, count: 20_000_000), to: folder.path("large"))
        let outcome = try hostd("check", "large")
        #expect(outcome.exit == .code(78))
        #expect(outcome.error == "hostd check: large: is larger than 16 MiB\n")
    }

    // MARK: schema and signals

    @Test("schema: what editors read")
    func schema() throws {
        let outcome = try hostd("schema")
        #expect(outcome.output == Slatefile.jsonSchema)
        #expect(outcome.output.hasSuffix("}\n"))
        #expect(outcome.exit == .code(0))
    }

    @Test("signals: the table, and for programs")
    func signals() throws {
        try write(sound)
        let outcome = try hostd("signals")
        #expect(outcome.exit == .code(0))
        #expect(
            outcome.output.hasPrefix(
                """
                signal   does                                                 command
                HUP      reload the slatefile                                 \
                kill -HUP $(cat .hostd/hostd.pid)

                """))
        #expect(outcome.output.contains("\nRTMIN+1  memory-warning  "))
        let json = try hostd("signals", "--json", "--state-dir", "there")
        #expect(json.output.hasPrefix(#"{"stateDirectory":"there","running":false,"signals":[{"#))
        let inherited = try hostd("signals", environment: ["STATE_DIRECTORY": "/var/lib/a:/b"])
        #expect(inherited.output.contains("$(cat /var/lib/a/hostd.pid)"))
    }

    @Test("signals: a host that runs is named")
    func signalsOfHost() throws {
        try write(sound)
        let file = try PidFile(claiming: StateDirectory(path: folder.path(".hostd")))
        let outcome = try hostd("signals")
        #expect(outcome.output.contains("kill -TERM \(CurrentProcess.id)\n"))
        #expect(
            outcome.output.contains("A host runs on .hostd, as process \(CurrentProcess.id).\n"))
        withExtendedLifetime(file) {}
    }

    // MARK: Usage and broken streams

    @Test(
        "usage",
        arguments: [
            (["chek"], "hostd: unknown command 'chek'; did you mean 'check'?\n"),
            (["help", "rum"], "hostd: unknown command 'rum'; did you mean 'run'?\n"),
            ([""], "hostd: unknown command ''\n"),
            (["check", "a", "b"], "hostd check: unexpected argument 'b'\n"),
            // No command was typed.
            (["--slatefil=a"], "hostd: unknown option '--slatefil'; did you mean '--slatefile'?\n"),
            (["--versio"], "hostd: unknown option '--versio'; did you mean '--version'?\n"),
            (["-v"], "hostd: unknown option '-v'; did you mean '--version'?\n"),
            (["-V"], "hostd: unknown option '-V'; did you mean '--version'?\n"),
            (["version"], "hostd: unknown command 'version'; did you mean '--version'?\n"),
        ])
    func usage(arguments: [String], message: String) throws {
        let outcome = try HostProcess.run(arguments, in: folder.path)
        #expect(outcome.exit == .code(64))
        #expect(outcome.output == "")
        #expect(outcome.error.hasPrefix(message))
        #expect(outcome.error.contains("\nusage: hostd "))
        #expect(outcome.error.hasSuffix("--help'\n"))
    }

    @Test(
        "what follows --version and --help is checked",
        arguments: [
            (["--version", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
            (["--version", "--json", "junk"], "unexpected argument 'junk'"),
            (["--help", "chekc"], "unknown command 'chekc'; did you mean 'check'?"),
        ])
    func surplus(arguments: [String], message: String) throws {
        let outcome = try HostProcess.run(arguments)
        #expect(outcome.exit == .code(64))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd: \(message)
                usage: hostd COMMAND [ARGUMENTS]
                see 'hostd --help'

                """)
    }

    @Test("an argument that is not UTF-8 is named, and nothing is done")
    func notUTF8() throws {
        let outcome = try HostProcess.run(
            ["-c", #"exec "$0" new "$(printf 'b\374cher\033')""#, HostProcess.hostd],
            program: "/bin/sh", in: folder.path)
        #expect(outcome.exit == .code(64))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd: the argument 'b\\xFCcher\u{FFFD}' is not UTF-8; rename the file, or write the text in UTF-8
                usage: hostd COMMAND [ARGUMENTS]
                see 'hostd --help'

                """)
        #expect(folder.names == [])
    }

    @Test("stdout closed")
    func closedOutput() throws {
        let outcome = try hostd("schema", output: .closed)
        #expect(outcome.exit == .code(74))
        #expect(outcome.error == "hostd: cannot write to stdout: Bad file descriptor\n")
    }

    @Test("stdout full")
    func fullOutput() throws {
        let outcome = try hostd("schema", output: .file("/dev/full"))
        #expect(outcome.exit == .code(74))
        #expect(outcome.error == "hostd: cannot write to stdout: No space left on device\n")
    }

    @Test("stdout whose reader has gone: no complaint")
    func brokenPipe() throws {
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        // Opening waits for the reader, which closes before hostd begins.
        let script =
            #"exec 3>&1; { exec 1>"$1"; read _ <"$2"; "$0" schema; echo $? >&3; } & "#
            + #": <"$1"; echo >"$2"; wait"#
        try #require(mkfifo(folder.path("go"), 0o600) == 0)
        let outcome = try HostProcess.run(
            ["-c", script, HostProcess.hostd, pipe, folder.path("go")], program: "/bin/sh")
        #expect(outcome.output == "74\n")
        #expect(outcome.error == "")
    }

    @Test(
        "stderr closed: the exit code is still right",
        arguments: [HostProcess.Standard.closed, .file("/dev/full")])
    func closedError(error: HostProcess.Standard) throws {
        let outcome = try hostd("check", error: error)
        #expect(outcome.exit == .code(66))
        #expect(outcome.output == "")
    }

    @Test("what a file is opened as is never stdout or stderr")
    func closedStreams() throws {
        try write(sound)
        let outcome = try hostd("check", output: .closed, error: .closed)
        #expect(outcome.exit == .code(74))
        let text = try readFile(at: folder.path("slatefile.json"), limit: 10_000)
        #expect(String(decoding: text, as: UTF8.self) == sound)
    }

    // MARK: As another user

    static let nobody: UInt32 = 65_534

    /// Whether the binary can be run by a user who may not read everything: the tests' own, unless
    /// that is root; then user 65534, where the way to the binary is open to all.
    static let canRunAsNobody: Bool = {
        guard CurrentProcess.userID == 0 else { return true }
        let outcome = try? HostProcess.run(["--version"], userID: nobody)
        return outcome?.exit == .code(0)
    }()
}
