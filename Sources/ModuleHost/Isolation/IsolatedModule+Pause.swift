/// Events that the process wants again later: `{"retryMs": 5000}` as the answer.
extension IsolatedModule {
    var pauseEnd: ContinuousClock.Instant? { pause.end }

    /// Returns the reply that an answer of the process is; ``EventReply/open`` where it wants the event again.
    func reply(to event: LifecycleEvent, _ answer: JSONValue) throws -> EventReply {
        if let time = try retryTime(answer, for: event), wantsAgain(event, after: time) {
            return .open
        }
        if event.kind.isClaimed { return .claim(answer["claimed"]?.bool ?? false) }
        let fetch =
            event.kind.wantsFetchResult
            ? answer["fetch"]?.string.flatMap(FetchResult.init) ?? .noData : nil
        if isObserver { return .observed(fetch) }
        return fetch.map(EventReply.fetch) ?? .received
    }

    /// Returns the time after which the process wants an event again; nil where it does not.
    ///
    /// - Throws: ``IsolationError/retry(_:_:)`` for an event that it cannot receive again, and for what is not a number.
    fileprivate func retryTime(
        _ answer: JSONValue, for event: LifecycleEvent
    ) throws(IsolationError) -> Duration? {
        guard declaration.version >= 3, let value = answer["retryMs"] else { return nil }
        guard let number = value.int else { throw .retry(event.kind, excerpt(value.text)) }
        guard event.entry != nil, event.kind.isWindowed else { throw .retry(event.kind, nil) }
        return .milliseconds(number)
    }

    /// Has the process receive an event again later.
    ///
    /// - Returns: False where it cannot receive it again, since it is gone.
    fileprivate func wantsAgain(_ event: LifecycleEvent, after time: Duration) -> Bool {
        let services = context.host.services
        // A thread may have waited for the answer, and the event is not open then.
        guard
            services.retry(context.slot, event)
                || services.leaveOpen(context.slot, event)
                    && services.retry(context.slot, event)
        else { return false }
        // Not the module itself: the alarm may outlast it.
        pause.begin(at: event.kind, for: time) { [watch = eventWatch] in watch.goOn() }
        return true
    }

    /// Ends the pause at the request of the process.
    ///
    /// In the module.
    func endPause() {
        // The answer that begins it may have come before this.
        takeAnswers()
        pause.finish { goOn() }
    }
}
