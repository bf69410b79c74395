extension Command {
    static let send = Command(
        name: "send", summary: "send an event to the host or its inbox",
        discussion: """
            An event with a payload goes into the inbox. Once this command prints 'accepted', the event is
            on the disk and will be delivered, by the running host or the next one. Events without a
            payload, such as background, need a running host and are answered after their delivery.
            """,
        operands: [
            Operand(
                placeholder: "EVENT", isRequired: true,
                help: "the event, such as push, open-url, message, or background")
        ],
        options: [
            .slatefile, .stateDirectory,
            Option(
                name: "payload", placeholder: "JSON",
                help: "what the event carries: JSON, @FILE, or - for stdin"),
            Option(
                name: "id", placeholder: "ID",
                help:
                    "the event sent again with this id is delivered once; another event is refused"),
            Option(
                name: "source", placeholder: "TEXT",
                help: "where the event comes from; modules receive it with the event"),
            .traceparent,
            Option(name: "wait", help: "wait for the delivery, and print the result"),
            Option(name: "strict", help: "the same as --wait"),
            .json,
        ],
        exitCodes: clientExitCodes + [.noInput, .ignored],
        exitMeanings: clientExitMeanings.merging([
            .success: "accepted; with --wait, delivered",
            .ignored: "with --wait: ignored in this state, or no module received it",
            .usage:
                "invalid usage, the event cannot take the payload, or the id is another event's",
            .noInput: "the file of the payload cannot be read",
            .unavailable: "no host runs, and this event or --wait needs one",
            .failed: "with --wait: a module failed, or the event is a dead letter",
            .inputOutput:
                "not accepted: the disk is full, or fails; or the host ended before it answered",
            .busy: "busy; try again, unless it says 'accepted': that is still to be delivered",
        ]) { $1 },
        examples: [
            Example(
                line: #"send push --payload '{"aps": {"badge": 3}}' --id order-17"#,
                explanation: "sent twice, delivered once"),
            Example(
                line: "send message --payload @news.json --wait",
                explanation: "print what the modules did"),
            Example(line: "send background", explanation: "as by SIGUSR1"),
        ],
        usageError: { SendArguments.usageError(in: $0) },
        run: { arguments in
            do throws(InputFailure) {
                return try send(SendArguments(arguments), arguments)
            } catch {
                Console.printError("\(arguments.title): \(error.message)")
                return error.exitCode
            }
        })

    private static func send(_ request: SendArguments, _ arguments: Arguments) -> ExitCode {
        let alternative: TerminalText? =
            request.kind.isDurable ? "or leave out '--wait': the next host delivers it" : nil
        return HostCall.run(arguments, instead: alternative) { error in
            recover(from: error, request, arguments)
        } _: { call throws(HostClientError) in
            // No limit on the wait: the host has deadlines of its own.
            let answer = try call.client.call(
                "send", within: request.waits ? nil : HostClient.patience
            ) { request.write(to: &$0) }
            return SendOutcome(answer, isWaitedFor: request.waits).report(arguments)
        }
    }

    /// Appends the event to the inbox if no host took it, or reports why that is not possible.
    ///
    /// - Returns: Nil where there is nothing to do.
    private static func recover(
        from error: HostClientError, _ request: SendArguments, _ arguments: Arguments
    ) -> ExitCode? {
        guard request.kind.isDurable else { return nil }
        switch error {
        case .notRunning, .notListening:
            return request.waits ? nil : leave(request, arguments)
        case .refused(let refusal) where refusal.code == .notRunning:
            return request.waits ? nil : leave(request, arguments)
        case .ended, .timedOut, .noResponse:
            Console.printError(
                """
                \(arguments.title): \(error)
                whether the event was accepted is not known; sent again with the same '--id', it is \
                delivered once
                """)
            return error.exitCode
        default: return nil
        }
    }

    /// Adds an event to the inbox, for a future host.
    private static func leave(_ request: SendArguments, _ arguments: Arguments) -> ExitCode {
        let directory = arguments.stateDirectory
        let slatefile = arguments["slatefile"] ?? defaultSlatefile
        guard fileExists(directory.path) || fileExists(slatefile) else {
            Console.printError(
                """
                \(arguments.title): there is neither a state directory '\(directory.path)' nor a slatefile \
                '\(slatefile)': no host would ever deliver it
                name them with --state-dir or --slatefile
                """)
            return .unavailable
        }
        CurrentProcess.actAsOwner(of: directory.path)
        let folder = InboxFolder(in: directory)
        InboxWait.report(in: folder, arguments)
        do throws(InboxError) {
            return try leave(request, in: folder, arguments)
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return error.exitCode
        }
    }

    private static func leave(
        _ request: SendArguments, in folder: InboxFolder, _ arguments: Arguments
    ) throws(InboxError) -> ExitCode {
        try folder.make()
        let line = request.line
        if let id = request.id {
            var ids = RetainedIDs()
            try ids.scan(folder)
            if let original = try ids.original(of: id, before: nil, in: InboxReader(folder)) {
                let conflict = IDConflict(
                    id, of: try? InboxRecord(parsing: line[...]), and: original.record,
                    at: original.position)
                guard let conflict else { return SendOutcome.duplicate(of: id).report(arguments) }
                Console.printError("\(arguments.title): \(conflict)")
                return .usage
            }
        }
        let positions = try InboxWriter(folder).append([line])
        return SendOutcome.left(at: positions[0], id: request.id).report(arguments)
    }
}
