import Testing

@testable import ModuleHost

@Suite("Arguments")
struct ArgumentsTests {
    private func hostd() throws -> Program { try Program(.hostd) }

    @Test(
        "both forms of an option, in any order, and what follows --",
        arguments: [
            (["--slatefile", "a", "--log-format=json"], ["slatefile": "a", "log-format": "json"]),
            (["--log-format", "json", "--slatefile=a"], ["slatefile": "a", "log-format": "json"]),
            (["--slatefile=a=b"], ["slatefile": "a=b"]),
            (["--slatefile=-a"], ["slatefile": "-a"]),
            (["--slatefile", "-"], ["slatefile": "-"]),
            (["--help", "-h"], ["help": ""]),
            ([], [:]),
        ])
    func options(words: [String], expected: [String: String]) throws {
        let arguments = try Arguments(words, of: .run, in: hostd())
        #expect(arguments.options == expected)
    }

    @Test(
        "the argument without a dash",
        arguments: [
            (["a.json", "--json"], "a.json"), (["--json", "a.json"], "a.json"),
            (["--", "--json"], "--json"), (["-"], "-"), ([], nil),
        ])
    func operand(words: [String], expected: String?) throws {
        #expect(try Arguments(words, of: .check, in: hostd()).operand == expected)
    }

    @Test("several arguments, where there may be several")
    func repeated() throws {
        let arguments = try Arguments(["drop", "1:1", "--json", "a", "b"], of: .inbox, in: hostd())
        #expect(arguments.operands == ["drop", "1:1", "a", "b"])
    }

    @Test(
        "what makes no sense, and what would",
        arguments: [
            (
                "run", ["--slatefil", "a"],
                "unknown option '--slatefil'; did you mean '--slatefile'?"
            ),
            ("run", ["--slatefil=a"], "unknown option '--slatefil'; did you mean '--slatefile'?"),
            ("run", ["-x"], "unknown option '-x'"),
            ("run", ["--slatefile"], "option '--slatefile' needs a value: --slatefile FILE"),
            ("run", ["--slatefile="], "option '--slatefile' needs a value: --slatefile FILE"),
            ("run", ["--slatefile", ""], "option '--slatefile' needs a value: --slatefile FILE"),
            (
                "run", ["--slatefile", "--state-dir", "d"],
                "option '--slatefile' needs a value: --slatefile FILE"
            ),
            ("run", ["--slatefile=a", "--slatefile=a"], "option '--slatefile' is given twice"),
            ("run", ["--help=yes"], "option '--help' takes no value"),
            (
                "run", ["a.json"],
                "unexpected argument 'a.json'; a slatefile is named by --slatefile"
            ),
            (
                "run", ["--state-dir", "x", "status"],
                "unexpected argument 'status'; a command stands before its options"
            ),
            ("open", [], "URL is missing: the URL, in quotes"),
            ("call", ["com.mm.main"], "ACTION is missing: the name of the action"),
            ("call", ["a", "b", "{}", "c"], "unexpected argument 'c'"),
            (
                "inbox", ["retyr", "1:1"],
                "'retyr' is not a valid ACTION: it is list, retry, drop or path; did you mean 'retry'?"
            ),
            ("inbox", ["retry", ""], "an argument is empty"),
            (
                "run", ["--log-format", "jsno"],
                "'jsno' is not a value of '--log-format', which takes text or json; "
                    + "did you mean 'json'?"
            ),
            (
                "run", ["--log-level=loud"],
                "'loud' is not a value of '--log-level', which takes debug, info, notice, warning "
                    + "or error"
            ),
            ("check", ["a", "b"], "unexpected argument 'b'"),
            ("check", [""], "an argument is empty"),
            ("check", ["--jsom"], "unknown option '--jsom'; did you mean '--json'?"),
        ])
    func diagnostics(command: String, words: [String], message: String) throws {
        let program = try hostd()
        let command = try program.command(named: command)
        do throws(UsageError) {
            _ = try Arguments(words, of: command, in: program)
            Issue.record("accepted")
        } catch {
            #expect(error.message == message)
        }
    }

    @Test("a usage error names the command, its usage, and where to read more")
    func text() throws {
        let hostd = try hostd()
        #expect(
            UsageError.surplusArgument("x", .check, in: hostd).text(in: hostd).string == """
                hostd check: unexpected argument 'x'
                usage: hostd check [--slatefile FILE] [--state-dir DIR] [--json] [FILE]
                see 'hostd check --help'
                """)
        // The usage does not show the values of an argument.
        let operand = Command.new.operands[0]
        #expect(
            UsageError.unknownWord("ap", for: operand, .new).text(in: hostd).string == """
                hostd new: 'ap' is not a valid KIND: it is app or module; did you mean 'app'?
                see 'hostd new --help'
                """)
        #expect(
            UsageError.unknownCommand("chek", in: hostd).text(in: hostd).string == """
                hostd: unknown command 'chek'; did you mean 'check'?
                usage: hostd COMMAND [ARGUMENTS]
                see 'hostd --help'
                """)
    }

    @Test(
        "no line of any help is wider than a terminal", arguments: Command.builtIn.map(\.name)
    )
    func width(name: String) throws {
        let wide = try hostd().command(named: name).helpText(in: hostd())
            .split(separator: "\n").filter { $0.count > 80 }
        #expect(wide == [])
    }
}
