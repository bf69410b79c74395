/// The parameters of `unload`.
private struct UnloadParameters: Decodable, Sendable {
    let module: String
}

extension ControlMethods {
    /// Adds `unload`, which responds when the module is unloaded, or with the reason why it stays.
    mutating func addUnload(to host: Host) {
        add("unload", UnloadParameters.self) { parameters, call in
            host.unload(parameters.module) { result in
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
    fileprivate func succeed(_ outcome: UnloadOutcome) {
        succeed {
            $0.object { json in
                switch outcome {
                case .unloaded: json.member("outcome", "unloaded")
                case .notMade: json.member("outcome", "not-made")
                case .refused(let reason):
                    json.member("outcome", "refused")
                    json.member("reason", reason)
                }
            }
        }
    }
}
