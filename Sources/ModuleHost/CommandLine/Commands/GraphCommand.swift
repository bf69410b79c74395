extension Command {
    static let graph = Command(
        name: "graph", summary: "show how modules depend on each other",
        discussion: """
            Shows the enabled modules of a slatefile with the modules that they need, the services
            that they provide and use, the routes that they call, and their topics, as far as their
            classes declare it. No host is needed. The formats are text, dot for Graphviz, svg for a
            picture, and json, whose form is stable.
            """,
        operands: [
            Operand(placeholder: "FILE", help: "the slatefile (default: slatefile.json)")
        ],
        options: [
            .slatefileArgument,
            Option(
                name: "format", placeholder: "FORMAT",
                choices: AppGraph.Format.allCases.map(\.rawValue), help: "(default: text)"),
            .json,
        ],
        exitCodes: [.success, .noInput, .invalidSlatefile],
        examples: [
            Example(line: "graph", explanation: "the modules of ./slatefile.json"),
            Example(line: "graph --format svg > app.svg", explanation: "a picture of them"),
        ],
        usageError: { $0.formatError ?? $0.slatefileTwice },
        run: { arguments in
            let format = arguments.format(AppGraph.Format.self) ?? .text
            do throws(SlatefileFailure) {
                let slatefile = try Slatefile.load(
                    arguments.slatefileArgument,
                    environment: CurrentProcess.environment())
                let graph = AppGraph(of: slatefile).rendered(as: format)
                return format == .json
                    ? Console.write(json: graph.utf8) : Console.write(TerminalText(lines: graph))
            } catch {
                Console.printError(error, in: arguments)
                return error.exitCode
            }
        })
}
