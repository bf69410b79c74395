import AppService

/// The changes that a reload would make, and the reason of each.
struct ReloadPreview: Sendable {
    let plan: ReloadPlan
    /// For each module that changes, what is different about it.
    let reasons: [ModuleID: [String]]

    /// - Parameters:
    ///   - plan: The changes.
    ///   - difference: The differences between the two slatefiles.
    ///   - isOutdated: Whether a module was unresponsive when an earlier reload was to recreate it.
    init(
        _ plan: ReloadPlan, _ difference: SlatefileDifference, isOutdated: (ModuleID) -> Bool
    ) {
        self.plan = plan
        var reasons: [ModuleID: [String]] = [:]
        let former = Dictionary(
            difference.old.modules.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let changed =
            plan.recreated + plan.reconfigured + plan.adjusted + plan.postponed + plan.onDemand
        for id in changed {
            guard let before = former[id], let entry = difference.entry(of: id) else { continue }
            var parts = before.isEnabled ? entry.keys(differentFrom: before) : ["it is enabled"]
            if parts.isEmpty, isOutdated(id) {
                parts = ["it was unresponsive when an earlier reload took effect"]
            }
            if parts.isEmpty, difference.isAppConfigChanged { parts = ["config of the app"] }
            if parts.isEmpty, entry.facadeProviders != before.facadeProviders {
                parts = ["the modules whose services it uses"]
            }
            if parts.isEmpty { parts = ["the value of a variable"] }
            reasons[id] = parts
        }
        for id in plan.added where former[id]?.isEnabled == false {
            reasons[id] = ["it is enabled"]
        }
        let next = Set(difference.new.modules.map(\.id))
        for id in plan.removed where next.contains(id) { reasons[id] = ["it is not enabled"] }
        self.reasons = reasons
    }
}

extension Slatefile.Module {
    /// Returns the keys of the entry that have another value than before.
    fileprivate func keys(differentFrom before: Slatefile.Module) -> [String] {
        let names = Set(value.members.map(\.key)).union(before.value.members.map(\.key))
        return names.sorted().filter { value[$0] != before.value[$0] }
    }
}

extension AppHost {
    /// The time that the lane may take.
    private static let previewTime: Duration = .seconds(2)

    /// Computes the changes that a reload would make; nothing changes.
    ///
    /// - Parameters:
    ///   - slatefile: The next slatefile; checked.
    ///   - tokens: The tokens that belong to it.
    ///   - completion: Called once, on any thread.
    func previewReload(
        _ slatefile: Slatefile, tokens: TokenStore,
        completion: @escaping @Sendable (Result<ReloadPreview, RPCError>) -> Void
    ) {
        // Without the lane, which goes on meanwhile.
        let difference = SlatefileDifference(from: self.slatefile, to: slatefile.namingFacades())
        read(within: Self.previewTime) { app -> Result<ReloadPreview, RPCError> in
            guard app.phase.isReady else {
                return .failure(RPCError(.notRunning, "the app is not ready, or stops"))
            }
            let plan = app.reloads.plan(difference, tokens: tokens)
            return .success(ReloadPreview(plan, difference, isOutdated: app.reloads.isOutdated))
        } _: { result in
            completion(result.mapError(RPCError.init).flatMap { $0 })
        }
    }
}
