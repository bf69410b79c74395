/// The phase of an app between its making and its end.
///
/// ```
/// made → making → launching → activating → running ⇄ reloading
/// any of these → stopping → releasing → ended
/// ```
///
/// ``apply(_:)`` is the only way to move: it changes the phase and names what the app has to do then,
/// but does nothing, so it can be tested as a table. ``LifecycleState`` is what modules see.
enum AppPhase: Hashable {
    /// Nothing has happened yet.
    case made
    /// Modules are made, and the start-up tasks that cannot wait are run.
    case making
    /// Each module is notified of `launch`.
    case launching
    /// The root is opened, and each module is notified of `activate`.
    case activating
    /// Ready: events from outside are delivered.
    case running
    /// Ready, and another slatefile is on its way.
    case reloading
    /// A stop was decided, to come to this end: modules are notified of it.
    case stopping(Host.End)
    /// Each module that is not overdue was notified, and they are released.
    case releasing(Host.End)
    case ended

    /// A change that can be requested in a phase.
    enum Change: Hashable {
        case begin
        /// Modules are made, and the start-up tasks that cannot wait are done.
        case startedUp
        /// Each module was notified of `launch`, and none that is required has failed.
        case launched
        /// Each module was notified of `activate`.
        case activated
        case reload
        /// A reload has come to its end, whichever way.
        case reloaded
        case stop(Host.End)
        /// Each module that is not overdue was notified of the stop.
        case notified
        /// Each module was released.
        case released
    }

    /// A thing the app has to do after a change.
    enum Effect: Hashable {
        case makeModules, reportStartedUp, openRoot, becomeReady, openInbox
        case beginNextReload, undoReload
        /// Nothing more is accepted, begun or tried again.
        case closeEntrances
        case dropHeld, notifyOfStop, release
        case end(Host.End)
    }

    /// Moves to the phase that follows a change.
    ///
    /// - Returns: What is to be done, in order. Empty where the change means nothing in this phase,
    ///   which stays as it is.
    mutating func apply(_ change: Change) -> [Effect] {
        switch (self, change) {
        case (.made, .begin): return move(to: .making, [.makeModules])
        case (.making, .startedUp): return move(to: .launching, [.reportStartedUp])
        case (.launching, .launched): return move(to: .activating, [.openRoot])
        case (.activating, .activated):
            return move(to: .running, [.becomeReady, .beginNextReload, .openInbox])

        case (.running, .reload): return move(to: .reloading, [])
        case (.reloading, .reloaded): return move(to: .running, [.beginNextReload])
        // One that a stop has undone; those that wait for it learn of the stop.
        case (.stopping, .reloaded), (.releasing, .reloaded): return [.beginNextReload]

        case (.made, .stop(let end)), (.making, .stop(let end)), (.launching, .stop(let end)),
            (.activating, .stop(let end)):
            return move(to: .stopping(end), [.closeEntrances, .dropHeld, .notifyOfStop])
        case (.running, .stop(let end)):
            return move(to: .stopping(end), [.closeEntrances, .notifyOfStop])
        case (.reloading, .stop(let end)):
            return move(to: .stopping(end), [.closeEntrances, .undoReload, .notifyOfStop])

        case (.stopping(let end), .notified): return move(to: .releasing(end), [.release])
        // A module that was overdue, or held a step open, has returned.
        case (.releasing, .notified): return [.release]
        case (.releasing(let end), .released): return move(to: .ended, [.end(end)])

        // What is so already, what a stop has come before, and what cannot be from here. Spelled out,
        // with no `default`: a new phase must be placed by hand.
        case (.made, _), (.making, _), (.launching, _), (.activating, _), (.running, _),
            (.reloading, _), (.stopping, _), (.releasing, _), (.ended, _):
            return []
        }
    }

    /// Whether events from outside wait until the app is ready.
    var isBeforeReady: Bool {
        switch self {
        case .made, .making, .launching, .activating: true
        case .running, .reloading, .stopping, .releasing, .ended: false
        }
    }

    /// Whether the app is ready, and no stop was decided.
    var isReady: Bool { self == .running || self == .reloading }

    /// Whether a stop was decided.
    var isEnding: Bool { !isBeforeReady && !isReady }

    private mutating func move(to next: Self, _ effects: [Effect]) -> [Effect] {
        self = next
        return effects
    }
}
