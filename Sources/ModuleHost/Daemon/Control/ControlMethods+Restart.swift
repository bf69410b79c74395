/// The parameters of a request for one module.
struct ModuleParameters: Decodable, Sendable {
    let module: String
}

extension ControlMethods {
    /// Adds `restart`, which responds when the module runs again, or with the reason why it does not.
    mutating func addRestart(to host: AppHost) {
        add("restart", ModuleParameters.self) { parameters, call in
            host.restart(parameters.module, origin: call.peer.origin) {
                call.reply.finish($0) { $0.succeed($1) }
            }
        }
    }
}

extension RPCReply {
    /// Answers a request for one module.
    ///
    /// - Parameters:
    ///   - result: The outcome; ``NoSuchModule``, or another error where the app stops.
    ///   - succeed: Writes an outcome as the answer.
    func finish<Outcome>(
        _ result: Result<Outcome, any Error>, _ succeed: (RPCReply, Outcome) -> Void
    ) {
        switch result {
        case .success(let outcome): succeed(self, outcome)
        case .failure(let error as NoSuchModule): fail(RPCError(.notFound, "\(error)"))
        case .failure: fail(RPCError(ofCall: RouteError.stopped))
        }
    }

    fileprivate func succeed(_ outcome: RestartOutcome) {
        switch outcome {
        case .notMade: succeed { $0.object { $0.member("outcome", "not-made") } }
        case .killed: succeed { $0.object { $0.member("outcome", "killed") } }
        case .reload(.stopped): fail(RPCError(ofCall: RouteError.stopped))
        case .reload(.rolledBack(let reason, _)):
            succeed {
                $0.object {
                    $0.member("outcome", "failed")
                    $0.member("reason", reason)
                }
            }
        case .reload(.applied(let plan)) where plan.recreated.isEmpty,
            .reload(.unchanged(let plan)) where plan.recreated.isEmpty:
            succeed { $0.object { $0.member("outcome", "postponed") } }
        case .reload: succeed { $0.object { $0.member("outcome", "restarted") } }
        }
    }
}
