/// The parameters of `restart`.
private struct RestartParameters: Decodable, Sendable {
    let module: String
}

extension ControlMethods {
    /// Adds `restart`, which responds when the module runs again, or with the reason why it does not.
    mutating func addRestart(to host: Host) {
        add("restart", RestartParameters.self) { parameters, call in
            host.restart(parameters.module, origin: call.peer.origin) { result in
                switch result {
                case .success(let outcome): call.reply.succeed(outcome)
                case .failure(let error as NoSuchModule):
                    call.reply.fail(RPCError(.notFound, "\(error)"))
                case .failure: call.reply.fail(RPCError(ofCall: RouteError.stopped))
                }
            }
        }
    }
}

extension RPCReply {
    fileprivate func succeed(_ outcome: RestartOutcome) {
        switch outcome {
        case .notMade: succeed { $0.object { $0.member("outcome", "not-made") } }
        case .killed: succeed { $0.object { $0.member("outcome", "killed") } }
        case .reload(.stopped): fail(RPCError(ofCall: RouteError.stopped))
        case .reload(.rolledBack(let reason)):
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
