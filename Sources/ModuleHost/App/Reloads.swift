import AppService
import Synchronization

/// A request to exchange the slatefile of a running app.
struct ReloadRequest: Sendable {
    /// The new slatefile; checked.
    var slatefile: Slatefile
    /// The tokens that belong to it.
    var tokens: TokenStore
    let origin: Origin
    /// Whether modules that take settings are notified of the reload where nothing changed, so that they can
    /// reopen files.
    var notifiesUnchanged = true
    /// Modules to be recreated, even if nothing of theirs changed.
    var remaking: Set<ModuleID> = []
    /// Whether the old instance of each recreated module is stopped before the new one is made, whatever its entry says.
    var stopsFirst = false
    /// Whether it concerns modules alone: then it uses the slatefile that is current when its turn comes.
    var isOfCurrent = false
    let completion: CallCompletion<ReloadOutcome>
}

/// The outcome of a reload.
package enum ReloadOutcome: Hashable, Sendable {
    /// The new slatefile took effect; with the changes.
    case applied(ReloadPlan)
    /// Nothing changed, except possibly keys that wait for the next start.
    case unchanged(ReloadPlan)
    /// The former slatefile stays in effect, since a module could not be created or launched: the reason in
    /// words.
    case rolledBack(String)
    /// The host is stopping.
    case stopped
}

/// The reloads of an app, one after the other, from READY on.
///
/// Belongs to the lane.
final class Reloads {
    private unowned let app: App
    /// The reload in progress, up to its end; nil where there is none.
    private(set) var current: ReloadTransaction?
    /// The reloads that wait for the app to be ready, or for the one in progress.
    private var waiting: [ReloadRequest] = []
    /// Modules to be recreated that were overdue.
    private var outdated: Set<ModuleID> = []
    /// The number of reloads, including those that failed.
    private var count = 0

    init(of app: App) { self.app = app }

    func begin(_ request: ReloadRequest) {
        guard app.phase.isEnding || app.phase == .running && waiting.isEmpty else {
            return waiting.append(request)
        }
        beginNow(request)
    }

    private func beginNow(_ request: ReloadRequest) {
        guard !app.phase.isEnding else { return request.completion.finish(.success(.stopped)) }
        let request = request.isOfCurrent ? updated(request) : request
        let plan = plan(request)
        if plan.isEmpty { return nothingChanged(plan, request) }
        do {
            let reload = try prepare(request, plan)
            current = reload
            app.advance(.reload)
            reload.begin()
        } catch {
            let reason = "\(error)"
            request.logRolledBack(reason, to: app.log)
            request.completion.finish(.success(.rolledBack(reason)))
            beginNext()
        }
    }

    /// Recreates modules, with the current slatefile.
    ///
    /// - Parameters:
    ///   - modules: The modules.
    ///   - origin: The origin of the request.
    ///   - stopsFirst: Whether the old instances are stopped first, whatever the entries say.
    ///   - completion: Finished with the outcome.
    func remake(
        _ modules: Set<ModuleID>, origin: Origin, stopsFirst: Bool = false,
        _ completion: CallCompletion<ReloadOutcome>
    ) {
        guard let calls = app.calls else { return completion.finish(.success(.stopped)) }
        begin(
            ReloadRequest(
                slatefile: app.slatefile, tokens: calls.tokens, origin: origin,
                notifiesUnchanged: false, remaking: modules, stopsFirst: stopsFirst,
                isOfCurrent: true, completion: completion))
    }

    /// Recreates modules that were overdue when they should have been recreated.
    func remakeOutdated() {
        guard !app.phase.isEnding,
            app.records.contains(where: { outdated.contains($0.id) && !app.isOverdue($0) })
        else { return }
        app.host?.onLane { app, _ in
            app.reloads.remake([], origin: .host, CallCompletion { _ in })
        }
    }

    /// Begins the reload that waits first; where none does, looks for failed modules that can be brought up.
    func beginNext() {
        guard let host = app.host, current == nil else { return }
        host.onLane { app, _ in app.reloads.beginFirst() }
    }

    private func beginFirst() {
        guard !waiting.isEmpty else { return app.attempts.settle() }
        // Another one may have begun meanwhile, whose end is followed by this.
        guard current == nil else { return }
        beginNow(waiting.removeFirst())
    }

    /// Whether a reload waits for its turn.
    var hasWaiting: Bool { !waiting.isEmpty }

    // MARK: The reload in progress

    /// Notes that the reload was committed, except for some overdue modules.
    func setOutdated(_ modules: some Sequence<ModuleID>) { outdated = Set(modules) }

    func isOutdated(_ module: ModuleID) -> Bool { outdated.contains(module) }

    /// Ends the reload, with any outcome.
    func finish(_ request: ReloadRequest, _ outcome: ReloadOutcome) {
        current = nil
        request.completion.finish(.success(outcome))
        app.advance(.reloaded)
        // They may have returned while it was in progress.
        if case .applied = outcome { remakeOutdated() }
    }

    /// Notes that the reload was rolled back, and is begun again before any other.
    func repeatNext(_ request: ReloadRequest) {
        current = nil
        waiting.insert(request, at: 0)
        app.advance(.reloaded)
    }

    /// Ends all reloads when the lane has ended: callers that wait for one are notified that the host has
    /// stopped.
    ///
    /// - Returns: The modules that were created for one.
    func leaveBehind() -> [ModuleRecord] {
        let staged = current?.leaveBehind() ?? []
        (current, waiting) = (nil, [])
        return staged
    }

    // MARK: Planning

    private func plan(_ request: ReloadRequest) -> ReloadPlan {
        var plan = ReloadPlan(
            from: app.slatefile, app.records.map { running($0, for: request) },
            unmade: app.onDemand.unmadeModules, to: request.slatefile)
        if app.calls?.tokens.isSame(as: request.tokens) == false {
            plan.fields.append("security.tokens")
        }
        return plan
    }

    /// Returns a request that concerns modules alone, with the current slatefile.
    private func updated(_ request: ReloadRequest) -> ReloadRequest {
        var request = request
        request.slatefile = app.slatefile
        if let calls = app.calls { request.tokens = calls.tokens }
        return request
    }

    private func running(
        _ record: ModuleRecord, for request: ReloadRequest
    ) -> ReloadPlan.Running {
        ReloadPlan.Running(
            entry: record.entry,
            takesSettings: !record.isFailed
                && record.module.map { EventKind.configurationChanged.isReceived(by: $0) } == true,
            readsAppSettings: record.context?.readsAppConfig.load(ordering: .relaxed) == true,
            isOverdue: app.isOverdue(record),
            isOutdated: outdated.contains(record.id) || request.remaking.contains(record.id),
            isFailed: record.isFailed)
    }

    /// Notifies modules that take settings that the slatefile was reloaded without changes, so that they can
    /// reopen files.
    private func nothingChanged(_ plan: ReloadPlan, _ request: ReloadRequest) {
        app.calls?.replace(request.tokens)
        if request.notifiesUnchanged {
            app.log.notice("slatefile read again (\(request.origin)): \(plan)")
            app.gate.lane.prepend([
                app.configurationJob(
                    request.slatefile, before: app.slatefile, app.records, request.origin)
            ])
        }
        request.completion.finish(.success(.unchanged(plan)))
        beginNext()
    }

    /// Assigns a slot to each module that is to be created, and computes the new order and the new routes.
    private func prepare(
        _ request: ReloadRequest, _ plan: ReloadPlan
    ) throws -> ReloadTransaction {
        guard let calls = app.calls, let host = app.host else { throw RouteError.stopped }
        let new = Set(plan.added + plan.recreated)
        let numbers = app.gate.lane.vacantNumbers(new.count)
        guard numbers.count == new.count else { throw NoPlace(modules: new.count) }
        var places = numbers.makeIterator()
        var known = Dictionary(
            app.records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var next: [ModuleRecord] = []
        var staged: [ModuleRecord] = []
        for entry in request.slatefile.modules where entry.isEnabled {
            if !new.contains(entry.id) {
                if let record = known.removeValue(forKey: entry.id) { next.append(record) }
            } else if let number = places.next() {
                let slot = ModuleSlot(
                    number: number, id: entry.id, limits: ModuleSlot.Limits(of: entry),
                    isStaged: true
                )
                staged.append(ModuleRecord(entry: entry, slot: slot))
                next.append(staged[staged.count - 1])
            }
        }
        let planned = Dictionary(next.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for record in staged {
            if let error = app.failedNeed(of: record.entry, find: { planned[$0] }) {
                throw FailedNeed(
                    need: error.need, reason: "module '\(record.id)' \(error)")
            }
        }
        let staying = Set(next.map { ObjectIdentifier($0) })
        count += 1
        return ReloadTransaction(
            request: request, plan: plan, records: next, staged: staged,
            leaving: app.records.filter { !staying.contains(ObjectIdentifier($0)) },
            calls: try app.dispatcher(for: request, next, from: calls), number: count,
            of: app, in: host)
    }
}

extension ReloadRequest {
    func logRolledBack(_ reason: String, to log: Log) {
        log.error(
            "reload rolled back, the current slatefile stays in effect (\(origin)): \(reason)")
    }
}

extension App {
    /// Creates the dispatcher for a new order of modules, with the routes that each of them has now or, where
    /// it is yet to be created, lists.
    func dispatcher(
        for request: ReloadRequest, _ records: [ModuleRecord], from calls: CallDispatcher,
        _ staged: CallDispatcher? = nil
    ) throws -> CallDispatcher {
        var routes: [ModuleID: [AnyRoute]] = [:]
        let isStaged = Dictionary(
            records.map { ($0.id, $0.slot.isStaged.load(ordering: .relaxed)) },
            uniquingKeysWith: { first, _ in first })
        for (id, isStaged) in isStaged where !isStaged || staged != nil { routes[id] = [] }
        for entry in calls.table.routes where isStaged[entry.module] == false {
            routes[entry.module]?.append(entry.route)
        }
        for entry in staged?.table.routes ?? [] where isStaged[entry.module] == true {
            routes[entry.module]?.append(entry.route)
        }
        return try dispatcher(
            for: request.slatefile, records, tokens: request.tokens, routes: routes)
    }

    /// Creates a dispatcher.
    ///
    /// - Parameters:
    ///   - slatefile: The slatefile.
    ///   - records: The modules that are made, or about to be, in order.
    ///   - tokens: The tokens.
    ///   - routes: The routes of modules that are not those that their classes list.
    /// - Returns: The dispatcher.
    /// - Throws: ``RouteTableError``, ``RouteError``.
    func dispatcher(
        for slatefile: Slatefile, _ records: [ModuleRecord], tokens: TokenStore,
        routes: [ModuleID: [AnyRoute]]
    ) throws -> CallDispatcher {
        var targets: [Int: any CallableModule] = [:]
        var next = records[...]
        var position = 0
        for module in slatefile.modules where module.isEnabled {
            if next.first?.id == module.id, let record = next.popFirst() {
                targets[position] = record
            }
            position += 1
        }
        let table = try RouteTable(of: slatefile) {
            targets[$0] == nil
        } having: {
            routes[$0]
        }
        return try CallDispatcher(
            table, records: targets, unmade: onDemand.unmade, onDemand: onDemand, tokens: tokens,
            gate: gate, center: center)
    }

    /// Creates the job that notifies modules that stay.
    func configurationJob(
        _ slatefile: Slatefile, before old: Slatefile, _ records: [ModuleRecord],
        _ origin: Origin, changed: Set<ModuleID> = []
    ) -> EventJob {
        var modules: [ModuleID: (config: JSONValue?, isChanged: Bool)] = [:]
        for record in records {
            modules[record.id] = (record.entry.config, changed.contains(record.id))
        }
        let reload = ConfigurationReload(
            appConfig: slatefile.config, isAppConfigChanged: slatefile.config != old.config,
            modules: modules)
        return EventJob(.own(.reload(reload, origin: origin)), in: LaneConfined(self))
    }
}

/// The error for modules for which there are no free numbers.
struct NoPlace: Error, CustomStringConvertible {
    let modules: Int

    var description: String {
        "\(modules) modules do not fit beside the running ones: add them in several steps"
    }
}
