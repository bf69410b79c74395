import AppService

/// The answer to why, of a running host.
extension ControlledDaemon {
    /// Reports what is wrong, or what is the matter with a module.
    ///
    /// - Parameters:
    ///   - name: The id of the module, a URL or the id of a trace; nil for all that is wrong.
    ///   - origin: The origin of the question.
    ///   - onControlThread: Runs work on the control socket's thread: the lane must not spend time on it.
    ///   - completion: Called once, on the thread of the control socket or another one but the lane's.
    func why(
        _ name: String?, from origin: Origin,
        onControlThread: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void,
        _ completion: @escaping @Sendable (Result<WhyReport, RPCError>) -> Void
    ) {
        let trace = name.flatMap { TraceID($0) }
        if let trace, host.slatefile.modules.allSatisfy({ $0.id.text != name }) {
            // It takes no lane.
            return onControlThread { [self] in completion(report(of: trace)) }
        }
        if let name, WhyReport.isURL(name) {
            return why(url: name, from: origin, onControlThread: onControlThread, completion)
        }
        modules { [self] result in
            onControlThread { [self] in
                completion(Result { () throws(RPCError) in try report(of: name, result) })
            }
        }
    }

    private func reportOfAll(
        _ modules: Result<[ModuleStatus], RPCError>
    ) throws(RPCError) -> WhyReport {
        var knowledge = try knowledge(of: modules)
        knowledge.notReady = host.isStopping ? nil : host.reasonOfNotReadyYet
        knowledge.deadLetter = host.inbox.flatMap { try? DeadLetters($0.folder).newest() }
        return knowledge.report()
    }

    /// Returns what is known, for a report.
    ///
    /// - Throws: The error of `modules`.
    func knowledge(
        of modules: Result<[ModuleStatus], RPCError>
    ) throws(RPCError) -> WhyKnowledge {
        WhyKnowledge(
            status: try status(), modules: try modules.get().map(\.measured),
            dependents: host.slatefile.dependents, record: host.ring?.contents, program: program,
            now: .now())
    }

    private func report(of trace: TraceID) -> Result<WhyReport, RPCError> {
        let found = WhyReport.of(trace, in: host.ring?.contents, isRunning: true, at: .now())
        return found.map(Result.success)
            ?? .failure(
                RPCError(
                    .notFound, "nothing of the trace \(trace.text) is in the record",
                    detail: WhyReport.untraced))
    }

    private func report(
        of name: String?, _ result: Result<[ModuleStatus], RPCError>
    ) throws(RPCError) -> WhyReport {
        guard let name else {
            var report: WhyReport
            var busy: RPCError?
            do throws(RPCError) {
                report = try reportOfAll(result)
            } catch {
                // Without the lane, all else is known still.
                guard error.code == .overdue else { throw error }
                busy = error
                report = try reportOfAll(.success([]))
            }
            if let busy {
                var finding = WhyReport.Finding(try status().atWork, "busy")
                finding.reason = "\(busy)"
                report.findings.insert(finding, at: 0)
            }
            return report
        }
        let knowledge = try knowledge(of: result)
        guard let module = knowledge.modules.first(where: { $0.id.text == name }) else {
            throw RPCError(NoSuchModule(name: name, in: host.slatefile))
        }
        return knowledge.report(of: module)
    }
}

private struct WhyParameters: Decodable, Sendable {
    let module: String?
}

extension ControlMethods {
    /// Adds `why`, which responds with what is wrong, or with what is the matter with a module.
    mutating func addWhy(of daemon: ControlledDaemon) {
        add("why", WhyParameters.self) { parameters, call in
            daemon.why(
                parameters.module, from: call.peer.origin, onControlThread: call.onControlThread
            ) { report in
                call.reply.give(report) { $0.write(to: &$1) }
            }
        }
    }
}
