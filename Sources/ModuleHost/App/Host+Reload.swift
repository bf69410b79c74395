extension Host {
    /// Exchanges the slatefile while the app runs: modules are made and launched, order, routes, signals
    /// and limits exchanged at one instant between two events, and what is no longer named released.
    ///
    /// Waits for READY, and for a reload that is on its way. Where a module cannot be made or launched
    /// everything stays as it was.
    ///
    /// - Parameters:
    ///   - slatefile: The new one; checked.
    ///   - tokens: The tokens that go with it.
    ///   - origin: Who wants it.
    ///   - notifiesUnchanged: Whether modules that take settings are notified also where nothing changed.
    ///   - completion: Is called once, on whatever thread.
    package func reload(
        _ slatefile: Slatefile, tokens: TokenStore, origin: Origin, notifiesUnchanged: Bool = true,
        completion: @escaping @Sendable (ReloadOutcome) -> Void
    ) {
        let answer = Answer<ReloadOutcome> { completion((try? $0.get()) ?? .stopped) }
        let request = ReloadRequest(
            slatefile: slatefile, tokens: tokens, origin: origin,
            notifiesUnchanged: notifiesUnchanged,
            answer: answer)
        gate.lane.enqueue(
            LaneWork { [app] thread in
                app.open(on: thread).reloads.begin(request)
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
