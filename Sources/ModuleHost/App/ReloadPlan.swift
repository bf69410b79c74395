/// The changes to modules and to all other settings when one slatefile replaces another.
///
/// A value, so that it can be tested as a table: it is created from the differences of the two slatefiles and the facts
/// about running modules.
package struct ReloadPlan: Hashable, Sendable {
    /// Modules to be created, in the order of the new slatefile.
    package var added: [ModuleID] = []
    /// Modules to be released, in their current order.
    package var removed: [ModuleID] = []
    /// Modules to be recreated: their entry changed, or settings of which they are not notified.
    package var recreated: [ModuleID] = []
    /// Modules that are notified of changed settings.
    package var reconfigured: [ModuleID] = []
    /// Modules that continue with other limits, such as another deadline.
    package var adjusted: [ModuleID] = []
    /// Modules to be recreated when they are no longer overdue.
    package var postponed: [ModuleID] = []
    /// Modules that are made when they are needed, from now on or as other ones: they are new, or have changed.
    package var onDemand: [ModuleID] = []
    /// Whether modules that stay change their order.
    package var isReordered = false
    /// The other keys of the slatefile that change at once.
    package var fields: [String] = []
    /// The keys of the slatefile whose change waits for the next start.
    package var waiting: [String] = []

    /// The number of durable events that removed modules have not received, known when it takes effect.
    package var deadLetters = 0

    /// Whether nothing changes while the app runs.
    package var isEmpty: Bool {
        var rest = self
        rest.waiting = []
        return rest == ReloadPlan()
    }

    /// Whether modules are created.
    var makesModules: Bool { !added.isEmpty || !recreated.isEmpty }
}

extension ReloadPlan {
    /// The facts about a running module that a plan needs.
    struct Running {
        /// Whether it can be notified of settings.
        var takesSettings = false
        /// Whether it has read the app's settings.
        var readsAppSettings = false
        /// Whether it is busy beyond its deadline: it cannot be recreated before it returns.
        var isOverdue = false
        /// Whether it is to be recreated: it was before, and was overdue, or the reload requests it.
        var isOutdated = false
        /// Whether it has failed: then a module that it needs may not be made.
        var isFailed = false
    }

    /// - Parameters:
    ///   - difference: The differences between the two slatefiles.
    ///   - others: The modules to look at, besides those with other entries: outdated ones, and those that have read the
    ///     app's settings, if these have changed.
    ///   - running: Returns a running module; nil for one that is not made.
    init(
        _ difference: SlatefileDifference, besides others: Set<ModuleID> = [],
        running: (ModuleID) -> Running?
    ) {
        var isMade: Set<ModuleID> = []
        var isOnDemand: Set<ModuleID> = []
        // Those that run, or will: what they need is made, too.
        var needing: [Slatefile.Module] = []
        let looked = Set(difference.changed).union(others.compactMap { difference.places[$0] })
        for place in looked.sorted() {
            let (before, entry) = (difference.formerEntry(at: place), difference.entry(at: place))
            if let before, let running = running(entry.id) {
                take(running, before, as: entry, difference.isAppConfigChanged)
                // Not for those that have failed and stay: a lazy module that they need may be what fails.
                if !running.isFailed || recreated.last == entry.id { needing.append(entry) }
            } else if before?.isSame(as: entry) != true {
                if difference.isMadeAtLaunch[place] {
                    isMade.insert(entry.id)
                    needing.append(entry)
                } else {
                    isOnDemand.insert(entry.id)
                }
            }
        }
        // A module that runs may need one that was unloaded since that failed.
        for need in difference.neededLazy where running(need) == nil {
            let dependents = difference.demands.dependents[need] ?? []
            needing += dependents.filter { running($0)?.isFailed == false }
                .compactMap(difference.entry(of:))
        }
        let needed = needing.needs { id in
            running(id) == nil && !isMade.contains(id) ? difference.entry(of: id) : nil
        }
        isMade.formUnion(needed)
        added = isMade.sortedByNumber { difference.places[$0] ?? 0 }
        onDemand = isOnDemand.subtracting(isMade).sortedByNumber { difference.places[$0] ?? 0 }
        (removed, isReordered) = (difference.removed, difference.isReordered)
        (fields, waiting) = (difference.fields, difference.waiting)
    }

    private mutating func take(
        _ running: Running, _ before: Slatefile.Module, as entry: Slatefile.Module,
        _ isAppConfigChanged: Bool
    ) {
        let isConfigChanged = entry.config != before.config
        let isNew =
            !entry.isMade(like: before) || running.isOutdated
            || !running.takesSettings
                && (isConfigChanged || isAppConfigChanged && running.readsAppSettings)
        if isNew, running.isOverdue {
            postponed.append(entry.id)
        } else if isNew {
            recreated.append(entry.id)
        } else if isConfigChanged {
            reconfigured.append(entry.id)
        }
        if !isNew, !entry.runs(like: before) { adjusted.append(entry.id) }
    }
}

extension ReloadPlan: CustomStringConvertible {
    /// The changes in one line, with at most 20 modules of each kind:
    /// `added com.mm.push; config changed: com.mm.main; rewrites`.
    package var description: String {
        func list(_ what: String, _ modules: [ModuleID]) -> String? {
            modules.isEmpty ? nil : what + modules.map(\.text).shortList(atMost: 20)
        }
        let parts = [
            list("added ", added), list("on demand: ", onDemand), list("removed ", removed),
            deadLetters == 0 ? nil : deadLettersText, list("recreated ", recreated),
            list("to be recreated once they return: ", postponed),
            list("config changed: ", reconfigured), list("adjusted ", adjusted),
            isReordered ? "order of modules" : nil,
            fields.isEmpty ? nil : fields.joined(separator: ", "),
            waiting.isEmpty ? nil : "waits for the next start: \(waiting.joined(separator: ", "))",
        ].compactMap(\.self)
        return parts.isEmpty ? "nothing changed" : parts.joined(separator: "; ")
    }

    private var deadLettersText: String {
        deadLetters == 1
            ? "1 undelivered event becomes a dead letter"
            : "\(deadLetters) undelivered events become dead letters"
    }
}
