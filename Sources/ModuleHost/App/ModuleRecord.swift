import AppService

/// One enabled module of the running app.
///
/// Belongs to the lane.
final class ModuleRecord {
    /// The state of a module.
    enum Status {
        case waiting
        case made
        /// The module has received `launch`, or does not handle it.
        case launched
        /// The module receives nothing more, for this reason.
        case failed(String)
        case released
    }

    /// The entry of the slatefile; for an overdue module, that of an earlier slatefile.
    var entry: Slatefile.Module
    let slot: ModuleSlot
    var status = Status.waiting
    var module: (any Module)?
    var context: ModuleContext?
    /// Its long-running task, from its beginning on; nil where it has none.
    var run: ModuleRun?
    /// The parts of a module that was taken out, until it is unloaded.
    var unloadingParts: UnloadingParts?
    /// The shutdown events that a module which was taken out has yet to receive.
    var shutdownEvents: [EventKind] = []
    /// The module that it needs and that had failed before it could launch; nil unless it failed for that.
    var failedNeed: ModuleID?
    /// The events that a lazy module which is being made is still to receive, the current one first; nil once it is
    /// made.
    var missed: [LifecycleEvent]?
    /// The changes of the app's state, ``App/stateChanges``, before these.
    var stateChanges = 0
    /// The use of a module with an idle time; nil for others.
    var use: ModuleUse?
    /// Whether it is overdue for a reason that was logged before, so that nothing more is logged.
    var isQuietlyOverdue = false

    init(entry: Slatefile.Module, slot: ModuleSlot) {
        self.entry = entry
        self.slot = slot
    }

    var id: ModuleID { entry.id }

    var isOnDemand: Bool { entry.isLazy }

    var unavailability: String {
        switch status {
        case .failed(let reason): "it failed: \(reason)"
        case .waiting: "it is not created yet"
        case .made where module == nil: "it is not created yet"
        case .made, .launched, .released: isOnDemand ? "it was unloaded" : "it was removed"
        }
    }

    var isFailed: Bool {
        if case .failed = status { true } else { false }
    }

    /// Whether it failed in `init`: no module was made.
    var hasNeverRun: Bool { isFailed && module == nil }

    /// Whether it runs: it has launched, and has not failed.
    var isLaunched: Bool {
        if case .launched = status { true } else { false }
    }
}

extension ModuleRecord: CallableModule {
    var hasFailed: Bool { isFailed }
    /// The instance, which is about to be called: that is a use of it.
    var instance: AnyObject? {
        use?.note()
        return module
    }
    var place: ModulePlace? { context?.place }
    func callDeadline(_ own: Duration?) -> Duration {
        context?.callDeadline(own) ?? Slatefile.Defaults.call
    }
}
