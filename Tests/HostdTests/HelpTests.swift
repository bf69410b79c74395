import TestSupport
import Testing

@testable import ModuleHost

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
                hostd 0.1.0: runs an app that is made of modules

                usage: hostd COMMAND [ARGUMENTS]

                Without a command, hostd runs ./slatefile.json.

                commands:
                  run        run an app until it is stopped
                  check      check a slatefile and show all of its errors
                  graph      show how modules depend on each other
                  new        create an app or a module with tests
                  compose    build a host of the modules of a slatefile
                  schema     print the JSON Schema of slatefiles
                  signals    list the effect of each signal
                  status     show the state of the host
                  why        explain what is wrong or one module or event or URL
                  modules    list the modules and their states
                  health     exit with 0 if the host is ready and healthy
                  wait       wait until the host is ready or a module runs
                  startup    show what the start of the host took its time for
                  timeline   print what happened in the host and when
                  config     print the slatefile in effect with all defaults
                  metrics    print the metrics of the host and its modules
                  routes     list the routes: the URI document
                  open       open a URL and print the reply
                  canopen    check whether a route answers a URL
                  call       call an action of a module and print the reply
                  post       post a message on a topic
                  send       send an event to the host or its inbox
                  inbox      list the inbox; retry or drop dead letters
                  tail       follow the log from its last lines on
                  top        watch what the modules do
                  log-level  show or change what the host logs while it runs
                  reload     reload the slatefile and print the outcome
                  apply      apply a slatefile on probation
                  disable    disable a module beside the slatefile
                  enable     enable a module that was disabled
                  restart    restart a module
                  unload     unload a lazy module until it is needed again
                  stop       stop the host and print the outcome
                  help       show this help or that of a command

                options:
                  -h, --help  show this text; after a command, that command's
                  --version   show the version; with --json, also of what it is composed

                """)
    }

    @Test("each command has a summary of fewer than 60 characters", arguments: Command.builtIn)
    func summary(of command: Command) {
        #expect(command.summary.count < 60)
        #expect(command.summary.first?.isLowercase == true)
        #expect(!command.summary.contains(","))
    }

    @Test(
        "of a command",
        arguments: [["check", "--help"], ["check", "x", "-h"], ["help", "check"]])
    func command(arguments: [String]) throws {
        try expect(
            arguments,
            prints: """
                hostd check: check a slatefile and show all of its errors

                usage: hostd check [--slatefile FILE] [--state-dir DIR] [--json] [FILE]

                Shows each error with its place (file:line:column), the line, and how to correct
                it. The token file, if the slatefile names one, is checked too; its lines are
                not shown. Warnings are about this machine, such as a missing command; they do
                not make the slatefile invalid.

                arguments:
                  FILE  the slatefile to check (default: slatefile.json)

                options:
                  --slatefile FILE  the same as the argument
                  --state-dir DIR   apply what 'disable' has disabled in this state directory
                  --json            print JSON, for programs
                  -h, --help        show this text

                exit codes:
                  0   done
                  64  invalid usage
                  66  no slatefile, or it cannot be read
                  74  input or output failed
                  77  not permitted
                  78  the slatefile is invalid

                examples:
                  hostd check                  check ./slatefile.json
                  hostd check app.json --json  the errors, for an editor

                """)
    }

    @Test("every command that the overview lists has its help")
    func all() throws {
        for name in [
            "run", "check", "new", "schema", "signals", "status", "why", "modules", "metrics",
            "routes", "open", "canopen",
            "call", "post", "send", "inbox", "tail", "top", "stop", "help",
        ] {
            let outcome = try HostProcess.run([name, "--help"])
            #expect(outcome.output.hasPrefix("hostd \(name): "))
            #expect(outcome.exit == .code(0))
        }
    }

    @Test("the version")
    func version() throws { try expect(["--version"], prints: "hostd 0.1.0\n") }
}
