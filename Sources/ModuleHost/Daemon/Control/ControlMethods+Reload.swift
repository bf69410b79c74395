private struct ReloadParameters: Decodable, Sendable {
    /// Whether to respond with what would change, and to change nothing.
    let dryRun: Bool?
}

extension ControlMethods {
    /// Adds `reload`, which responds when the reload is over.
    mutating func add(_ reloader: SlatefileReloader) {
        add("reload", ReloadParameters.self) { parameters, call in
            let origin = Origin.control(uid: call.peer.userID, pid: call.peer.processID)
            if parameters.dryRun == true {
                return reloader.preview(origin: origin) { report in
                    call.reply.give(report) { $0.write(to: &$1, isWhole: true) }
                }
            }
            reloader.reload(.asked(origin)) { report in
                if case .stopped = report.outcome {
                    return call.reply.fail(RPCError(.notRunning, report.summary))
                }
                call.reply.succeed { report.write(to: &$0, isWhole: true) }
            }
        }
    }
}
