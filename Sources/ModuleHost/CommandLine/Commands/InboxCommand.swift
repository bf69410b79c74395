extension Command {
    static let inbox = Command(
        name: "inbox", summary: "list the inbox; retry or drop dead letters",
        discussion: """
              list   list the undelivered events, and the dead letters with their reasons
              retry  deliver dead letters once more
              drop   remove dead letters, and print them
              path   print the folder, to which any program may append

            All actions work on files, whether a host runs or not.
            """,
        operands: [
            Operand(
                placeholder: "ACTION", choices: Action.allCases.map(\.rawValue),
                help: "(default: list)"),
            Operand(
                placeholder: "EVENT", isRepeated: true,
                help: "the dead letters to retry or drop: positions or ids, as 'list' shows them"
            ),
        ],
        options: [
            .slatefile, .stateDirectory, Option(name: "all", help: "retry or drop all of them"),
            Option(
                name: "limit", placeholder: "N",
                help: "how many events 'list' shows of each kind (default: 20)"),
            .json,
        ],
        exitCodes: [.success, .noInput, .unavailable, .failed, .notPermitted],
        exitMeanings: [
            .noInput: "the state directory has no inbox",
            .unavailable: "no dead letter has this position or id",
            .failed: "a dead letter is not an event, and cannot be retried",
            .notPermitted: "the inbox is another user's",
        ],
        examples: [
            Example(line: "inbox", explanation: "undelivered events and dead letters"),
            Example(line: "inbox retry 3:4096", explanation: "deliver it once more"),
            Example(line: "inbox drop --all", explanation: "remove all dead letters"),
        ],
        usageError: usageError,
        run: { arguments in
            let directory = arguments.stateDirectory
            if action(of: arguments) == .path { return path(of: directory, arguments) }
            CurrentProcess.actAsOwner(of: directory.path)
            let folder = InboxFolder(in: directory)
            if let code = obstacle(to: folder, in: directory, arguments) { return code }
            InboxWait.report(in: folder, arguments)
            do throws(InboxError) {
                switch action(of: arguments) {
                case .list, .path:
                    let limit = limit(of: arguments) ?? 0
                    let listing = try InboxListing(of: directory, limit: limit)
                    return listing.report(arguments)
                case .retry:
                    return try DeadLetters(folder).choosing { () throws(InboxError) in
                        try DeadLetterChoice(folder, arguments).retry()
                    }
                case .drop:
                    return try DeadLetters(folder).choosing { () throws(InboxError) in
                        try DeadLetterChoice(folder, arguments).drop()
                    }
                }
            } catch {
                Console.printError("\(arguments.title): \(error)")
                return error.exitCode
            }
        })

    private enum Action: String, CaseIterable {
        case list
        case retry
        case drop
        case path
    }

    private static func action(of arguments: Arguments) -> Action {
        arguments.operand.flatMap(Action.init(rawValue:)) ?? .list
    }

    private static func limit(of arguments: Arguments) -> Int? {
        guard let text = arguments["limit"] else { return 20 }
        return Int(text).flatMap { $0 < 0 ? nil : $0 }
    }

    @Sendable private static func usageError(_ arguments: Arguments) -> String? {
        let action = action(of: arguments)
        let isChoosing = action == .retry || action == .drop
        let hasEvents = arguments.operands.count > 1
        if isChoosing, hasEvents == arguments.has("all") {
            return hasEvents
                ? "events are named, and '--all' is given"
                : "which events? name positions or ids, as '\(arguments.title) list' shows them, or --all"
        }
        if !isChoosing, hasEvents {
            return "'\(action.rawValue)' takes no event; 'retry' and 'drop' do"
        }
        if !isChoosing, arguments.has("all") {
            return "'--all' is for retry and drop"
        }
        if action != .list, arguments.has("limit") { return "'--limit' is for list" }
        if limit(of: arguments) == nil {
            return
                "'\(arguments["limit"] ?? "")' is not a value of '--limit', which takes a whole number"
        }
        return nil
    }

    /// Returns the exit code, with a message on stderr, where there is no inbox that this user may read.
    private static func obstacle(
        to folder: InboxFolder, in directory: StateDirectory, _ arguments: Arguments
    ) -> ExitCode? {
        do throws(FileError) {
            _ = try openFolder(folder.path)
            return nil
        } catch {
            guard error.reason == .accessDenied else {
                Console.printError(
                    "\(arguments.title): the state directory '\(directory.path)' has no inbox: no host ran there"
                )
                return .noInput
            }
            Console.printError(
                """
                \(arguments.title): the inbox of the state directory '\(directory.path)' is another user's; \
                only that user and root may use it
                """)
            return .notPermitted
        }
    }

    private static func path(of directory: StateDirectory, _ arguments: Arguments) -> ExitCode {
        let path = CurrentProcess.absolute(InboxFolder(in: directory).path)
        guard arguments.has("json") else { return Console.write("\(path)\n") }
        var json = JSONWriter()
        json.object { $0.member("path", path) }
        json.newline()
        return Console.write(json: json.bytes)
    }
}
