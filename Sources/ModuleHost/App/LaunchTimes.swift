import AppService

/// The kind of a step of a launch.
package enum LaunchStepKind: String, Sendable {
    /// The creation of a module.
    case module
    /// The start of a module's process, and the creation of the module.
    case process
    /// The rest of a program that ends, which a module needs that is created later.
    case program
    /// A start-up task.
    case task
    /// The delivery of `launch` to all modules.
    case launch
    /// The root, and `activate`.
    case root
}

/// The times of the steps of a launch, from its beginning to READY.
///
/// Steps that took less than a millisecond are not kept.
final class LaunchTimes: Sendable {
    /// The end of a part of the launch.
    enum Mark: Int {
        /// Every module is created, and the start-up tasks begin.
        case created
        /// The tasks that the launch waits for have ended, and `launch` is delivered.
        case tasksDone
        /// Every module has received `launch`, and the root is opened.
        case launched
        case ready
    }

    /// The creation of a module, or the wait for what must come before it.
    struct Creation {
        let kind: LaunchStepKind
        let module: ModuleID
        let started: Duration
        /// Nil while it is not over.
        var ended: Duration?
        /// The outcome, unless the module was created.
        var problem: String?
    }

    struct Times {
        /// The beginning; nil before the launch.
        fileprivate(set) var began: ContinuousClock.Instant?
        fileprivate(set) var marks: [Mark: Duration] = [:]
        fileprivate(set) var creations: [Creation] = []
    }

    private static let shortest: Duration = .milliseconds(1)
    private static let limit = 1000

    private let times = Guarded(Times())
    /// The time at which the host was made.
    let hostStarted = WallTime.now()
    /// The report at the beginning of a stop, by which modules take their tasks along; nil before.
    let atStop = Guarded<LaunchReport?>(nil)
    /// Whether the last report on the launch is kept: an earlier one that is written later must not replace it.
    let isKept = Guarded(false)

    var current: Times { times.withLock { $0 } }

    func begin(at instant: ContinuousClock.Instant) { times.withLock { $0.began = instant } }

    func mark(_ mark: Mark, at instant: ContinuousClock.Instant) {
        times.withLock { times in
            guard let began = times.began, times.marks[mark] == nil else { return }
            let now = began.duration(to: instant)
            times.endCreation(at: now, problem: "unresponsive")
            times.marks[mark] = now
        }
    }

    /// Notes that a module is about to be created.
    ///
    /// - Parameters:
    ///   - kind: The kind of step.
    ///   - module: The module.
    ///   - start: The time at which the step began, such as the start of a process; nil for `instant`.
    ///   - instant: The time.
    func begins(
        _ kind: LaunchStepKind, _ module: ModuleID,
        from start: ContinuousClock.Instant? = nil, at instant: ContinuousClock.Instant
    ) {
        times.withLock { times in
            guard let began = times.began, times.marks.isEmpty else { return }
            // It has lost the lane, and the launch goes on.
            times.endCreation(at: began.duration(to: instant), problem: "unresponsive")
            guard times.creations.count < Self.limit else { return }
            times.creations.append(
                Creation(
                    kind: kind, module: module, started: began.duration(to: start ?? instant)))
        }
    }

    /// Notes that the creation of a module is over, unless the launch went on without it.
    func ends(_ module: ModuleID, hasFailed: Bool = false, at instant: ContinuousClock.Instant) {
        times.withLock { times in
            guard let began = times.began, let last = times.creations.last,
                last.module == module, last.ended == nil
            else { return }
            let end = began.duration(to: instant)
            times.endCreation(at: end, problem: hasFailed ? "failed" : nil)
            if end - last.started < Self.shortest { times.creations.removeLast() }
        }
    }
}

extension LaunchTimes.Times {
    /// Ends the creation that is not over, if there is one.
    fileprivate mutating func endCreation(at end: Duration, problem: String?) {
        guard let last = creations.indices.last, creations[last].ended == nil else { return }
        (creations[last].ended, creations[last].problem) = (end, problem)
    }
}
