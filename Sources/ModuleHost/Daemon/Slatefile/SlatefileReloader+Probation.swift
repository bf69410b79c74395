import AppService
import Dispatch

/// A slatefile on probation, and what is known for it.
struct ProbationState {
    /// A slatefile that has taken effect.
    struct Candidate: Sendable {
        let text: [UInt8]
        let occasion: SlatefileReloader.Occasion
        /// The slatefile that was in effect before.
        let former: Slatefile
        let baseline: ProbationBaseline
        /// The report of the reload.
        let report: ReloadReport
        let completion: SlatefileReloader.ApplyHandler
    }

    var phase = Probation.none
    /// The slatefile on probation; nil for none, and before the slatefile takes effect.
    var candidate: Candidate?
    /// The alarm of the next look at the record.
    var alarm: (any Alarm)?
    /// The number of the record's next entry at the last look.
    var seen: [UInt8]?
}

/// Slatefiles that are handed over: in effect on probation, with their file as it was, until they are kept.
extension SlatefileReloader {
    typealias ApplyHandler = @Sendable (Result<ReloadReport, RPCError>) -> Void

    /// The number of entries of the record that are read at most.
    private static let entryLimit = 10_000

    /// The time that is left of the probation of a slatefile; nil for none.
    var probationLeft: Duration? {
        guard case .watching(let end) = probation.withLock({ $0.phase }) else { return nil }
        return max(.zero, end - host.time.now())
    }

    /// Reloads from a text in place of the slatefile's file, and writes the file if nothing is worse for some time.
    ///
    /// If modules fail, or become unresponsive or restart more often than in the time before, the former slatefile takes
    /// effect again. A host that ends meanwhile has its file as it was.
    ///
    /// - Parameters:
    ///   - text: The slatefile. Paths in it are relative to the file that it replaces.
    ///   - name: The name of the text in messages; nil for the path of the file.
    ///   - length: The length of the probation; zero for none.
    ///   - origin: The origin of the request.
    ///   - completion: Called once, on any thread, when the slatefile is kept or not; with an error if another one is on
    ///     probation, and if the host stops first.
    func apply(
        _ text: String, named name: String? = nil, probation length: Duration, origin: Origin,
        completion: @escaping ApplyHandler
    ) {
        let effects = probation.withLock { $0.phase.apply(.request(length)) }
        guard effects == [.begin] else {
            let rest = probationLeft.map { " for \($0.briefText) more" } ?? ""
            return completion(
                .failure(
                    RPCError(
                        .overloaded,
                        "another slatefile is on probation\(rest); try again then, or take it back with "
                            + "'\(options.program.name) reload'")))
        }
        queue.async { [self] in
            begin(Array(text.utf8), name, length, .handedOver(origin), completion)
        }
    }

    /// Ends the probation: the host stops, and its file is as it was.
    func stopping() {
        // Not on the queue: where the system has no thread left, Dispatch waits for one, and the stop with it.
        advance(.stopped)
    }

    // MARK: On the queue

    private func begin(
        _ text: [UInt8], _ name: String?, _ length: Duration, _ occasion: Occasion,
        _ completion: @escaping ApplyHandler
    ) {
        let start = WallTime.now()
        let former = host.slatefile
        let failed = host.metrics.withLock(\.failed)
        let before = problems(since: start.earlier(by: length))
        let report = carryOut(occasion) {
            do throws(SlatefileFailure) {
                let (slatefile, tokens) = try read(text, named: name)
                return exchange(slatefile, tokens, occasion)
            } catch {
                return .invalid(error)
            }
        }
        let baseline = ProbationBaseline(
            at: start, after: before, failed: failed, modules: host.slatefile.modules.map(\.id))
        let candidate = ProbationState.Candidate(
            text: text, occasion: occasion, former: former, baseline: baseline,
            report: report, completion: completion)
        switch report.outcome {
        case .applied:
            probation.withLock { $0.candidate = candidate }
            advance(.tookEffect(at: host.time.now()))
            if length > .zero {
                log.notice("slatefile on probation for \(length.briefText) (\(occasion.origin))")
            }
        case .unchanged:
            probation.withLock { $0.candidate = candidate }
            advance(.changedNothing)
        case .invalid, .rolledBack, .stopped, .kept, .superseded:
            advance(.refused)
            respond(to: candidate, report)
        }
    }

    /// Changes the phase of the probation, and carries out what follows.
    func advance(_ change: Probation.Change) {
        for effect in probation.withLock({ $0.phase.apply(change) }) {
            switch effect {
            case .begin, .refuse: break
            case .look(let delay): scheduleLook(after: delay)
            case .keep: end { keep($0) }
            case .rollBack(let reasons): end { rollBack($0, because: reasons) }
            case .respondSuperseded(let origin):
                end { candidate in
                    log.notice("slatefile not kept: another reload took effect (\(origin))")
                    return report(.superseded(by: origin), of: candidate.occasion)
                }
            case .respondStopped: end { note(.stopped, of: $0.occasion) }
            }
        }
    }

    private func end(_ finish: (ProbationState.Candidate) -> ReloadReport) {
        let candidate = probation.withLock { state in
            state.alarm?.cancel()
            (state.alarm, state.seen) = (nil, nil)
            return state.candidate.take()
        }
        guard let candidate else { return }
        respond(to: candidate, finish(candidate))
    }

    private func respond(to candidate: ProbationState.Candidate, _ report: ReloadReport) {
        guard case .stopped = report.outcome else { return candidate.completion(.success(report)) }
        candidate.completion(
            .failure(
                RPCError(.notRunning, "the host stopped first; the slatefile's file is as before")))
    }

    private func scheduleLook(after delay: Duration) {
        let alarm = host.time.schedule(after: delay) { [weak self] in
            guard let self else { return }
            queue.async { self.look() }
        }
        probation.withLock { state in
            if state.candidate != nil { state.alarm = alarm }
        }
    }

    private func look() {
        guard let baseline = probation.withLock({ $0.candidate?.baseline }) else { return }
        // The host may stop for what is worse.
        guard !host.isStopping else { return advance(.stopped) }
        // Most looks find nothing new, and a large record takes time to read.
        let next = host.ring?.bytes(8, at: RecordLayout.Word.nextRare.rawValue * 8)
        let isNews = probation.withLock { state in
            defer { state.seen = next }
            return state.seen != next
        }
        let worse = isNews ? baseline.worse(in: problems(since: baseline.start)) : []
        advance(.looked(at: host.time.now(), worse: worse))
    }

    /// Returns the entries of the record about problems of modules, in their order.
    private func problems(since time: WallTime) -> [HostRecord] {
        host.ring?.contents?.last(Self.entryLimit) {
            $0.time >= time && ProbationBaseline.isMeant($0)
        } ?? []
    }

    private func keep(_ candidate: ProbationState.Candidate) -> ReloadReport {
        do throws(FileError) {
            if Slatefile.fingerprint(at: options.slatefile) != Fingerprint(of: candidate.text) {
                try SlatefileReplacement(of: options.slatefile, by: candidate.text).keep()
            }
        } catch {
            return rollBack(candidate, because: ["the slatefile cannot be exchanged: \(error)"])
        }
        guard case .applied(let plan) = candidate.report.outcome else { return candidate.report }
        log.notice("slatefile kept (\(candidate.report.origin))")
        return note(.kept(plan), of: candidate.occasion)
    }

    private func rollBack(
        _ candidate: ProbationState.Candidate, because reasons: [String]
    ) -> ReloadReport {
        let reason = reasons.joined(separator: "; ")
        log.error("slatefile taken back (\(candidate.report.origin)): \(reason)")
        return carryOut(candidate.occasion) {
            let problem: String
            do throws(SlatefileFailure) {
                let tokens = try candidate.former.loadTokens(beside: options.slatefile)
                switch exchange(candidate.former, tokens, candidate.occasion) {
                case .stopped: return .stopped
                case .rolledBack(let reason): problem = reason
                default: return .rolledBack(reason)
                }
            } catch {
                problem = error.summary
            }
            return .rolledBack(
                "\(reason); and the slatefile before cannot be put back, the new one stays in effect until "
                    + "a reload: \(problem)")
        }
    }
}
