/// The report of a reload: the output of `hostd reload`, and the last one in `hostd status`.
package struct ReloadReport: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The new slatefile took effect.
        case applied(ReloadPlan)
        /// Nothing changed, except possibly keys that wait for the next start.
        case unchanged(ReloadPlan)
        /// The new slatefile has passed its probation, and its file is written.
        case kept(ReloadPlan)
        /// Another slatefile took effect during the probation of the new one; the origin of that reload.
        case superseded(by: String)
        /// The slatefile, or its file of tokens, is invalid or cannot be read.
        case invalid(SlatefileFailure)
        /// The former slatefile stays in effect; the reason in words.
        case rolledBack(String)
        /// The host stopped before.
        case stopped
    }

    package let outcome: Outcome
    /// The origin of the request.
    package let origin: Origin
    /// The time of its end.
    package let time: WallTime

    /// For a reload that was not carried out, what is different about each module that would change; nil for any other.
    private let reasons: [ModuleID: [String]]?
    /// Whether the slatefile was handed over, and is not that of the file.
    let isHandedOver: Bool
    /// The name of the host's program.
    private let program: String

    init(
        _ outcome: Outcome, origin: Origin, at time: WallTime, program: String,
        isHandedOver: Bool = false, reasons: [ModuleID: [String]]? = nil
    ) {
        self.reasons = reasons
        self.program = program
        self.isHandedOver = isHandedOver
        self.outcome = outcome
        self.origin = origin
        self.time = time
    }

    /// The exit code of the command that requested it.
    package var exitCode: ExitCode {
        switch outcome {
        case .applied, .unchanged, .kept: .success
        case .superseded: .busy
        case .invalid(let failure): failure.exitCode
        case .rolledBack: .failed
        case .stopped: .unavailable
        }
    }

    /// The outcome in one line.
    package var summary: String {
        switch outcome {
        case .applied(let plan), .unchanged(let plan), .kept(let plan): "\(plan)"
        case .superseded(let origin): "another reload took effect (\(origin))"
        case .invalid(let failure): failure.summary
        case .rolledBack(let reason): reason
        case .stopped: "the host stopped first"
        }
    }

    /// The status line for the service manager; nil for a reload without a problem.
    var notice: String? {
        switch outcome {
        case .applied, .unchanged, .kept, .superseded, .stopped: nil
        case .invalid(let failure): "reload refused: \(failure.summary)"
        case .rolledBack(let reason): "reload undone: \(reason)"
        }
    }

    /// The outcome in one word.
    var word: String {
        switch outcome {
        case .applied: reasons == nil ? "applied" : "planned"
        case .unchanged: "unchanged"
        case .kept: "kept"
        case .superseded: "superseded"
        case .invalid: "invalid"
        case .rolledBack: "rolled-back"
        case .stopped: "stopped"
        }
    }

    /// Writes the report as one object.
    ///
    /// - Parameters:
    ///   - isWhole: Whether to write every diagnostic and every module, and not the summary alone.
    func write(to json: inout JSONWriter, isWhole: Bool) {
        json.object {
            $0.member("outcome", word)
            $0.member("time", time.iso8601)
            $0.member("origin", "\(origin)")
            $0.member("summary", summary)
            guard isWhole else { return }
            $0.member("exitCode", Int(exitCode.rawValue))
            switch outcome {
            case .applied(let plan), .unchanged(let plan), .kept(let plan):
                $0.member("changes") { plan.write(to: &$0) }
                if let reasons {
                    $0.member("reasons") { json in
                        json.object {
                            for (id, parts) in reasons.sorted(by: { $0.key.text < $1.key.text }) {
                                $0.member(id.text, parts)
                            }
                        }
                    }
                }
            case .invalid(let failure):
                let text = failure.text(
                    for: "\(program) \(isHandedOver ? "apply" : "reload")", colored: false,
                    isReload: true)
                $0.member("text", text.string)
            case .superseded, .rolledBack, .stopped: break
            }
        }
    }
}

extension ReloadPlan {
    /// Writes the changes as one object.
    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            $0.member("added", added.map(\.text))
            if !onDemand.isEmpty { $0.member("onDemand", onDemand.map(\.text)) }
            $0.member("removed", removed.map(\.text))
            if deadLetters > 0 { $0.member("deadLetters", deadLetters) }
            $0.member("recreated", recreated)
            $0.member("postponed", postponed.map(\.text))
            $0.member("reconfigured", reconfigured.map(\.text))
            $0.member("adjusted", adjusted.map(\.text))
            $0.member("reordered", isReordered)
            $0.member("fields", fields)
            $0.member("waiting", waiting)
        }
    }
}

extension ReloadReport {
    /// The report as a module receives it.
    var result: Result<SlatefileChange, SlatefileRefusal> {
        switch outcome {
        case .applied, .kept: .success(SlatefileChange(isChange: true, summary: summary))
        case .unchanged: .success(SlatefileChange(isChange: false, summary: summary))
        case .invalid(.invalid(let error)): .failure(.invalid(error))
        case .invalid: .failure(.unreadable(summary))
        case .rolledBack(let reason): .failure(.undone(reason))
        case .superseded: .failure(.refused(summary))
        case .stopped: .failure(.stopped)
        }
    }
}
