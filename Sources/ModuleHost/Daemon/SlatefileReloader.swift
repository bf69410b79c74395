import AppService

/// Reads the slatefile again while the app runs.
///
/// What this version applies is configuration, of which each module that takes changes is told its own
/// and the app's, and the tokens, which are read again each time. Everything else that changed is
/// named, and waits for the next start.
final class SlatefileReloader: Sendable {
    private let running: Guarded<Slatefile>
    private let options: HostDaemonOptions
    private let log: Log

    init(running: Slatefile, options: HostDaemonOptions, log: Log) {
        self.running = Guarded(running)
        self.options = options
        self.log = log
    }

    /// Reads the slatefile, says what became of it, and returns what modules are to be told.
    ///
    /// Where it is invalid, its faults are logged and the settings that run stay: modules are told
    /// those, so that one that reopens its files does so.
    func reload(_ origin: Origin) -> ConfigurationReload? {
        let new: Slatefile
        do throws(SlatefileFailure) {
            new = try .load(options.slatefile, environment: options.environment)
        } catch {
            log.error(
                "reload refused, the running slatefile stays (\(origin)):\n"
                    + error.rendered(for: "hostd run", colored: false))
            return running.withLock { $0.reload(from: $0) }
        }
        return running.withLock { old in
            var reload = new.reload(from: old)
            var next = old
            next.security = new.security
            do throws(SlatefileFailure) {
                reload.tokens = try next.loadTokens(beside: options.slatefile)
                old = next
            } catch {
                log.error(
                    "the tokens that are known stay (\(origin)):\n"
                        + error.rendered(for: "hostd run", colored: false))
            }
            let waiting = new.changesThatWait(from: old)
            let changed = reload.changedModules.map(\.text)
            var parts: [String] = []
            if reload.isAppConfigChanged { parts.append("the app's config changed") }
            if !changed.isEmpty {
                parts.append("config changed: \(changed.joined(separator: ", "))")
            }
            if parts.isEmpty { parts.append("no config changed") }
            if !waiting.isEmpty {
                parts.append("waits for the next start: \(waiting.joined(separator: ", "))")
            }
            log.notice("slatefile read again (\(origin)): \(parts.joined(separator: "; "))")
            old.take(configFrom: new)
            return reload
        }
    }
}

extension ConfigurationReload {
    fileprivate var changedModules: [ModuleID] {
        modules.filter(\.value.isChanged).map(\.key).sorted { $0.text < $1.text }
    }
}

extension Slatefile {
    /// What modules that run are to be told of this slatefile.
    fileprivate func reload(from old: Slatefile) -> ConfigurationReload {
        let new = Dictionary(
            modules.map { ($0.id, $0.config) }, uniquingKeysWith: { first, _ in first })
        var changes: [ModuleID: (config: JSONValue?, isChanged: Bool)] = [:]
        for module in old.modules where module.isEnabled {
            // One that the new slatefile no longer names runs on as it is.
            let config = new[module.id] ?? module.config
            changes[module.id] = (config, config != module.config)
        }
        return ConfigurationReload(
            appConfig: config, isAppConfigChanged: config != old.config, modules: changes)
    }

    /// Takes the settings that were delivered; the rest stays as it runs.
    fileprivate mutating func take(configFrom new: Slatefile) {
        config = new.config
        let settings = Dictionary(
            new.modules.map { ($0.id, $0.config) }, uniquingKeysWith: { first, _ in first })
        for index in modules.indices {
            if let config = settings[modules[index].id] { modules[index].config = config }
        }
    }

    /// What differs from the running slatefile and is not applied while it runs.
    fileprivate func changesThatWait(from old: Slatefile) -> [String] {
        let oldModules = old.modules.filter(\.isEnabled)
        let newModules = modules.filter(\.isEnabled)
        let before = Dictionary(
            oldModules.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let oldIDs = oldModules.map(\.id)
        let newIDs = newModules.map(\.id)
        let remaining = Set(newIDs).intersection(oldIDs)
        var changes: [String] = []
        changes += newIDs.filter { !remaining.contains($0) }.map { "module \($0) added" }
        changes += oldIDs.filter { !remaining.contains($0) }.map { "module \($0) removed" }
        if newIDs.filter(remaining.contains) != oldIDs.filter(remaining.contains) {
            changes.append("order of modules")
        }
        for module in newModules {
            guard let before = before[module.id] else { continue }
            if !module.runsLike(before) { changes.append("module \(module.id) changed") }
        }
        if app != old.app { changes.append("app") }
        if schemes != old.schemes { changes.append("schemes") }
        if fallback != old.fallback { changes.append("fallback") }
        if rewrites != old.rewrites { changes.append("rewrites") }
        if signals != old.signals { changes.append("signals") }
        if startup != old.startup { changes.append("startup") }
        if deadlines != old.deadlines { changes.append("deadlines") }
        if isolation != old.isolation { changes.append("isolation") }
        return changes
    }
}

extension Slatefile.Module {
    /// Whether everything but the settings is the same.
    fileprivate func runsLike(_ other: Slatefile.Module) -> Bool {
        implementation == other.implementation && isRequired == other.isRequired
            && isMain == other.isMain && deadline == other.deadline && killAfter == other.killAfter
            && isolation == other.isolation && environment == other.environment
            && backlog == other.backlog
    }
}
