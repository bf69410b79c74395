import AppService
import Dispatch

/// The reloader of the slatefile of a running app: one reload after another, each from the reading of the
/// file to its end.
///
/// From any thread.
final class SlatefileReloader: Sendable {
    /// The reason for a reload.
    enum Occasion: Hashable, Sendable {
        /// The reload was requested.
        case asked(Origin)
        /// A slatefile was handed over, to be on probation.
        case handedOver(Origin)
        /// The file has changed; possibly since it was exchanged in this process.
        case changed

        var origin: Origin {
            switch self {
            case .asked(let origin), .handedOver(let origin): origin
            case .changed: .host
            }
        }
    }

    let host: AppHost
    let options: HostDaemonOptions
    private let notifier: ReadinessNotifier?
    let log: Log
    /// Reading the file, and waiting for the host, delay nothing else; a serial queue causes no wake-ups.
    let queue = DispatchQueue(label: "reload")
    /// The outcomes of the last reload, and of the last one that was of the file or has written it.
    private let last = Guarded<(reload: ReloadReport?, ofFile: ReloadReport?)>((nil, nil))
    private let text: Guarded<Text>
    /// The probation of a slatefile, and what it needs while there is one.
    let probation = Guarded(ProbationState())

    /// The text of the slatefile in effect, and that of its file.
    private struct Text {
        /// The fingerprint of the text in effect; nil where it is not known.
        var inEffect: Fingerprint?
        /// The file when it was read last: its size and time, and whether the text is another one.
        var lastLook: (file: Fingerprint, hasChanged: Bool)?
    }

    /// - Parameters:
    ///   - host: The host of the slatefile.
    ///   - options: The options with its path.
    ///   - notifier: Notifies the service manager of the beginning and the end of each reload.
    ///   - log: The log for the outcomes.
    init(
        _ host: AppHost, options: HostDaemonOptions, notifier: ReadinessNotifier? = nil, log: Log
    ) {
        self.host = host
        self.options = options
        self.notifier = notifier
        self.log = log
        text = Guarded(Text(inEffect: host.slatefile.fingerprint))
        host.slatefileExchange = { [weak self] text, probation, module, completion in
            guard let self else { return completion(.failure(.stopped)) }
            guard let probation else {
                return apply(text, from: module) { completion($0.result) }
            }
            let length = min(
                max(probation, Probation.lengths.lowerBound), Probation.lengths.upperBound)
            apply(text, probation: length, origin: .local(module)) { report in
                completion(
                    report.mapError {
                        $0.code == .notRunning ? .stopped : .refused($0.message)
                    }.flatMap(\.result))
            }
        }
    }

    /// The outcome of the last reload; nil before the first.
    var lastReload: ReloadReport? { last.withLock { $0.reload } }

    /// The outcome of the last reload of the file: the next start has the same.
    var lastReloadOfFile: ReloadReport? { last.withLock { $0.ofFile } }

    /// Whether the file has another text than the slatefile in effect: a reload would read it.
    ///
    /// False while a slatefile is on probation. The file is read only if its size or time has changed since the last call.
    var hasFileChanged: Bool {
        guard probation.withLock({ $0.phase == .none }) else { return false }
        var file = Fingerprint()
        file.add(target: options.slatefile)
        let (known, inEffect) = text.withLock { ($0.lastLook, $0.inEffect) }
        if let known, known.file == file { return known.hasChanged }
        guard let inEffect, let now = Slatefile.fingerprint(at: options.slatefile) else {
            return false
        }
        text.withLock { $0.lastLook = $0.inEffect == inEffect ? (file, now != inEffect) : nil }
        return now != inEffect
    }

    /// Reads the slatefile and exchanges it.
    ///
    /// An invalid slatefile changes nothing. After a signal, modules that take settings receive their current
    /// ones even if they are the same, so that they can reopen files.
    ///
    /// - Parameter completion: Called once, on any thread.
    func reload(
        _ occasion: Occasion, completion: @escaping @Sendable (ReloadReport) -> Void = { _ in }
    ) {
        queue.async { [self] in
            completion(carryOut(occasion) { reloadNow(occasion) })
        }
    }

    /// Reads the slatefile, and computes what a reload would change; nothing changes, and nothing is noted.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request.
    ///   - completion: Called once, on any thread.
    func preview(
        origin: Origin,
        completion: @escaping @Sendable (Result<ReloadReport, RPCError>) -> Void
    ) {
        queue.async { [self] in
            @Sendable func report(
                _ outcome: ReloadReport.Outcome, _ reasons: [ModuleID: [String]] = [:]
            ) -> ReloadReport {
                ReloadReport(
                    outcome, origin: origin, at: .now(), program: options.program.name,
                    reasons: reasons)
            }
            do throws(SlatefileFailure) {
                let (slatefile, tokens) = try load()
                host.previewReload(slatefile, tokens: tokens) { result in
                    completion(
                        result.map { preview in
                            report(
                                preview.plan.isEmpty
                                    ? .unchanged(preview.plan) : .applied(preview.plan),
                                preview.reasons)
                        })
                }
            } catch {
                completion(.success(report(.invalid(error))))
            }
        }
    }

    /// Replaces the slatefile's file, and exchanges the slatefile.
    ///
    /// The former file is kept beside it, as `<slatefile>.previous`. Where the new one is invalid nothing is
    /// written; where modules fail with it the former file is restored.
    ///
    /// - Parameters:
    ///   - module: The module that requests it.
    ///   - completion: Called once, on any thread.
    func apply(
        _ text: String, from module: ModuleID,
        completion: @escaping @Sendable (ReloadReport) -> Void
    ) {
        queue.async { [self] in
            let occasion = Occasion.asked(.local(module))
            completion(carryOut(occasion) { applyNow(Array(text.utf8), occasion) })
        }
    }

    // MARK: On the queue

    /// Exchanges the slatefile, which the service manager is notified of, and notes the outcome.
    func carryOut(_ occasion: Occasion, _ exchange: () -> ReloadReport.Outcome) -> ReloadReport {
        notifier?.reloading()
        let report = note(exchange(), of: occasion)
        // Always, also after a reload that was refused.
        notifier?.ready(status: report.notice)
        switch report.outcome {
        case .applied, .unchanged: advance(.superseded(by: "\(occasion.origin)"))
        case .kept, .superseded, .invalid, .rolledBack, .stopped: break
        }
        return report
    }

    func reloadNow(
        _ occasion: Occasion, _ disabled: DisabledModules? = nil
    ) -> ReloadReport.Outcome {
        let (slatefile, tokens): (Slatefile, TokenStore)
        do throws(SlatefileFailure) {
            (slatefile, tokens) = try load(disabled)
        } catch {
            if case .signal = occasion.origin { host.repeatSettings(origin: occasion.origin) }
            return .invalid(error)
        }
        return exchange(slatefile, tokens, occasion)
    }

    private func load(
        _ disabled: DisabledModules? = nil
    ) throws(SlatefileFailure) -> (Slatefile, TokenStore) {
        let slatefile = inEffect(
            try .load(options.slatefile, environment: options.environment), disabled)
        return (slatefile, try slatefile.loadTokens(beside: options.slatefile))
    }

    /// The state directory of the host.
    var directory: StateDirectory { StateDirectory(path: host.stateDirectory) }

    /// Computed each time: crashes of modules may have been reset, and modules disabled or enabled.
    private func inEffect(_ slatefile: Slatefile, _ disabled: DisabledModules? = nil) -> Slatefile {
        slatefile.disabling(disabled ?? disabledModules, log: log)
            .isolatingCrashed(in: directory, log: log, program: options.program.name)
    }

    /// The list of the state directory; if the list cannot be used, the modules that are disabled now.
    private var disabledModules: DisabledModules {
        do throws(DisabledModulesError) { return try DisabledModules(in: directory) } catch {
            log.error("disabled modules stay disabled: \(error)")
            return DisabledModules(
                ids: Set(host.slatefile.modules.lazy.filter(\.isDisabled).map(\.id)))
        }
    }

    func exchange(
        _ slatefile: Slatefile, _ tokens: TokenStore, _ occasion: Occasion
    ) -> ReloadReport.Outcome {
        let outcome = BlockingFuture<ReloadOutcome>()
        host.reload(
            slatefile, tokens: tokens, origin: occasion.origin,
            notifiesUnchanged: occasion != .changed
        ) { outcome.keep($0) }
        let result = outcome.take()
        switch result {
        case .applied, .unchanged:
            text.withLock { $0 = Text(inEffect: slatefile.fingerprint) }
        case .rolledBack, .stopped, nil: break
        }
        return switch result {
        case .applied(let plan): .applied(plan)
        case .unchanged(let plan): .unchanged(plan)
        case .rolledBack(let reason): .rolledBack(reason)
        case .stopped, nil: .stopped
        }
    }

    private func applyNow(_ bytes: [UInt8], _ occasion: Occasion) -> ReloadReport.Outcome {
        let (slatefile, tokens): (Slatefile, TokenStore)
        do throws(SlatefileFailure) {
            (slatefile, tokens) = try read(bytes)
        } catch {
            return .invalid(error)
        }
        do throws(FileError) {
            let file = try SlatefileReplacement(of: options.slatefile, by: bytes)
            let outcome = exchange(slatefile, tokens, occasion)
            // If the host stops, it was not refused: the next start will show.
            guard case .rolledBack(let reason) = outcome else {
                file.keep()
                return outcome
            }
            do throws(FileError) {
                try file.putBack()
                return outcome
            } catch {
                return .rolledBack("\(reason); and the file before cannot be put back: \(error)")
            }
        } catch {
            return .rolledBack("the slatefile cannot be exchanged: \(error)")
        }
    }

    /// Reads and checks the text of a slatefile that is to take the place of the file.
    ///
    /// - Parameter name: The name of the text in messages; nil for the path of the file.
    func read(
        _ bytes: [UInt8], named name: String? = nil
    ) throws(SlatefileFailure) -> (Slatefile, TokenStore) {
        let slatefile = inEffect(
            try .read(bytes, from: options.slatefile, named: name, options.environment))
        return (slatefile, try slatefile.loadTokens(beside: options.slatefile))
    }

    func report(_ outcome: ReloadReport.Outcome, of occasion: Occasion) -> ReloadReport {
        var isHandedOver = false
        if case .handedOver = occasion { isHandedOver = true }
        return ReloadReport(
            outcome, origin: occasion.origin, at: .now(), program: options.program.name,
            isHandedOver: isHandedOver)
    }

    /// Notes the outcome of a reload, and returns it.
    func note(_ outcome: ReloadReport.Outcome, of occasion: Occasion) -> ReloadReport {
        let report = report(outcome, of: occasion)
        if case .invalid(let failure) = outcome {
            log.error(
                "reload refused, the current slatefile stays in effect (\(report.origin)): \(failure.summary)"
            )
        }
        if case .unchanged(let plan) = outcome, occasion == .changed {
            // Nothing to report, except that a refused slatefile was corrected.
            guard let before = lastReload, before.exitCode != .success else { return report }
            log.notice("slatefile read again (\(report.origin)): \(plan)")
        }
        last.withLock { last in
            last.reload = report
            if !report.isHandedOver || report.exitCode == .success { last.ofFile = report }
        }
        host.ring?.add(.reload(outcome: report.word, summary: report.summary))
        return report
    }
}
