private struct ReloadParameters: Decodable, Sendable {
    /// Whether to respond with what would change, and to change nothing.
    let dryRun: Bool?
}

private struct ApplyParameters: Decodable, Sendable {
    let slatefile: String
    /// The name of the text in messages.
    let name: String?
    let probationMs: Int?

    func length() throws(RPCError) -> Duration {
        let length = probationMs.map { Duration.milliseconds($0) } ?? Probation.standardLength
        guard Probation.lengths.contains(length) else {
            throw .invalidParameters("/probationMs: \(probationMs ?? 0) is not in 0…3600000")
        }
        return length
    }
}

extension ControlMethods {
    /// Adds `reload`, which responds when the reload is over, and `apply`, which responds when the slatefile is kept or not.
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
        add("apply", ApplyParameters.self) { parameters, call in
            do throws(RPCError) {
                reloader.apply(
                    parameters.slatefile, named: parameters.name,
                    probation: try parameters.length(), origin: call.peer.origin
                ) { report in
                    call.reply.give(report) { $0.write(to: &$1, isWhole: true) }
                }
            } catch {
                call.reply.fail(error)
            }
        }
    }
}
