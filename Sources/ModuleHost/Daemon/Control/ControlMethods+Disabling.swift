private struct DisableParameters: Decodable, Sendable {
    let module: String
    /// Whether the modules that need it are disabled, too.
    let withDependents: Bool?
}

extension ControlMethods {
    /// Adds `disable` and `enable`, which respond when the reload is over by which they take effect.
    mutating func addDisabling(by reloader: SlatefileReloader) {
        add("disable", DisableParameters.self) { parameters, call in
            let change = DisabledModules.Change.disable(
                withDependents: parameters.withDependents == true)
            reloader.change(change, of: parameters.module, origin: call.peer.origin) {
                call.reply.finish($0) { reply, report in reply.succeed { report.write(to: &$0) } }
            }
        }
        add("enable", ModuleParameters.self) { parameters, call in
            reloader.change(.enable, of: parameters.module, origin: call.peer.origin) {
                call.reply.finish($0) { reply, report in reply.succeed { report.write(to: &$0) } }
            }
        }
    }
}
