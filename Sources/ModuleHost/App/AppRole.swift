/// The behavior that differs where an app is the process of one module, controlled by another host.
///
/// On the lane, except where a method says otherwise.
protocol AppRole: AnyObject, Sendable {
    /// The connection to the modules of other processes; nil for an app whose modules are all its own.
    var upstream: (any UpstreamCalls)? { get }

    /// The input that the lane serves while a call waits; nil for none.
    var input: (any LaneInput)? { get }

    /// Reports a module that does not return within the deadline of an event, in place of a takeover of the lane.
    ///
    /// On the thread of the watchdog's alarm, once for a delivery.
    ///
    /// - Returns: False for an app whose lane goes on without the module.
    func reportUnresponsive() -> Bool

    /// Sets the host of this app. On the thread that creates it.
    func set(_ host: AppHost)

    /// Continues after each module was created and the start-up tasks that cannot wait are done, or one of
    /// them has failed.
    func startedUp(_ app: App)

    /// Reports that a module has failed.
    ///
    /// - Parameters:
    ///   - record: The record of the module.
    ///   - step: The step in which it failed.
    ///   - error: The error that it threw.
    ///   - app: The app.
    func moduleFailed(_ record: ModuleRecord, in step: String, _ error: any Error, of app: App)

    /// Reports an error that a responder threw.
    ///
    /// - Returns: Whether the others are to be notified.
    func responderFailed(
        _ slot: ModuleSlot, in event: LifecycleEvent, _ error: any Error, of app: App
    ) -> FanStep

    /// Reports the end of an event.
    func ended(_ event: LifecycleEvent, _ tally: EventTally, of request: EventRequest, in app: App)

    /// Continues with the operation of which a request was a step.
    func completed(_ request: EventRequest, in app: App)

    /// Sends the shutdown events to the modules.
    func notifyOfStop(origin: Origin, in app: App)

    /// Takes a message of a module, on any thread.
    ///
    /// - Returns: False where the app delivers it itself.
    func take(_ message: LifecycleEvent) -> Bool

    /// Submits an event of a module to the inbox of the host that controls this process, on any thread.
    ///
    /// - Parameter sender: It learns nothing where that host has died, with which this process ends.
    /// - Returns: False for an app that has an inbox of its own, or none.
    func submit(_ record: InboxRecord, for sender: InboxSubmission.Sender) -> Bool
}

/// An app of its own, with the modules of a slatefile.
final class StandaloneRole: AppRole {
    var upstream: (any UpstreamCalls)? { nil }
    var input: (any LaneInput)? { nil }

    func reportUnresponsive() -> Bool { false }

    func set(_: AppHost) {}

    func startedUp(_ app: App) { app.launch.deliverLaunch() }

    func moduleFailed(
        _ record: ModuleRecord, in step: String, _ error: any Error, of app: App
    ) {
        let log = app.log.of(module: record.id.text)
        if error is FailedNeed {
            guard record.entry.isRequired else {
                return log.error("not launched; the app continues without it: \(error)")
            }
            log.error("not launched, and the module is required: \(error)")
            app.host?.fail("required module '\(record.id)' was not launched: \(error)")
            return
        }
        guard record.entry.isRequired else {
            return log.error("\(step) failed; the app continues without it: \(error)")
        }
        log.error("\(step) failed, and the module is required: \(error)")
        app.host?.fail("required module '\(record.id)' failed in \(step): \(error)")
    }

    func responderFailed(
        _ slot: ModuleSlot, in event: LifecycleEvent, _ error: any Error, of app: App
    ) -> FanStep {
        guard let record = app.record(of: slot) else { return .next }
        if event.kind == .launch {
            app.markFailed(record, "launch", error)
            return app.goesOn(with: event) ? .next : .end
        }
        app.logFailed(record, in: event, error)
        return .next
    }

    func ended(
        _ event: LifecycleEvent, _ tally: EventTally, of request: EventRequest, in app: App
    ) {
        let isUndelivered = tally.isUndelivered && event.entry?.only == nil
        let isAsked = isUndelivered || app.inbox?.progress.hasWaitingSenders == true
        let waiting = isAsked && tally.claimedBy == nil ? app.receiversThatWait(for: event) : []
        let undelivered =
            isUndelivered ? app.noModule(for: event, hinting: waiting.isEmpty) : nil
        app.log.write(
            .info, undelivered.map { $0 + waiting.noteOfWaiting } ?? tally.summary,
            event: event.kind.rawValue,
            duration: undelivered == nil ? app.timeInEvent : nil,
            fields: event.logFields + tally.logFields(within: app.timeInEvent))
        app.observe(event, tally)
        if case .url(let url, let token) = event.content {
            app.open(url, token, after: event, tally, of: request)
        } else if let entry = event.entry {
            var outcome = EventOutcome(tally)
            outcome.undelivered = undelivered.map { $0 + waiting.noteOfWaiting }
            outcome.waitsFor = waiting
            if tally.began == nil {
                app.inbox?.ended(entry, outcome)
            } else {
                app.inbox?.finished(entry, outcome)
            }
        }
    }

    func completed(_ request: EventRequest, in app: App) {
        switch request {
        case .own(let event) where event.kind == .launch:
            if app.failed.firstRequired == nil { app.advance(.launched) }
        case .ownChange(.activate, _): app.becomeReadyWhenReleased()
        case .ownChange(.terminate, _): app.advance(.notified)
        default: break
        }
    }

    func notifyOfStop(origin: Origin, in app: App) {
        app.deliverNow(.ownChange(.terminate, origin: origin), limit: .stop)
    }

    func take(_: LifecycleEvent) -> Bool { false }

    func submit(_: InboxRecord, for _: InboxSubmission.Sender) -> Bool { false }
}

extension [ModuleID] {
    /// The modules that do not run and that an event waits for, in words that continue its result.
    fileprivate var noteOfWaiting: String {
        isEmpty ? "" : "; it waits for modules that do not run: \(map(\.text).shortList())"
    }
}
