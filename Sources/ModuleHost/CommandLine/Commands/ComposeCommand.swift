extension Command {
    static let compose = Command(
        name: "compose", summary: "build a host of the modules of a slatefile",
        discussion: """
            Clones the repositories that modules name by "git", at a "branch" or a "tag", and takes those
            with a "path" where they are. Builds one program of them, lets it check the slatefile, and
            puts it into DIR/bin under the name of the app: a host with every command of this one.

            The commits are kept in a lock beside the slatefile (slatefile.lock): commit it, and
            every machine builds the same. --update moves all pins, those of packages that SwiftPM chooses
            included, or the pin of one MODULE ('host' is the package ModuleHost).

            Work in DIR/modules is never overwritten: a checkout with changes is used as it is, or is an
            error.

            Composing is trusting: building a package runs its Package.swift, its plug-ins and macros.
            See docs/composing.md.
            """,
        operands: [
            Operand(
                placeholder: "MODULE",
                help: "with --update: the module whose pin moves, or 'host' (default: all)")
        ],
        options: [
            .slatefile,
            Option(
                name: "output", letter: "o", placeholder: "DIR",
                help: "the folder of checkouts and results (default: composed beside FILE)"),
            Option(name: "update", help: "move pins to the newest commits"),
            Option(
                name: "host", placeholder: "SOURCE",
                help:
                    "ModuleHost: a folder or a URL (default: 'host' of FILE, or this program's)"
            ),
            Option(
                name: "only", placeholder: "ID",
                help: "a program of one module and those that it needs, in which it is main"),
            Option(name: "dry-run", help: "print the package, and change nothing"),
            Option(name: "release", help: "optimize"),
            Option(name: "static", help: "optimize, and need no shared library"),
            .json,
        ],
        exitCodes: [
            .success, .noInput, .unavailable, .failed, .cannotCreate, .busy, .invalidSlatefile,
        ],
        exitMeanings: [
            .noInput: "the slatefile, the lock or the package ModuleHost cannot be read",
            .unavailable: "a repository, a branch, a commit or a needed program cannot be reached",
            .failed: "a package does not compile, or local changes are in the way",
            .cannotCreate: "a file or a folder cannot be written",
            .busy: "another compose works in the folder",
            .invalidSlatefile: "the slatefile is invalid, or does not fit its packages",
        ],
        examples: [
            Example(line: "compose", explanation: "build the app of ./slatefile.json"),
            Example(
                line: "compose --update com.mm.push", explanation: "take the newest commit of one"),
            Example(
                line: "compose --only com.mm.push", explanation: "the module as an app of its own"),
            Example(
                line: "compose --static -o /srv/shop", explanation: "one file to deploy"),
        ],
        usageError: { arguments in
            if arguments.operand != nil, !arguments.has("update") {
                return "a MODULE is for '--update'"
            }
            return arguments.has("dry-run") && (arguments.has("update") || arguments.has("json"))
                ? "'--dry-run' goes with neither '--update' nor '--json'" : nil
        },
        run: { arguments in
            let before = Interruption.begin()
            let display = ComposeDisplay(arguments)
            do throws(SlatefileFailure) {
                let path = arguments["slatefile"] ?? defaultSlatefile
                let environment = CurrentProcess.environment()
                let file = try Slatefile.readWithoutEntries(path) { environment[$0] }
                do throws(ComposeError) {
                    let request = try composeRequest(arguments, file, path)
                    let compose = try Compose(
                        request, environment: environment, progress: display.progress)
                    if arguments.has("dry-run") {
                        return Console.write(TerminalText(lines: try compose.preview()))
                    }
                    let result = try compose.run()
                    return display.write(result, lock: request.lockPath)
                } catch {
                    for reason in error.reasons {
                        Console.printError("\(arguments.title): \(reason)")
                    }
                    if let signal = error.signal { Interruption.end(by: signal, before) }
                    return error.exitCode
                }
            } catch {
                Console.printError(error, in: arguments)
                return error.exitCode
            }
        })

    private static func composeRequest(
        _ arguments: Arguments, _ file: (slatefile: Slatefile, text: [UInt8]), _ path: String
    ) throws(ComposeError) -> Compose.Request {
        let folder = parentFolder(of: CurrentProcess.absolute(path)) ?? "/"
        let host = try composedHost(arguments["host"]) ?? file.slatefile.host
        let own = host == nil ? ModuleHostPackage.folder(nil) : nil
        guard let host = host ?? own.map({ .path($0) }) else {
            throw ComposeError(
                """
                the package ModuleHost is not known, for this program is not where it was built: \
                name it in \(path) as "host": {"git": "URL", "tag": "VERSION"}, or by --host SOURCE
                """, .noInput)
        }
        var request = Compose.Request(
            slatefile: file.slatefile, path: path, text: file.text,
            folder: CurrentProcess.absolute(arguments["output"] ?? "\(folder)/composed"), host: host
        )
        request.only = arguments["only"]
        request.options.isRelease = arguments.has("release")
        request.options.isStatic = arguments.has("static")
        if arguments.has("update") {
            request.update = arguments.operand.map { .one($0) } ?? .all
        }
        return request
    }

    /// Returns the source that `--host` names: a folder of this machine, or a repository.
    private static func composedHost(_ text: String?) throws(ComposeError) -> Slatefile.Source? {
        guard let text else { return nil }
        if fileExists(text) { return .path(CurrentProcess.absolute(text)) }
        if let problem = SourceRules.problem(ofRepository: text) {
            throw ComposeError("--host: \(problem)", .usage)
        }
        guard text.contains(":") else {
            throw ComposeError("--host: there is no folder \(quoted(text))", .noInput)
        }
        return .git(text, nil)
    }
}

/// The output of composing, for a person or a program.
private struct ComposeDisplay {
    private let arguments: Arguments
    let progress: ComposeProgress

    init(_ arguments: Arguments) {
        self.arguments = arguments
        progress = ComposeProgress(
            note: { Console.printError($0) },
            show: { Console.showState($0) }, clear: { Console.showState("") })
    }

    func write(_ result: ComposeResult, lock: String) -> ExitCode {
        guard arguments.has("json") else {
            return Console.write(
                "\(result.program)\(result.isChanged ? "" : ": nothing has changed")\n")
        }
        var json = JSONWriter()
        json.object {
            $0.member("program", result.program)
            $0.member("changed", result.isChanged)
            $0.member("lock", lock)
            if let composition = result.composition { composition.write(to: &$0) }
        }
        json.newline()
        return Console.write(json: json.bytes)
    }
}

extension HostComposition {
    /// Writes the packages as a member of an object.
    func write(to json: inout JSONWriter) {
        json.member("packages") {
            $0.objects(for: packages) { package, json in
                json.member("name", package.name)
                json.member("modules", package.modules)
                json.member("source", package.source)
                if let reference = package.reference { json.member("reference", reference) }
                if let commit = package.commit { json.member("commit", commit) }
                json.member("modified", package.isModified)
            }
        }
    }
}
