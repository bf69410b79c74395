extension Command {
    static let routes = Command(
        name: "routes", summary: "list the routes: the URI document",
        discussion: """
            Lists the routes of the running host, whose modules may have added and removed some. With
            --offline no host is needed: the routes are those that the classes of the slatefile's modules
            list. Of modules in other languages these are the patterns of "provides"; the rest is known when
            they run. The format of json is stable; html is one self-contained page.
            """,
        options: [
            .slatefile, .stateDirectory,
            Option(
                name: "format", placeholder: "FORMAT",
                choices: URIDocument.Format.allCases.map(\.rawValue), help: "(default: text)"),
            Option(name: "offline", help: "list the routes of the slatefile, without a host"),
            .json,
        ],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: clientExitMeanings,
        examples: [
            Example(line: "routes", explanation: "the routes of the running host"),
            Example(
                line: "routes --offline --format html > uris.html",
                explanation: "a page for people, without a host"),
        ],
        usageError: { $0.formatError },
        run: { arguments in
            let format = arguments.format(URIDocument.Format.self) ?? .text
            return arguments.has("offline")
                ? writeOffline(format, arguments) : askHost(format, arguments)
        })

    private static func writeOffline(
        _ format: URIDocument.Format, _ arguments: Arguments
    ) -> ExitCode {
        do throws(SlatefileFailure) {
            let slatefile = try Slatefile.load(
                arguments["slatefile"] ?? defaultSlatefile,
                environment: CurrentProcess.environment())
            do throws(RouteTableError) {
                let commands = slatefile.modules.filter(\.isEnabled).map(\.isCommand)
                let table = try RouteTable(
                    of: slatefile, withIsolated: true, unmade: { commands[$0] },
                    having: { _ in nil })
                let document = URIDocument(
                    table, app: slatefile.app,
                    incomplete: zip(table.modules, commands).filter(\.1).map(\.0))
                return write(document.rendered(as: format), format)
            } catch {
                Console.printError("\(arguments.title): \(error)")
                return .invalidSlatefile
            }
        } catch {
            Console.printError(error, in: arguments)
            return error.exitCode
        }
    }

    private static func askHost(
        _ format: URIDocument.Format, _ arguments: Arguments
    ) -> ExitCode {
        HostCall.run(
            arguments, instead: "or list the routes of the slatefile with '--offline'"
        ) { call throws(HostClientError) in
            let document = try call.client.call("routes") {
                $0.object { $0.member("format", format.rawValue) }
            }
            guard format != .json, let text = document.string else {
                return Console.write(json: document)
            }
            return write(text, format)
        }
    }

    /// Prints a document unchanged: names from modules are escaped in it.
    private static func write(_ document: String, _ format: URIDocument.Format) -> ExitCode {
        format == .json
            ? Console.write(json: document.utf8) : Console.write(TerminalText(lines: document))
    }
}
