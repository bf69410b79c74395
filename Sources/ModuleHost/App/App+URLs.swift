/// Opening URLs that no module claims.
extension App {
    /// Goes on with a URL once the modules that claim URLs by themselves were asked: where none did, it
    /// is a call of the route that answers it.
    func open(
        _ url: RouteURL, _ token: RouteToken?, after event: LifecycleEvent, _ tally: EventTally,
        of request: EventRequest
    ) {
        let answer = answer(of: request, event, tally)
        if let claimer = tally.claimedBy?.id { return answer.give(.success(.claimed(by: claimer))) }
        if tally.overdue > 0 {
            // It may have acted: going on could act twice.
            let overdue = tally.lastAsked?.id
            return answer.give(.failure(overdue.map(RouteError.overdue) ?? .stopped))
        }
        guard let calls else { return }
        let caller = Caller(origin: event.origin, token: token, wantsJSON: true)
        // A job of its own: what gets stuck in a call is not the event's any more.
        gate.lane.prepend([
            CallJob(LaneConfined(calls), of: event.entry, answer) { [log, time] calls, thread in
                let began = time.now()
                let reply = try calls.open(url, for: caller, on: thread)
                if let entry = (reply as? EncodedReply)?.entry {
                    log.write(
                        .info, "answered by \(entry.module), route '\(entry.route.pattern)'",
                        event: EventKind.openURL.rawValue, duration: began.duration(to: time.now()),
                        fields: [LogField("origin", "\(caller.origin)")])
                }
                return Host.CallReply(reply)
            }
        ])
    }

    /// Gives the outcome to the caller, or else to the log, and to the inbox that the event came from.
    private func answer(
        of request: EventRequest, _ event: LifecycleEvent, _ tally: EventTally
    ) -> Answer<Host.CallReply> {
        if case .event(_, let answer?) = request { return answer }
        return Answer { [log, inbox, gate, origin = event.origin, entry = event.entry] result in
            if case .failure(let error) = result {
                log.write(
                    .warning, "not opened: \(error)", event: EventKind.openURL.rawValue,
                    fields: [LogField("origin", "\(origin)")])
                // What the end of the app came before is for the next host.
                if case RouteError.stopped = error { return }
            } else if let entry {
                gate.lane.noteClaimed(entry)
            }
            if let entry { inbox?.ended(entry, EventOutcome(tally, result)) }
        }
    }
}
