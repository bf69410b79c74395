/// The place of a module in the slatefile; the modules that it needs stand before it.
typealias Place = Int

/// The part of a slatefile entry on which the life of its module depends.
struct ModuleEntry: Hashable, Sendable {
    /// The cause that brings the module up.
    enum Start: Hashable, Sendable, CaseIterable {
        /// The launch of the app; a failure is final.
        case eager
        /// The launch of the app, and an alarm after each failure.
        case eagerWithRetry
        /// A use: a call, a durable event, or a module that needs it.
        case lazy
        /// A use; without one for a while, the module is unloaded.
        case lazyWithIdle
    }

    var needs: [Place]
    var start: Start
    /// Whether the app ends if the module cannot come up; only for `eager`.
    var isRequired: Bool
    /// Whether the program ends on purpose; only for `eager`.
    var ends: Bool
    /// Whether a replacement stops the old instance before the new one starts.
    var stopsFirst: Bool

    init(
        needs: [Place] = [], start: Start = .eager, isRequired: Bool = false, ends: Bool = false,
        stopsFirst: Bool = false
    ) {
        self.needs = needs
        self.start = start
        self.isRequired = isRequired
        self.ends = ends
        self.stopsFirst = stopsFirst
    }

    var isLazy: Bool { start == .lazy || start == .lazyWithIdle }
    /// Whether an alarm follows a failure.
    var isRetried: Bool { start != .eager }
}

/// The only state of a module: no other value repeats what it says.
enum ModuleLife: UInt8, Hashable, Sendable, CaseIterable {
    /// No instance: not created yet, or unloaded. Moves to `making`.
    case idle
    /// No instance: the last one failed, and its delay is not over. Moves to `due`.
    case failed
    /// No instance: the last one failed, and the next try may begin. Moves to `making`.
    case due
    /// No instance: the program has ended on purpose. Counts as running for the modules that need it.
    case done
    /// Its process starts, or its `init` runs. Moves to `launching`, `failed` or `done`.
    case making
    /// It receives `launch`. Moves to `running`, `failed` or `done`.
    case launching
    /// It receives events and calls. Moves to `unloading`, `failed` or `done`.
    case running
    /// It receives the shutdown events, and is released. Moves to `idle`.
    case unloading

    /// Whether there is an instance.
    var hasInstance: Bool {
        switch self {
        case .making, .launching, .running, .unloading: true
        case .idle, .failed, .due, .done: false
        }
    }

    /// Whether it changes without an alarm, a use or a person.
    var isMoving: Bool {
        switch self {
        case .making, .launching, .unloading: true
        case .idle, .failed, .due, .done, .running: false
        }
    }
}

/// The instance that a replacement brings up beside the old one, or in its stead.
enum StagedLife: UInt8, Hashable, Sendable, CaseIterable {
    /// Its turn has not come.
    case waiting
    case making
    case launching
    /// It has launched, and takes effect with the whole batch.
    case ready
    case failed

    var hasInstance: Bool {
        switch self {
        case .making, .launching, .ready: true
        case .waiting, .failed: false
        }
    }
}

/// One entry of the slatefile: its life, and what belongs to the entry rather than to an instance.
struct HostedModule: Hashable, Sendable {
    var life = ModuleLife.idle
    /// The part of a replacement; nil for a module that none concerns.
    var staged: StagedLife?
    /// Whether a replaced instance receives the shutdown events beside the current one.
    var isLeaving = false
    /// Whether an instance that overran its deadline while it was brought up has not returned.
    var isStuck = false
    /// Whether callers wait for the module.
    var hasCallers = false
    /// Whether a durable event waits for the module.
    var isOwed = false
    /// Whether an alarm ends the delay after a failure.
    var hasAlarm = false
    /// Whether a reload has removed the entry.
    var isGone = false

    init() {}
}

/// A reload or a restart: instances that take effect together.
struct ReplacementBatch: Hashable, Sendable {
    /// The fate of the others when one fails.
    enum Failure: UInt8, Hashable, Sendable {
        /// Nothing changes.
        case undoesAll
        /// The others take effect.
        case isLeftOut
    }

    /// The modules whose entries go with the batch; the others of it have a staged instance.
    var removed: [Place]
    var failure: Failure
    /// Whether the instances of `stopsFirst` modules are not all released yet.
    var isStopping: Bool
}

/// The numbers that the metrics and the health of the host show.
struct ModuleCounts: Hashable, Sendable {
    /// The modules of the slatefile in effect.
    var modules = 0
    var running = 0
    /// Those that failed, and those that a failed need keeps down.
    var failed = 0
}

/// An event in the lives of the modules of an app.
enum ModuleInput: Hashable, Sendable {
    case call(Place)
    case durable(Place)
    case made(Place)
    case launched(Place)
    case failed(Place)
    case late(Place)
    case died(Place)
    case ended(Place)
    case stagedMade(Place)
    case stagedLaunched(Place)
    case stagedFailed(Place)
    case stagedLate(Place)
    case returned(Place)
    case unloaded(Place)
    case left(Place)
    case alarm(Place)
    case idle(Place)
    case unload(Place)
    case restart(Place)
    case reload(recreate: [Place], remove: [Place], ReplacementBatch.Failure)
    case stop
}

/// Work that a change calls for; carried out by the lane after the change.
enum ModuleEffect: Hashable, Sendable {
    case make(Place)
    case launch(Place)
    case makeStaged(Place)
    case launchStaged(Place)
    /// Takes the current instance down.
    case unload(Place)
    /// Takes a replaced instance, or a staged one that is not needed, down.
    case release(Place)
    case setAlarm(Place)
    case answer(Place, succeeded: Bool)
    case deliver(Place)
    case moveToDeadLetters(Place)
    /// Every eager module has come up or failed.
    case ready
    /// A required module cannot come up.
    case endApp
    case committed, rolledBack
    case over
}
