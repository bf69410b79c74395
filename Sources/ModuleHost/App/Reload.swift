import AppService

/// A wish to exchange the slatefile of an app that runs.
struct ReloadRequest: Sendable {
    /// The new one; checked.
    var slatefile: Slatefile
    /// The tokens that go with it.
    var tokens: TokenStore
    let origin: Origin
    /// Whether modules that take settings are told that the slatefile was read where nothing changed: the
    /// moment to reopen files.
    var tellsUnchanged = true
    /// Modules to be made anew, whether anything of theirs changed or not.
    var remaking: Set<ModuleID> = []
    /// Whether it is about modules alone: then it is the slatefile that holds when its turn comes.
    var isOfCurrent = false
    let answer: Answer<ReloadOutcome>
}

/// The outcome of a reload.
package enum ReloadOutcome: Hashable, Sendable {
    /// The new slatefile holds; what changed.
    case applied(ReloadPlan)
    /// Nothing changed, but perhaps for what waits for the next start.
    case unchanged(ReloadPlan)
    /// The slatefile before holds, since a module could not be made or launched; the reason in words.
    case rolledBack(String)
    /// The host stops.
    case stopped
}

/// A reload on its way: modules are made and launched for it, and then it holds, or it is undone.
///
/// Belongs to the lane.
final class Reload {
    let request: ReloadRequest
    let plan: ReloadPlan
    /// The new order: modules that stay, and those made for the reload.
    let records: [ModuleRecord]
    /// Modules made for the reload, in order.
    let drafts: [ModuleRecord]
    /// Modules that go when it holds, in order.
    let leaving: [ModuleRecord]
    /// The dispatcher for calls of the modules made for the reload, until it takes effect.
    let calls: CallDispatcher
    /// Their start-up tasks.
    let tasks = Withheld<StartupTask>()
    /// The messages that they post.
    let posts = Withheld<EventRequest>()
    /// Processes of those that are yet to be made; nil once all are.
    var starts: ProcessStarts?
    /// The temporary prefix of the names of start-up tasks of recreated modules.
    let mark: String
    /// Whether it can no longer be undone, or has been.
    var isOver = false

    init(
        _ request: ReloadRequest, _ plan: ReloadPlan, records: [ModuleRecord],
        drafts: [ModuleRecord], leaving: [ModuleRecord], calls: CallDispatcher, mark: String
    ) {
        self.request = request
        self.plan = plan
        self.records = records
        self.drafts = drafts
        self.leaving = leaving
        self.calls = calls
        self.mark = mark
    }

    func holdsDraft(_ cell: Cell) -> Bool { !isOver && drafts.contains { $0.cell === cell } }
}

extension Host {
    /// Exchanges the slatefile while the app runs: modules are made and launched, order, routes, signals
    /// and limits exchanged at one instant between two events, and what is no longer named let go of.
    ///
    /// Waits for READY, and for a reload that is on its way. Where a module cannot be made or launched
    /// everything stays as it was.
    ///
    /// - Parameters:
    ///   - slatefile: The new one; checked.
    ///   - tokens: The tokens that go with it.
    ///   - origin: Who wants it.
    ///   - tellsUnchanged: Whether modules that take settings are told also where nothing changed.
    ///   - completion: Is called once, on whatever thread.
    package func reload(
        _ slatefile: Slatefile, tokens: TokenStore, origin: Origin, tellsUnchanged: Bool = true,
        completion: @escaping @Sendable (ReloadOutcome) -> Void
    ) {
        let answer = Answer<ReloadOutcome> { completion((try? $0.get()) ?? .stopped) }
        let request = ReloadRequest(
            slatefile: slatefile, tokens: tokens, origin: origin, tellsUnchanged: tellsUnchanged,
            answer: answer)
        gate.lane.enqueue(
            LaneWork { [self] _ in
                app.value.reload(request, in: self)
            } onAbandon: {
                answer.give(.success(.stopped))
            })
    }

    /// Tells modules that take settings those that they have: it is the moment to reopen files.
    func repeatSettings(origin: Origin) {
        onLane { app, _ in
            let job = app.configurationJob(
                app.slatefile, before: app.slatefile, app.records, origin)
            if !app.isHeld(job) { app.gate.lane.prepend([job]) }
        }
    }
}
