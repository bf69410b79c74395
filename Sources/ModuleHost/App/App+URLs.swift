/// Opening URLs that no module claims.
extension App {
    /// Continues with a URL after the modules that claim URLs themselves were called: where none claimed it,
    /// it is a call of the route that answers it.
    func open(
        _ url: RouteURL, _ token: RouteToken?, after event: LifecycleEvent, _ tally: EventTally,
        of request: EventRequest
    ) {
        let durable = event.entry.map { DurableAnswer(to: $0, in: inbox) }
        let completion = completion(of: request, event, tally, durable)
        if let claimer = tally.claimedBy?.id {
            return completion.finish(.success(.claimed(by: claimer)))
        }
        if tally.overdue > 0 {
            // The overdue module may have acted: continuing could act twice.
            let overdue = tally.lastAsked?.id
            return completion.finish(.failure(overdue.map(RouteError.overdue) ?? .stopped))
        }
        call(
            URLCall(url: url, token: token, event: event, tally: tally, durable: durable),
            completion)
    }

    /// A URL on its way to the route that answers it.
    private struct URLCall: Sendable {
        let url: RouteURL
        let token: RouteToken?
        let event: LifecycleEvent
        let tally: EventTally
        let durable: DurableAnswer?
    }

    /// Lists the call of the route that answers a URL.
    ///
    /// - Parameters:
    ///   - call: The URL.
    ///   - completion: Called with the result, unless the answer to a durable event comes later.
    ///   - ticket: The ticket of a URL that has waited for its module.
    private func call(
        _ call: URLCall, _ completion: CallCompletion<AppHost.CallReply>,
        _ ticket: UnansweredURLs.Ticket? = nil
    ) {
        guard let calls else { return }
        let (origin, began) = (call.event.origin, time.now())
        let reply: @Sendable (any Encodable & Sendable) -> AppHost.CallReply = {
            [log, time] reply in
            if let entry = (reply as? EncodedReply)?.entry {
                log.write(
                    .info, "answered by \(entry.module), route '\(entry.route.pattern)'",
                    event: EventKind.openURL.rawValue, duration: began.duration(to: time.now()),
                    fields: [LogField("origin", "\(origin)")])
            }
            return AppHost.CallReply(reply)
        }
        let reference = WeakHost()
        if let host { reference.set(host) }
        let ticket = call.durable == nil ? nil : ticket ?? self.ticket()
        let admit: @Sendable (ModuleID) throws -> Void = { try ticket?.admit($0) }
        let later = LateAnswer(admitting: admit) { [log, gate] result in
            ticket?.release()
            var result = result.map(reply)
            if let host = reference.host { result = result.explained(by: host.stopping) }
            guard let durable = call.durable, let entry = call.event.entry else {
                return completion.finish(result)
            }
            if case .failure(let error) = result {
                // Nothing that fails in a stop is an answer: the event is left to the next host.
                guard let host = reference.host, !host.isStopping else { return }
                // Its module was unloaded: the one in its place is called, or no module answers the URL now.
                if case RouteError.unavailable = error {
                    return host.onLane { app, _ in app.callAgain(call) }
                }
            }
            Self.log(result, call.url, origin, of: reference.host, to: log)
            if case .success = result { gate.lane.noteClaimed(entry) }
            durable.answer(EventOutcome(call.tally, result))
        }
        // A durable URL is done in its turn where its route answers at once.
        let caller = Caller(
            origin: origin, token: call.token, wantsJSON: true, later: later,
            isNested: call.durable != nil)
        // A job of its own: a module that gets stuck in the call no longer delays the event.
        let entry = call.durable?.isOver == true ? nil : call.event.entry
        let durable = call.durable
        let suspend: @Sendable () -> Void = { durable?.suspend() }
        gate.lane.prepend([
            CallJob(
                through: gate, by: LaneConfined(calls), of: entry, trace: call.event.trace,
                later: later,
                onSuspension: durable == nil ? nil : suspend, completion
            ) { calls, thread in
                do {
                    let result = reply(try calls.open(call.url, for: caller, on: thread))
                    if caller.later?.isTaken == false { ticket?.release() }
                    return result
                } catch let error as ModuleIsFull {
                    reference.host?.app.open(on: thread).wait(call, for: error.module)
                    throw error
                } catch let error as ModuleIsStarting {
                    guard durable != nil else { throw error }
                    ticket?.release()
                    reference.host?.app.open(on: thread).wait(call, forStartOf: error.module)
                    throw ModuleIsFull(module: error.module)
                } catch {
                    ticket?.release()
                    throw error
                }
            }
        ])
    }

    /// Calls the route of a durable URL once more, which a module has not answered.
    private func callAgain(_ again: URLCall, _ ticket: UnansweredURLs.Ticket? = nil) {
        call(
            again,
            CallCompletion { [log, weak host] result in
                if case .failure(let error) = result, error is ModuleIsFull { return }
                if case .failure(RouteError.stopped) = result { return }
                Self.log(result, again.url, again.event.origin, of: host, to: log)
                again.durable?.answer(EventOutcome(again.tally, result))
            }, ticket)
    }

    // MARK: URLs that wait for a module

    private func ticket(for module: ModuleID? = nil) -> UnansweredURLs.Ticket {
        let reference = WeakHost()
        if let host { reference.set(host) }
        return unansweredURLs.ticket(for: module) { module in
            reference.host?.onLane { app, _ in app.beginWaiting(for: module) }
        }
    }

    /// Keeps a durable URL until its module has answered others; other events go on.
    private func wait(_ call: URLCall, for module: ModuleID) {
        guard let durable = call.durable, let entry = call.event.entry else { return }
        durable.suspend(isBegun: false)
        let isFirst = unansweredURLs.wait(
            UnansweredURLs.Waiting(entry: entry) { app, ticket in app.callAgain(call, ticket) },
            for: module)
        guard isFirst else { return }
        // It may have answered others meanwhile.
        host?.onLane { app, _ in app.beginWaiting(for: module) }
        // First: a reader of the log finds it in the status.
        noteBlocked()
        log.of(module: module.text).warning(
            "has not answered \(UnansweredURLs.limit) URLs of the inbox: further ones wait for it, "
                + "and other events are delivered")
    }

    /// Keeps a durable URL until its module is made; other events go on.
    private func wait(_ call: URLCall, forStartOf module: ModuleID) {
        guard let durable = call.durable, let entry = call.event.entry, let host else { return }
        durable.suspend(isBegun: false)
        onDemand.wait(
            LaneWork { [app = host.app] thread in
                let app = app.open(on: thread)
                // What waits is left to the next host.
                guard !app.phase.isEnding else { return }
                app.inbox?.beginsAnswer(to: entry)
                app.callAgain(call)
            }, for: module)
    }

    /// Begins the next URL that waits for a module.
    private func beginWaiting(for module: ModuleID) {
        // What waits is left to the next host.
        guard !phase.isEnding else { return }
        let (next, isFree) = unansweredURLs.next(of: module)
        if let next {
            inbox?.beginsAnswer(to: next.entry)
            next.begin(self, ticket(for: module))
            host?.onLane { app, _ in app.beginWaiting(for: module) }
        } else if isFree {
            noteBlocked()
            log.of(module: module.text).notice("no URL of the inbox waits for it any more")
        }
    }

    private func noteBlocked() {
        let blocked = unansweredURLs.blocked
        inbox?.noteBlocked(
            blocked.isEmpty
                ? nil
                : "\(UnansweredURLs.limit) URLs are not answered, and more wait for the same module: "
                    + blocked.map(\.text).shortList())
        reportHealth()
    }

    /// Passes the outcome to the caller, or else to the log, and to the inbox if the event came from it.
    ///
    /// On the lane, except for a caller.
    private func completion(
        of request: EventRequest, _ event: LifecycleEvent, _ tally: EventTally,
        _ durable: DurableAnswer?
    ) -> CallCompletion<AppHost.CallReply> {
        if case .event(_, let completion?) = request { return completion }
        let isOwn = if case .own = request { true } else { false }
        return CallCompletion {
            [
                log, gate, weak host, content = event.content, origin = event.origin,
                entry = event.entry
            ] result in
            // Released after the answer came, or is to come, elsewhere.
            if durable?.isOver == true { return }
            if case .url(let url, _) = content {
                Self.log(result, url, origin, of: host, to: log)
            }
            if isOwn, case .failure(let error) = result {
                host?.onLane { app, _ in app.launch.rootFailed(error) }
            }
            // Events that the app did not reach before its end are left to the next host.
            if case .failure(RouteError.stopped) = result { return }
            if case .success = result, let entry { gate.lane.noteClaimed(entry) }
            durable?.end(EventOutcome(tally, result))
        }
    }

    /// Logs why a URL was not opened.
    private static func log(
        _ result: Result<AppHost.CallReply, any Error>, _ url: RouteURL, _ origin: Origin,
        of host: AppHost?, to log: Log
    ) {
        guard case .failure(let error) = result else { return }
        @Sendable func write(_ note: String) {
            log.write(
                .warning, "not opened: \(error)\(note)", event: EventKind.openURL.rawValue,
                fields: [LogField("origin", "\(origin)")])
        }
        guard case RouteError.notFound = error, origin.isRemote, let host else { return write("") }
        host.routes { write((try? $0.get())?.noteOfHidden(url) ?? "") }
    }
}
