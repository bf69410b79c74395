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
    /// The reason, if it was refused or has failed; or why an enabled module still does not run.
    package var reason: String?
    /// The exit code of the command.
    package var exitCode = ExitCode.success
    /// The reload by which it has taken effect; nil where no host runs.
    var reload: ReloadReport?

    /// Changes the list of a state directory, which the next start reads, and applies the change in a running host.
    ///
    /// If the host ends while it applies the change, the modules are disabled at the next start.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - name: The id of a module.
    ///   - slatefile: The slatefile as it is written.
    ///   - directory: The state directory, which must exist.
    ///   - apply: Reloads with the changed list, if anything has changed; nil if no host runs. No other process changes
    ///     the list meanwhile.
    /// - Throws: ``NoSuchModule``.
    package init(
        _ change: DisabledModules.Change, of name: String, in slatefile: Slatefile,
        _ directory: StateDirectory, apply: ((DisabledModules) -> ReloadReport)? = nil
    ) throws(NoSuchModule) {
        outcome = change == .enable ? .enabled : .disabled
        do throws(DisablingError) {
            try carryOut(change, of: name, in: slatefile, directory, apply)
        } catch {
            switch error {
            case .unknown(let error): throw error
            case .refused(let reason):
                (outcome, self.reason, exitCode) = (.refused, reason, .invalidSlatefile)
            case .file(let error): fail("\(error)", error.exitCode)
            }
        }
    }

    private mutating func carryOut(
        _ change: DisabledModules.Change, of name: String, in slatefile: Slatefile,
        _ directory: StateDirectory, _ apply: ((DisabledModules) -> ReloadReport)?
    ) throws(DisablingError) {
        let turn = try Self.turn(directory)
        defer { turn.unlock() }
        let before: DisabledModules
        do throws(DisabledModulesError) { before = try DisabledModules(in: directory) } catch {
            throw .file(error)
        }
        var next = before
        modules = try next.apply(change, to: name, in: slatefile)
        guard !modules.isEmpty else {
            outcome = .unchanged
            return
        }
        let isEnabling = change == .enable
        if isEnabling, let entry = slatefile.modules.first(where: { $0.id.text == name }) {
            reason = entry.isEnabled ? nil : DisabledModules.notEnabled(entry.id)
        }
        if !isEnabling || apply == nil {
            do throws(DisabledModulesError) { try next.write(to: directory) } catch {
                throw .file(error)
            }
        }
        guard let apply else { return }
        let reload = apply(next)
        self.reload = reload
        switch (reload.outcome, isEnabling) {
        // If the host stops, the next one takes the change over.
        case (.applied, false), (.unchanged, false), (.stopped, false): break
        // Outcomes of a probation alone.
        case (.kept, _), (.superseded, _): break
        case (.applied, true), (.unchanged, true):
            // Not before: a module that ends the host when it is launched stays disabled.
            do throws(DisabledModulesError) { try next.write(to: directory) } catch {
                fail("enabled only until the next reload or start: \(error)", error.exitCode)
            }
        case (.rolledBack, true), (.invalid, true), (.stopped, true):
            fail(reload.summary, reload.exitCode)
        case (.rolledBack, false), (.invalid, false):
            fail(reload.summary, reload.exitCode)
            do throws(DisabledModulesError) { try before.write(to: directory) } catch {
                fail("\(reload.summary); and the list stays changed: \(error)", .failed)
            }
        }
    }

    private static func turn(_ directory: StateDirectory) throws(DisablingError) -> Descriptor {
        do throws(DisabledModulesError) { return try DisabledModules.lock(directory) } catch {
            throw .file(error)
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
