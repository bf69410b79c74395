/// The outcome of a request to disable or enable a module: the output of `hostd disable` and `hostd enable`.
package struct DisablingReport: Sendable {
    package enum Outcome: String, Hashable, Sendable {
        case disabled, enabled
        /// It was so before.
        case unchanged
        /// It cannot be, for the reason.
        case refused
        /// It could not be carried out, for the reason; everything is as before.
        case failed
    }

    package var outcome: Outcome
    /// The modules that are disabled or enabled now, and were not before.
    package var modules: [ModuleID] = []
    /// The reason, if it was refused or has failed.
    package var reason: String?
    /// The exit code of the command.
    package var exitCode = ExitCode.success
    /// The reload by which it has taken effect; nil where no host runs.
    var reload: ReloadReport?

    /// Changes the list of a state directory, which the next start or reload reads.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - name: The id of a module.
    ///   - slatefile: The slatefile as it is written.
    ///   - directory: The state directory, which must exist.
    /// - Throws: ``NoSuchModule``.
    package init(
        _ change: DisabledModules.Change, of name: String, in slatefile: Slatefile,
        _ directory: StateDirectory
    ) throws(NoSuchModule) {
        outcome = change == .enable ? .enabled : .disabled
        do throws(DisablingError) {
            modules = try DisabledModules.update(in: directory) { list throws(DisablingError) in
                try list.apply(change, to: name, in: slatefile)
            }
            if modules.isEmpty { outcome = .unchanged }
        } catch {
            switch error {
            case .unknown(let error): throw error
            case .refused(let reason):
                (outcome, self.reason, exitCode) = (.refused, reason, .invalidSlatefile)
            case .file(let error): fail("\(error)", error.exitCode)
            }
        }
    }

    /// Creates the report about a slatefile that cannot be used.
    init(_ failure: SlatefileFailure) {
        outcome = .failed
        fail(failure.summary, failure.exitCode)
    }

    /// Notes that it could not be carried out.
    mutating func fail(_ reason: String, _ exitCode: ExitCode) {
        (outcome, self.reason, self.exitCode) = (.failed, reason, exitCode)
        modules = []
    }

    /// Writes the report as one object.
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("outcome", outcome.rawValue)
            $0.member("modules", modules.map(\.text))
            if let reason { $0.member("reason", reason) }
            $0.member("exitCode", Int(exitCode.rawValue))
            if let reload { $0.member("reload") { reload.write(to: &$0, isWhole: true) } }
        }
    }
}
