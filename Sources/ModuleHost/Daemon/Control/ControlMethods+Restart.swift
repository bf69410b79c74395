/// The parameters of a request for one module.
struct ModuleParameters: Decodable, Sendable {
    let module: String
}

/// The parameters of a restart.
private struct RestartParameters: Decodable, Sendable {
    let module: String
    /// Whether the old instance is stopped before the new one is made, whatever the entry says.
    let stopFirst: Bool?
}

extension ControlMethods {
    /// Adds `restart`, which responds when the module runs again, or with the reason why it does not.
    mutating func addRestart(to host: AppHost, _ notes: RestartNotes) {
        add("restart", RestartParameters.self) { parameters, call in
            let name = parameters.module
            host.restart(
                name, origin: call.peer.origin, stopsFirst: parameters.stopFirst == true
            ) { result in
                // What a module runs is known in its turn, and is not essential.
                host.read(within: .seconds(2), first: true) {
                    $0.moduleStatuses.first { $0.id.text == name }
                } _: { module in
                    call.onControlThread {
                        let module = try? module.get()
                        call.reply.finish(result) { $0.succeed($1, notes.texts(about: module)) }
                    }
                }
            }
        }
    }
}

/// The facts that a restart does not change, though its caller may expect that.
struct RestartNotes: Sendable {
    private let reloader: SlatefileReloader?
    private let hostStart: WallTime

    /// - Parameters:
    ///   - reloader: The reloader of the slatefile; nil for none.
    ///   - hostStart: The start of the host.
    init(of reloader: SlatefileReloader?, since hostStart: WallTime) {
        self.reloader = reloader
        self.hostStart = hostStart
        // The file as it is at the start of the host.
        _ = RunningProgram.file
    }

    /// Returns the facts after a restart, each in one line.
    ///
    /// - Parameter module: The module that was restarted; nil where its status is not known.
    func texts(about module: ModuleStatus?) -> [String] {
        var texts: [String] = []
        if let program = module?.process?.program, program.isPlaced(after: hostStart) {
            texts.append(
                "it runs \(excerpt(program.path, limit: 400)) as written at \(program.written.iso8601)"
            )
        }
        if let file = RunningProgram.file, file.isReplaced {
            texts.append(
                "\(excerpt(file.path, limit: 400)) was replaced since the host started: its modules run the former "
                    + "file, as written at \(file.written.iso8601), until the host is restarted")
        }
        if let reloader, reloader.hasFileChanged {
            let options = reloader.options
            texts.append(
                "\(excerpt(options.slatefile, limit: 400)) has changed, and the slatefile in effect has not: "
                    + "'\(options.program.name) reload' applies the change")
        }
        return texts
    }
}

extension RPCReply {
    /// Answers a request for one module.
    ///
    /// - Parameter result: The outcome; ``NoSuchModule``, or another error where the app stops.
    func finish<Outcome>(
        _ result: Result<Outcome, any Error>, _ succeed: (RPCReply, Outcome) -> Void
    ) {
        switch result {
        case .success(let outcome): succeed(self, outcome)
        case .failure(let error as NoSuchModule): fail(RPCError(error))
        case .failure: fail(RPCError(ofCall: RouteError.stopped))
        }
    }

    fileprivate func succeed(_ outcome: RestartOutcome, _ notes: [String]) {
        func succeed(_ outcome: String, reason: String? = nil) {
            self.succeed {
                $0.object {
                    $0.member("outcome", outcome)
                    if let reason { $0.member("reason", reason) }
                    if !notes.isEmpty { $0.member("notes", notes) }
                }
            }
        }
        switch outcome {
        case .notMade: succeed("not-made")
        case .killed: succeed("killed")
        case .reload(.stopped): fail(RPCError(ofCall: RouteError.stopped))
        case .reload(.rolledBack(let reason)):
            succeed("failed", reason: reason)
        case .reload(.applied(let plan)) where plan.recreated.isEmpty,
            .reload(.unchanged(let plan)) where plan.recreated.isEmpty:
            succeed("postponed")
        case .reload: succeed("restarted")
        }
    }
}
