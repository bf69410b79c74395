/// The phase of an app between its creation and its end.
///
/// ```
/// made → making → launching → activating → running ⇄ reloading
/// any of these → stopping → releasing → ended
/// ```
///
/// ``apply(_:)`` is the only transition function: it changes the phase and returns the effects that the app
/// has to carry out, but carries out none, so it can be tested as a table. ``LifecycleState`` is the state
/// that modules see.
enum AppPhase: Hashable {
    /// The app was created, and nothing has happened yet.
    case made
    /// Modules are being created, and the start-up tasks that cannot wait are run.
    case making
    /// Modules receive `launch`.
    case launching
    /// The root is opened, and modules receive `activate`.
    case activating
    /// Ready: events from outside are delivered.
    case running
    /// Ready, and a reload is in progress.
    case reloading
    /// A stop was decided, with this end: modules receive the shutdown events.
    case stopping(AppHost.End)
    /// Each module that is not overdue has received the shutdown events, and they are being released.
    case releasing(AppHost.End)
    case ended

    /// A change that can be requested in a phase.
    enum Change: Hashable {
        case begin
        /// The modules are created, and the start-up tasks that cannot wait are done.
        case startedUp
        /// Each module has received `launch`, and no required one has failed.
        case launched
        /// Each module has received `activate`.
        case activated
        case reload
        /// A reload has ended, with any outcome.
        case reloaded
        case stop(AppHost.End)
        /// Each module that is not overdue has received the shutdown events.
        case notified
        /// Each module was released.
        case released
    }

    /// An action that the app has to carry out after a change.
    enum Effect: Hashable {
        case makeModules, reportStartedUp, openRoot, becomeReady, openInbox
        case beginNextReload, undoReload
        /// Accept, begin and retry nothing more.
        case closeEntrances
        case dropHeld, notifyOfStop, release
        case end(AppHost.End)
    }

    /// Moves to the phase that follows a change.
    ///
    /// - Returns: The effects to carry out, in order. Empty where the change has no meaning in this phase,
    ///   which stays unchanged.
    mutating func apply(_ change: Change) -> [Effect] {
        switch (self, change) {
        case (.made, .begin): return move(to: .making, [.makeModules])
        case (.making, .startedUp): return move(to: .launching, [.reportStartedUp])
        case (.launching, .launched): return move(to: .activating, [.openRoot])
        case (.activating, .activated):
            return move(to: .running, [.becomeReady, .beginNextReload, .openInbox])

        case (.running, .reload): return move(to: .reloading, [])
        case (.reloading, .reloaded): return move(to: .running, [.beginNextReload])
        // A reload that a stop has rolled back; those that wait for it are notified of the stop.
        case (.stopping, .reloaded), (.releasing, .reloaded): return [.beginNextReload]

        case (.made, .stop(let end)), (.making, .stop(let end)), (.launching, .stop(let end)),
            (.activating, .stop(let end)):
            return move(to: .stopping(end), [.closeEntrances, .dropHeld, .notifyOfStop])
        case (.running, .stop(let end)):
            return move(to: .stopping(end), [.closeEntrances, .notifyOfStop])
        case (.reloading, .stop(let end)):
            return move(to: .stopping(end), [.closeEntrances, .undoReload, .notifyOfStop])

        case (.stopping(let end), .notified): return move(to: .releasing(end), [.release])
        // A module that was overdue, or had a hold on a step, has returned or released it.
        case (.releasing, .notified): return [.release]
        case (.releasing(let end), .released): return move(to: .ended, [.end(end)])

        // The change has happened already, comes after a stop, or is not possible. Spelled out, with no
        // `default`: a new phase must be placed by hand.
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
