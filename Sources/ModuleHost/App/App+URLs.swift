/// Opening URLs that no module claims.
extension App {
    /// Continues with a URL after the modules that claim URLs themselves were called: where none claimed it,
    /// it is a call of the route that answers it.
    func open(
        _ url: RouteURL, _ token: RouteToken?, after event: LifecycleEvent, _ tally: EventTally,
        of request: EventRequest
    ) {
        let completion = completion(of: request, event, tally)
        if let claimer = tally.claimedBy?.id {
            return completion.finish(.success(.claimed(by: claimer)))
        }
        if tally.overdue > 0 {
            // The overdue module may have acted: continuing could act twice.
            let overdue = tally.lastAsked?.id
            return completion.finish(.failure(overdue.map(RouteError.overdue) ?? .stopped))
        }
        guard let calls else { return }
        let began = time.now()
        let reply: @Sendable (any Encodable & Sendable) -> Host.CallReply = {
            [log, time, origin = event.origin] reply in
            if let entry = (reply as? EncodedReply)?.entry {
                log.write(
                    .info, "answered by \(entry.module), route '\(entry.route.pattern)'",
                    event: EventKind.openURL.rawValue, duration: began.duration(to: time.now()),
                    fields: [LogField("origin", "\(origin)")])
            }
            return Host.CallReply(reply)
        }
        let later: LateAnswer
        if event.entry == nil {
            later = LateAnswer { completion.finish($0.map(reply)) }
        } else {
            // Events of the inbox are done in their order, so this one is done when its handler has begun.
            later = LateAnswer { [log, origin = event.origin] result in
                do {
                    _ = reply(try result.get())
                } catch {
                    log.write(
                        .warning, "opened, but not answered: \(error)",
                        event: EventKind.openURL.rawValue, fields: [LogField("origin", "\(origin)")]
                    )
                }
            }
        }
        let caller = Caller(origin: event.origin, token: token, wantsJSON: true, later: later)
        // A job of its own: a module that gets stuck in the call no longer delays the event.
        gate.lane.prepend([
            CallJob(LaneConfined(calls), of: event.entry, later: later, completion) {
                calls, thread in
                let result = reply(try calls.open(url, for: caller, on: thread))
                if later.isTaken, event.entry != nil { completion.finish(.success(result)) }
                return result
            }
        ])
    }

    /// Passes the outcome to the caller, or else to the log, and to the inbox if the event came from it.
    private func completion(
        of request: EventRequest, _ event: LifecycleEvent, _ tally: EventTally
    ) -> CallCompletion<Host.CallReply> {
        if case .event(_, let completion?) = request { return completion }
        return CallCompletion {
            [log, inbox, gate, origin = event.origin, entry = event.entry] result in
            if case .failure(let error) = result {
                log.write(
                    .warning, "not opened: \(error)", event: EventKind.openURL.rawValue,
                    fields: [LogField("origin", "\(origin)")])
                // Events that the app did not reach before its end are left to the next host.
                if case RouteError.stopped = error { return }
            } else if let entry {
                gate.lane.noteClaimed(entry)
            }
            if let entry { inbox?.ended(entry, EventOutcome(tally, result)) }
        }
    }
}
