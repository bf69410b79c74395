extension ControlMethods {
    /// Adds `reload`, which responds when the reload is over.
    mutating func add(_ reloader: SlatefileReloader) {
        add("reload") { call in
            let origin = Origin.control(uid: call.peer.userID, pid: call.peer.processID)
            reloader.reload(.asked(origin)) { report in
                if case .stopped = report.outcome {
                    return call.reply.fail(RPCError(.notRunning, report.summary))
                }
                call.reply.succeed { report.write(to: &$0, isWhole: true) }
            }
        }
    }
}
