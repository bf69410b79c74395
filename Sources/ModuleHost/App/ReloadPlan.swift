/// The changes to modules and to all other settings when one slatefile replaces another.
///
/// A value, so that it can be tested as a table: it is created from the two slatefiles and the settings of
/// the running modules.
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
        /// The current entry: an overdue module may have that of an older slatefile.
        let entry: Slatefile.Module
        /// Whether it can be notified of settings.
        var takesSettings = false
        /// Whether it has read the app's settings.
        var readsAppSettings = false
        /// Whether it is busy beyond its deadline: it cannot be recreated before it returns.
        var isOverdue = false
        /// Whether it was to be recreated, and was overdue.
        var isOutdated = false
        /// Whether it has failed: then a module that it needs may not be made.
        var isFailed = false
    }

    /// - Parameters:
    ///   - old: The current slatefile.
    ///   - modules: The running modules, in order.
    ///   - unmade: The modules that are not made, in order.
    ///   - new: The new slatefile.
    init(
        from old: Slatefile, _ modules: [Running], unmade: [Slatefile.Module] = [],
        to new: Slatefile
    ) {
        let next = new.modules.filter(\.isEnabled)
        let before =
            unmade.isEmpty ? modules.map(\.entry.id) : old.modules.filter(\.isEnabled).map(\.id)
        let known = Dictionary(
            modules.map { ($0.entry.id, $0) }, uniquingKeysWith: { first, _ in first })
        let named = Set(next.map(\.id))
        let earlier = Dictionary(
            unmade.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        // Not made yet: those that are made, and those that are made only where another one needs them now.
        var isMade: Set<ModuleID> = []
        var lazy: [ModuleID: (entry: Slatefile.Module, isChanged: Bool)] = [:]
        for (entry, isNeeded) in zip(next, new.madeAtLaunch) where known[entry.id] == nil {
            let isChanged = earlier[entry.id]?.isSame(as: entry) != true
            if isNeeded, isChanged {
                isMade.insert(entry.id)
            } else {
                lazy[entry.id] = (entry, isChanged)
            }
        }
        removed = before.filter { !named.contains($0) }
        isReordered =
            next.map(\.id).filter { known[$0] != nil || earlier[$0] != nil }
            != before.filter(named.contains)
        let isAppConfigChanged = new.config != old.config
        for entry in next {
            guard let running = known[entry.id] else { continue }
            take(running, as: entry, isAppConfigChanged: isAppConfigChanged)
        }
        // Not for those that have failed and stay: a lazy module that they need may be what fails.
        let isRecreated = Set(recreated)
        let needing = next.filter { entry in
            known[entry.id].map { !$0.isFailed || isRecreated.contains(entry.id) }
                ?? isMade.contains(entry.id)
        }
        isMade.formUnion(needing.needs { lazy[$0]?.entry })
        for id in next.map(\.id) {
            if isMade.contains(id) {
                added.append(id)
            } else if lazy[id]?.isChanged == true {
                onDemand.append(id)
            }
        }
        fields = Self.fields(from: old, to: new)
        waiting = Self.waiting(from: old, to: new)
    }

    private mutating func take(
        _ running: Running, as entry: Slatefile.Module, isAppConfigChanged: Bool
    ) {
        let before = running.entry
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

    private static func fields(from old: Slatefile, to new: Slatefile) -> [String] {
        var fields: [String] = []
        if new.config != old.config { fields.append("config") }
        if new.schemes != old.schemes { fields.append("schemes") }
        if new.fallback != old.fallback { fields.append("fallback") }
        if new.rewrites != old.rewrites { fields.append("rewrites") }
        if new.signals != old.signals { fields.append("signals") }
        if new.deadlines != old.deadlines { fields.append("deadlines") }
        if new.security != old.security { fields.append("security") }
        if new.isolation != old.isolation { fields.append("isolation") }
        return fields
    }

    private static func waiting(from old: Slatefile, to new: Slatefile) -> [String] {
        var fields: [String] = []
        if new.app != old.app { fields.append("app") }
        if new.startup != old.startup { fields.append("startup") }
        return fields
    }
}

extension Slatefile.Module {
    /// Returns whether the same module would be created, apart from the settings.
    fileprivate func isMade(like other: Slatefile.Module) -> Bool {
        implementation == other.implementation && isolation == other.isolation
            && environment == other.environment && facadeProviders == other.facadeProviders
    }

    /// Returns whether it runs under the same limits.
    fileprivate func runs(like other: Slatefile.Module) -> Bool {
        isRequired == other.isRequired && isMain == other.isMain && deadline == other.deadline
            && killAfter == other.killAfter && backlog == other.backlog
            && permissions == other.permissions && isRetried == other.isRetried
            && needs == other.needs && launch == other.launch && idle == other.idle
            && declared == other.declared && instead == other.instead
            && replacement == other.replacement
    }

    /// Returns whether it would be made, and run, as another one.
    func isSame(as other: Slatefile.Module) -> Bool {
        isMade(like: other) && runs(like: other) && config == other.config
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
