import AppService
import Synchronization

/// An instance of a module, or the place of one that is about to be made.
///
/// Belongs to the lane.
final class ModuleRecord {
    /// The entry of the slatefile; for an overdue module, that of an earlier slatefile.
    var entry: Slatefile.Module
    let slot: ModuleSlot
    /// Changed by ``App/apply(_:to:)`` alone.
    private(set) var life = ModuleLife.waiting
    /// The time at which its state last changed.
    private(set) var changedAt = WallTime.now()
    /// For another attempt to bring a failed module up: the time since when it is failed.
    var failedSince: WallTime?
    /// The time at which it became overdue; nil while it is not.
    private(set) var overdueSince: WallTime?
    var module: (any Module)?
    /// ``module``, where it has a process of its own.
    var isolated: IsolatedModule?
    /// The process or the asynchronous handlers of ``module``; nil where it answers each event at once.
    var taker: (any EventTaker)?
    /// The start of its process, where that runs and is to end with the place; nil for any other.
    var starting: ProcessStart?
    var context: ModuleContext?
    /// Its long-running task, from its beginning on; nil where it has none.
    var run: ModuleRun?
    /// The parts of a module that was taken out, until it is unloaded.
    var unloadingParts: UnloadingParts?
    /// The routes that the last instance of a module in a process of its own had; nil before there was one.
    var knownRoutes: [AnyRoute]?
    /// The use of a module with an idle time; nil for others.
    var use: ModuleUse?
    /// The status of its process before there was a module, or after it; nil where none is known.
    var lastProcess: ModuleProcessStatus?
    /// Whether it is a program that has not ended in time for those that need it.
    var isLate = false
    /// Notes that it is late.
    var endAlarm: (any Alarm)?
    /// Whether it is overdue for a reason that was logged before, so that nothing more is logged.
    var isQuietlyOverdue = false

    init(entry: Slatefile.Module, slot: ModuleSlot) {
        self.entry = entry
        self.slot = slot
    }

    /// Changes the life.
    ///
    /// - Returns: The effects for the app to carry out.
    func apply(_ change: ModuleLife.Change) -> [ModuleLife.Effect] {
        // On a copy: while a method changes a property in place, the runtime watches each access to it.
        var next = life
        let effects = next.apply(change)
        if next.state() != life.state() { changedAt = .now() }
        if case .running = next { failedSince = nil }
        life = next
        return effects
    }

    /// Notes that it is overdue, or has rejoined: a second state beside its life.
    func note(isOverdue: Bool) {
        if isOverdue {
            overdueSince = overdueSince ?? .now()
        } else if overdueSince != nil {
            (overdueSince, changedAt) = (nil, .now())
        }
    }

    var id: ModuleID { entry.id }

    var isOnDemand: Bool { entry.isLazy }

    /// Whether it has read the app's settings.
    var readsAppSettings: Bool {
        context?.readsAppConfig.load(ordering: .relaxed) == true
    }

    var unavailability: String {
        switch life {
        case .failed(let failure): "it failed: \(failure.reason)"
        case .done: "it is done; 'hostd restart \(id)' runs it again"
        case .waiting where entry.ends: "it has not answered 'initialize'"
        case .waiting, .making: "it is not created yet"
        case .made where module == nil: "it is not created yet"
        case .made, .ready, .catchingUp, .running, .leaving, .released:
            isOnDemand ? "it was unloaded" : "it was removed"
        }
    }

    /// The reason why it receives nothing more; nil for a module that has not failed.
    var failure: ModuleFailure? {
        if case .failed(let failure) = life { failure } else { nil }
    }

    var isFailed: Bool { failure != nil }

    /// Whether it failed in `init`: no module was made.
    var hasNeverRun: Bool { isFailed && module == nil }

    /// Whether it has launched in the app, and has not failed.
    var isLaunched: Bool {
        switch life {
        case .catchingUp, .running: true
        case .waiting, .making, .made, .ready, .failed, .done, .leaving, .released: false
        }
    }

    /// The shutdown events that it has yet to receive, in order.
    var shutdownEvents: [EventKind] {
        if case .leaving(let events) = life { events } else { [] }
    }

    /// Whether it is made while the app runs, and receives `launch`.
    var isInLateLaunch: Bool {
        if case .catchingUp(let missed) = life { missed.events.first == .launch } else { false }
    }

    /// Whether it is yet to be created, or to receive `launch`.
    var isUnlaunched: Bool {
        switch life {
        case .waiting, .making, .made: true
        case .ready, .catchingUp, .running, .failed, .done, .leaving, .released: false
        }
    }
}
