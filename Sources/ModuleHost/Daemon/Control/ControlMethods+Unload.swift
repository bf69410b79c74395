extension ControlMethods {
    /// Adds `unload`, which responds when the module is unloaded, or with the reason why it stays.
    mutating func addUnload(to host: AppHost) {
        add("unload", ModuleParameters.self) { parameters, call in
            host.unload(parameters.module) { call.reply.finish($0) { $0.succeed($1) } }
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
