extension AppHost {
    /// Exchanges the slatefile while the app runs: modules are created and launched; order, routes, signals
    /// and limits are exchanged atomically between two events; and modules that are no longer named are
    /// released.
    ///
    /// Waits for READY, and for a reload in progress. Where a module cannot be created or launched everything
    /// stays unchanged.
    ///
    /// - Parameters:
    ///   - slatefile: The new slatefile; checked.
    ///   - tokens: The tokens that belong to it.
    ///   - origin: The origin of the request.
    ///   - notifiesUnchanged: Whether modules that take settings are notified even where nothing changed.
    ///   - completion: Called once, on any thread.
    package func reload(
        _ slatefile: Slatefile, tokens: TokenStore, origin: Origin, notifiesUnchanged: Bool = true,
        completion: @escaping @Sendable (ReloadOutcome) -> Void
    ) {
        let pending = CallCompletion<ReloadOutcome> { completion((try? $0.get()) ?? .stopped) }
        let request = ReloadRequest(
            slatefile: slatefile.namingFacades(), tokens: tokens, origin: origin,
            notifiesUnchanged: notifiesUnchanged,
            completion: pending)
        gate.lane.enqueue(
            LaneWork { [app] thread in
                app.open(on: thread).reloads.begin(request)
            } onAbandon: {
                pending.finish(.success(.stopped))
            })
    }

    /// Notifies modules that take settings of their current ones, so that they can reopen files.
    func repeatSettings(origin: Origin) {
        let configs = slatefile.configs
        onLane { app, _ in
            let job = app.configurationJob(app.slatefile, configs, origin)
            if !app.isHeld(job) { app.gate.lane.prepend([job]) }
        }
    }
}

extension App {
    /// Creates the job that notifies modules that stay.
    ///
    /// - Parameters:
    ///   - slatefile: The slatefile that takes effect, or is read again.
    ///   - configs: The settings of its modules.
    ///   - origin: The origin of the reload.
    ///   - reload: The reload; nil where nothing changes.
    func configurationJob(
        _ slatefile: Slatefile, _ configs: [ModuleID: JSONValue], _ origin: Origin,
        of reload: ReloadTransaction? = nil
    ) -> EventJob {
        var settings = ConfigurationReload(
            appConfig: slatefile.config,
            isAppConfigChanged: reload?.difference.isAppConfigChanged == true, configs: configs)
        if let reload {
            settings.changed = Set(reload.plan.reconfigured)
            settings.created = Set(reload.staged.map(\.id))
        }
        // Those that are to be recreated when they return keep their settings until then.
        for record in reloads.outdatedRecords { settings.configs[record.id] = record.entry.config }
        return EventJob(.own(.reload(settings, origin: origin)), in: LaneConfined(self))
    }
}
