/// The differences between the slatefile in effect and the next one, with the tables of the next one.
///
/// Nothing here depends on what the running app does, so a reload computes it without the lane, and a ``ReloadPlan`` costs
/// the lane no more steps than there are differences. Modules are numbers: their places among the enabled ones.
struct SlatefileDifference: Sendable {
    /// The slatefile in effect.
    let old: Slatefile
    /// The next slatefile.
    let new: Slatefile
    /// The places of the modules.
    let places: [ModuleID: Int]
    /// By place: the place in the slatefile in effect; nil for a new module.
    let formerPlaces: [Int?]
    /// The modules with another entry than before, and the new ones, in order.
    let changed: [Int]
    /// The modules that the next slatefile does not have, in their current order.
    let removed: [ModuleID]
    /// Whether modules that stay change their order.
    let isReordered: Bool
    /// By place: whether the module is made at launch.
    let isMadeAtLaunch: [Bool]
    /// The lazy modules that others need.
    let neededLazy: [ModuleID]
    /// The keys whose change takes effect at once, those of modules apart.
    let fields: [String]
    /// The keys whose change waits for the next start.
    let waiting: [String]
    let demands: DemandTable
    /// The URLs that are opened instead of failed modules.
    let instead: InsteadURLs?
    /// The modules that the app was composed without; nil for none.
    let leftOut: RouteTable.LeftOutModules?
    /// The settings of the modules that have any.
    let configs: [ModuleID: JSONValue]
    let limits: Watchdog.Limits
    /// The levels of the log of the modules that have one.
    let logLevels: [String: LogLevel]
    /// By place: the index in the next slatefile.
    private let entries: [Int]
    /// By place in the slatefile in effect: the index there.
    private let formerEntries: [Int]

    init(from old: Slatefile, to new: Slatefile) {
        (self.old, self.new) = (old, new)
        let entries = new.modules.indices.filter { new.modules[$0].isEnabled }
        let formerEntries = old.modules.indices.filter { old.modules[$0].isEnabled }
        let places = Self.places(of: entries, in: new)
        let known = Self.places(of: formerEntries, in: old)
        formerPlaces = entries.map { known[new.modules[$0].id] }
        changed = zip(entries.indices, formerPlaces).compactMap { place, former in
            let former = former.map { old.modules[formerEntries[$0]] }
            return former?.isSame(as: new.modules[entries[place]]) == true ? nil : place
        }
        removed = formerEntries.map { old.modules[$0].id }.filter { places[$0] == nil }
        let kept = formerPlaces.compactMap(\.self)
        isReordered = zip(kept, kept.dropFirst()).contains { $0 > $1 }
        isMadeAtLaunch = new.madeAtLaunch
        let demands = DemandTable(of: new)
        neededLazy = entries.lazy.map { new.modules[$0] }
            .filter { $0.isLazy && demands.dependents[$0.id] != nil }.map(\.id)
        fields = Self.fields(from: old, to: new)
        waiting = Self.waiting(from: old, to: new)
        instead = InsteadURLs(new.insteadURLs)
        leftOut = new.leftOutModules
        configs = new.configs
        limits = Watchdog.Limits(of: new)
        logLevels = new.logLevels
        (self.places, self.entries, self.formerEntries, self.demands) =
            (places, entries, formerEntries, demands)
    }

    private static func places(of entries: [Int], in slatefile: Slatefile) -> [ModuleID: Int] {
        Dictionary(
            zip(entries.lazy.map { slatefile.modules[$0].id }, entries.indices),
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the entry of a module.
    func entry(at place: Int) -> Slatefile.Module { new.modules[entries[place]] }

    /// Returns the entry of a module; nil for one that the next slatefile does not have.
    func entry(of module: ModuleID) -> Slatefile.Module? { places[module].map(entry) }

    /// Returns the entry that a module has in the slatefile in effect; nil for a new one.
    func formerEntry(at place: Int) -> Slatefile.Module? {
        formerPlaces[place].map { old.modules[formerEntries[$0]] }
    }

    var isAppConfigChanged: Bool { fields.contains("config") }

    /// Whether both have the same modules, in the same order.
    var keepsPlaces: Bool {
        !isReordered && removed.isEmpty && entries.count == formerEntries.count
    }

    /// Whether the routes of modules that stay lead to the same places.
    var keepsRoutes: Bool {
        keepsPlaces && !fields.contains { ["schemes", "fallback", "rewrites"].contains($0) }
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
        if new.logLevel != old.logLevel { fields.append("logLevel") }
        return fields
    }

    private static func waiting(from old: Slatefile, to new: Slatefile) -> [String] {
        var fields: [String] = []
        if new.app != old.app { fields.append("app") }
        if new.startup != old.startup { fields.append("startup") }
        return fields
    }
}

extension Slatefile {
    /// The settings of the modules that have any.
    var configs: [ModuleID: JSONValue] {
        Dictionary(
            modules.lazy.filter(\.isEnabled).compactMap { module in
                module.config.map { (module.id, $0) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension Slatefile.Module {
    /// Returns whether the same module would be created, apart from the settings.
    func isMade(like other: Slatefile.Module) -> Bool {
        implementation == other.implementation && isolation == other.isolation
            && environment == other.environment && facadeProviders == other.facadeProviders
            && ends == other.ends
    }

    /// Returns whether it runs under the same limits.
    func runs(like other: Slatefile.Module) -> Bool {
        isRequired == other.isRequired && isMain == other.isMain && deadline == other.deadline
            && killAfter == other.killAfter && backlog == other.backlog && keep == other.keep
            && permissions == other.permissions && logLevel == other.logLevel
            && isRetried == other.isRetried
            && needs == other.needs && launch == other.launch && idle == other.idle
            && declared == other.declared && instead == other.instead
            && replacement == other.replacement
    }

    /// Returns whether it would be made, and run, as another one.
    func isSame(as other: Slatefile.Module) -> Bool {
        isMade(like: other) && runs(like: other) && config == other.config
    }
}
