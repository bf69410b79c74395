/// Events that the process wants again later: `{"retryMs": 5000}` as the answer.
extension IsolatedModule {
    var pauseEnd: ContinuousClock.Instant? { pause.end }

    /// Returns the time after which the process wants an event again; nil where it does not.
    ///
    /// - Throws: ``IsolationError/retry(_:_:)`` for an event that it cannot receive again.
    func retryTime(_ answer: JSONValue, for event: LifecycleEvent) throws(IsolationError)
        -> Duration?
    {
        guard declaration.version >= 3, let value = answer["retryMs"] else { return nil }
        guard let number = value.int, EventPause.times.contains(.milliseconds(number)) else {
            throw .retry(event.kind, excerpt(value.text))
        }
        guard event.entry != nil, event.kind.isWindowed else { throw .retry(event.kind, nil) }
        return .milliseconds(number)
    }

    /// Has the process receive an event again later.
    ///
    /// - Returns: The reply: the answer is to come.
    func wantsAgain(_ event: LifecycleEvent, after time: Duration) -> EventReply {
        let services = context.host.services
        guard services.retry(context.slot, event) else { return .received }
        let module = LaneConfined(self)
        pause.begin(at: event.kind, for: time) { module.openInModule().goOn() }
        return .open
    }

    /// Ends the pause at the request of the process.
    ///
    /// In the module.
    func endPause() { pause.finish { goOn() } }
}
