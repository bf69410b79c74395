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
    unowned let app: App
    /// The reload in progress, up to its end; nil where there is none.
    private(set) var current: ReloadTransaction?
    /// The reloads that wait for the app to be ready, or for the one in progress.
    private var waiting: [ReloadRequest] = []
    /// Modules to be recreated that were overdue.
    private(set) var outdated: Set<ModuleID> = []
    /// The number of reloads that took effect.
    private(set) var commits = 0
    /// Whether the slatefile of a reload is compared with the current one.
    private var isComparing = false
    /// The thread that compares slatefiles.
    private let comparing = WorkerPool(width: 1)

    init(of app: App) { self.app = app }

    func begin(_ request: ReloadRequest) {
        guard app.phase.isEnding || app.phase == .running && waiting.isEmpty && !isComparing else {
            return waiting.append(request)
        }
        beginNow(request)
    }

    /// Compares the slatefile with the current one, without the lane, which goes on meanwhile.
    private func beginNow(_ request: ReloadRequest) {
        guard !app.phase.isEnding, let host = app.host else {
            request.completion.finish(.success(.stopped))
            return beginNext()
        }
        let request = request.isOfCurrent ? updated(request) : request
        isComparing = true
        comparing.run { [gate = app.gate, app = host.app, slatefile = app.slatefile] in
            let difference = SlatefileDifference(from: slatefile, to: request.slatefile)
            gate.lane.enqueue(
                LaneWork { thread in
                    let reloads = app.open(on: thread).reloads
                    reloads.isComparing = false
                    reloads.begin(request, difference)
                } onAbandon: {
                    request.completion.finish(.success(.stopped))
                })
        }
    }

    /// Begins a reload, whose plan is made of what the app is now: modules may have been made, or have failed, while the
    /// slatefiles were compared.
    private func begin(_ request: ReloadRequest, _ difference: SlatefileDifference) {
        guard !app.phase.isEnding else {
            request.completion.finish(.success(.stopped))
            return beginNext()
        }
        let plan = plan(request, difference)
        if plan.isEmpty { return nothingChanged(plan, request, difference) }
        do {
            let reload = try prepare(request, plan, difference)
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
            outdatedRecords.contains(where: { !app.isOverdue($0) })
        else { return }
        app.host?.onLane { app, _ in
            app.reloads.remake([], origin: .host, CallCompletion { _ in })
        }
    }

    /// Begins the reload that waits first; where none does, looks for failed modules that can be brought up.
    func beginNext() {
        guard let host = app.host, current == nil, !isComparing else { return }
        host.onLane { app, _ in app.reloads.beginFirst() }
    }

    private func beginFirst() {
        guard !waiting.isEmpty else { return app.attempts.settle() }
        // Another one may have begun meanwhile, whose end is followed by this.
        guard current == nil, !isComparing else { return }
        beginNow(waiting.removeFirst())
    }

    /// Whether a reload is about to begin.
    var hasWaiting: Bool { isComparing || !waiting.isEmpty }

    // MARK: The reload in progress

    /// Notes that the reload was committed, except for some overdue modules.
    func setOutdated(_ modules: some Sequence<ModuleID>) { outdated = Set(modules) }

    func noteCommit() { commits += 1 }

    func isOutdated(_ module: ModuleID) -> Bool { outdated.contains(module) }

    var outdatedRecords: [ModuleRecord] { outdated.compactMap(app.record(of:)) }

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

    /// Returns a request that concerns modules alone, with the current slatefile.
    private func updated(_ request: ReloadRequest) -> ReloadRequest {
        var request = request
        request.slatefile = app.slatefile
        if let calls = app.calls { request.tokens = calls.tokens }
        return request
    }

    /// Notifies modules that take settings that the slatefile was reloaded without changes, so that they can
    /// reopen files.
    private func nothingChanged(
        _ plan: ReloadPlan, _ request: ReloadRequest, _ difference: SlatefileDifference
    ) {
        app.calls?.replace(request.tokens)
        if request.notifiesUnchanged {
            app.log.notice("slatefile read again (\(request.origin)): \(plan)")
            app.gate.lane.prepend([
                app.configurationJob(request.slatefile, difference.configs, request.origin)
            ])
        }
        request.completion.finish(.success(.unchanged(plan)))
        beginNext()
    }

    /// Assigns a slot to each module that is to be created, and computes the new order and the new routes.
    private func prepare(
        _ request: ReloadRequest, _ plan: ReloadPlan, _ difference: SlatefileDifference
    ) throws -> ReloadTransaction {
        guard let calls = app.calls, let host = app.host else { throw RouteError.stopped }
        let new = Set(plan.added + plan.recreated)
        let numbers = app.gate.lane.vacantNumbers(new.count)
        guard numbers.count == new.count else { throw NoPlace(modules: new.count) }
        var former = [ModuleRecord?](repeating: nil, count: calls.table.modules.count)
        for record in app.records { former[Int(record.slot.rank) - 1] = record }
        var next = difference.formerPlaces.map { $0.flatMap { former[$0] } }
        var staged: [ModuleRecord] = []
        let places = new.compactMap { difference.places[$0] }.sorted()
        for (place, number) in zip(places, numbers) {
            let entry = difference.entry(at: place)
            let slot = ModuleSlot(
                number: number, id: entry.id, limits: ModuleSlot.Limits(of: entry), isStaged: true)
            let record = ModuleRecord(entry: entry, slot: slot)
            staged.append(record)
            next[place] = record
        }
        for record in staged {
            // What needs a program that has not ended is brought up later.
            let error = app.failedNeed(of: record.entry) { need in
                difference.places[need].flatMap { next[$0] }.flatMap { $0.isToEnd ? nil : $0 }
            }
            if let error {
                throw FailedNeed(need: error.need, reason: "module '\(record.id)' \(error)")
            }
        }
        let leaving = (plan.removed + plan.recreated).compactMap(app.record(of:))
        let records = next.compactMap(\.self)
        return ReloadTransaction(
            request: request, plan: plan, difference: difference, records: records,
            staged: staged, leaving: leaving.sortedByNumber { Int($0.slot.rank) },
            calls: try app.dispatcher(
                for: request, plan, difference, records, staged, from: calls),
            of: app, in: host)
    }
}

extension ReloadRequest {
    func logRolledBack(_ reason: String, to log: Log) {
        log.error(
            "reload rolled back, the current slatefile stays in effect (\(origin)): \(reason)")
    }
}

/// The error for modules for which there are no free numbers.
struct NoPlace: Error, CustomStringConvertible {
    let modules: Int

    var description: String {
        "\(modules) modules do not fit beside the running ones: add them in several steps"
    }
}
