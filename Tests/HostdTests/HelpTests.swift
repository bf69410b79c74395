import TestSupport
import Testing

@Suite("hostd: help and version", .timeLimit(.minutes(10)))
struct HelpTests {
    private func expect(
        _ arguments: [String], prints text: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try HostProcess.run(arguments)
        #expect(outcome.output == text, sourceLocation: location)
        #expect(outcome.error == "", sourceLocation: location)
        #expect(outcome.exit == .code(0), sourceLocation: location)
    }

    @Test("as a whole", arguments: [["--help"], ["-h"], ["help"]])
    func overview(arguments: [String]) throws {
        try expect(
            arguments,
            prints: """
                hostd 0.1.0: hosts the modules that a slatefile names, and tells them of the app's life

                usage: hostd COMMAND [ARGUMENTS]

                Without a command, hostd runs ./slatefile.json.

                commands:
                  run      run the app of a slatefile until told to stop
                  check    check a slatefile and show every fault in it
                  new      make a module that runs and is tested, to be built upon
                  schema   print the JSON Schema of slatefiles, for editors
                  signals  show what each signal does, and the command that sends it
                  status   show what the host runs, and how it is doing
                  modules  show the modules of the host, and how each is doing
                  health   say by its exit code whether the host is ready and healthy
                  routes   show the routes of the host: the URI document
                  open     open a URL in the host, and print the reply
                  canopen  tell whether the host would open a URL
                  call     call an action of a module, and print the reply
                  post     post a message to the modules that listen to its topic
                  send     send an event; one with a payload also where no host runs
                  inbox    show what is in the inbox; retry or drop what was rejected
                  tail     show what happens in the host, as it happens
                  reload   exchange the slatefile of the host, and return the outcome
                  restart  make one module of the host anew
                  stop     stop the host, wait for its end, and return the outcome
                  help     show what hostd, or one of its commands, does

                options:
                  -h, --help  show this text; after a command, that command's
                  --version   show the version

                """)
    }

    @Test(
        "of a command",
        arguments: [["check", "--help"], ["check", "x", "-h"], ["help", "check"]])
    func command(arguments: [String]) throws {
        try expect(
            arguments,
            prints: """
                hostd check: check a slatefile and show every fault in it

                usage: hostd check [--json] [FILE]

                Shows each fault with its place: file:line:column, the line, and what would be right.
                The file of tokens, where there is one, is checked too; its lines are not shown.
                Warnings are about this machine, such as a command that is missing here; they do not make
                the slatefile invalid.

                arguments:
                  FILE  the slatefile to check (default: slatefile.json)

                options:
                  --json      print JSON, for programs
                  -h, --help  show this text

                exit codes:
                  0   done
                  64  the command line makes no sense
                  66  no slatefile, or it cannot be read
                  74  input or output failed
                  77  not permitted
                  78  the slatefile is invalid

                examples:
                  hostd check                  check ./slatefile.json
                  hostd check app.json --json  the faults, for an editor

                """)
    }

    @Test("every command that the overview lists has its help")
    func all() throws {
        for name in [
            "run", "check", "new", "schema", "signals", "status", "modules", "routes", "open",
            "canopen",
            "call", "post", "send", "inbox", "tail", "stop", "help",
        ] {
            let outcome = try HostProcess.run([name, "--help"])
            #expect(outcome.output.hasPrefix("hostd \(name): "))
            #expect(outcome.exit == .code(0))
        }
    }

    @Test("the version")
    func version() throws { try expect(["--version"], prints: "hostd 0.1.0\n") }
}
