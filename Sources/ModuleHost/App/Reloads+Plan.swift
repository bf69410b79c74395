/// The plan of a reload, made of what the app is now.
extension Reloads {
    func plan(
        _ request: ReloadRequest, _ difference: SlatefileDifference
    ) -> ReloadPlan {
        plan(difference, tokens: request.tokens, remaking: request.remaking)
    }

    /// Returns the changes that a slatefile makes.
    ///
    /// - Parameters:
    ///   - difference: The differences from the slatefile in effect.
    ///   - tokens: The tokens that belong to the next one.
    ///   - remade: Modules to be recreated, whatever their entries say.
    /// - Returns: The changes.
    func plan(
        _ difference: SlatefileDifference, tokens: TokenStore, remaking remade: Set<ModuleID> = []
    ) -> ReloadPlan {
        let outdated = outdated.union(remade)
        var others = outdated
        if difference.isAppConfigChanged {
            others.formUnion(app.records.lazy.filter(\.readsAppSettings).map(\.id))
        }
        var plan = ReloadPlan(difference, besides: others) { id in
            app.record(of: id).map { running($0, isOutdated: outdated.contains(id)) }
        }
        if app.calls?.tokens.isSame(as: tokens) == false {
            plan.fields.append("security.tokens")
        }
        return plan
    }

    private func running(
        _ record: ModuleRecord, isOutdated: Bool
    ) -> ReloadPlan.Running {
        ReloadPlan.Running(
            takesSettings: !record.isFailed
                && record.module.map { EventKind.configurationChanged.isReceived(by: $0) } == true,
            readsAppSettings: record.readsAppSettings,
            isOverdue: app.isOverdue(record),
            isOutdated: isOutdated,
            isFailed: record.isFailed)
    }
}
