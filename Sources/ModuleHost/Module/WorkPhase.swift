/// The phase of a piece of work off the lane, and of the thread that runs it.
///
/// ```
/// waiting → running → returning → ended → over
/// any of these → ended
/// ```
///
/// ``apply(_:)`` is the only transition function: it returns the effects that the ``ModuleWork`` has to carry out.
struct WorkPhase: Hashable {
    enum Step: Hashable {
        case waiting, running
        /// Its result, or its error, is on the way to the module.
        case returning
        /// The module receives its result, or does not want it any more.
        case ended
        /// The module has nothing to do with it any more.
        case over
    }

    /// The thread of synchronous work, which it keeps until it returns.
    enum Thread: Hashable {
        case none
        case inWork
        /// Its place was given to another thread.
        case replaced
    }

    private(set) var step = Step.waiting
    private(set) var thread = Thread.none

    enum Change: Hashable {
        /// A thread is free for it.
        case begin(keepsThread: Bool)
        /// The work has returned, or thrown.
        case returned
        case deadline
        /// The time of its hold is over.
        case holdRanOut
        /// The module cancels it, or is unloaded.
        case drop
        /// The module receives its end.
        case take
        /// The module has received its end, or will not.
        case finish
    }

    /// Actions that a change calls for.
    struct Effects: OptionSet, Hashable {
        let rawValue: UInt16
        static let run = Effects(rawValue: 1)
        static let handOver = Effects(rawValue: 1 << 1)
        static let fail = Effects(rawValue: 1 << 2)
        static let release = Effects(rawValue: 1 << 3)
        /// The module receives the end, which no cancellation changes any more.
        static let receive = Effects(rawValue: 1 << 4)
        static let cancelTask = Effects(rawValue: 1 << 5)
        static let cancelAlarm = Effects(rawValue: 1 << 6)
        static let replaceThread = Effects(rawValue: 1 << 7)
        static let giveThreadBack = Effects(rawValue: 1 << 8)
        /// It counts no longer for ``ModuleWork/limit``.
        static let uncount = Effects(rawValue: 1 << 9)
    }

    /// Moves to the phase that follows a change.
    ///
    /// - Returns: The effects to carry out. Empty if the change has no meaning in this phase, which stays unchanged.
    mutating func apply(_ change: Change) -> Effects {
        switch (change, step) {
        case (.begin(let keepsThread), .waiting):
            step = .running
            if keepsThread { thread = .inWork }
            return .run
        case (.returned, _):
            var effects: Effects = .cancelAlarm
            if thread == .replaced { effects.insert(.giveThreadBack) }
            // Work without a thread of its own is not counted any more.
            if step == .over, thread != .none { effects.insert(.uncount) }
            thread = .none
            return effects.union(move(from: .running, to: .returning, .handOver))
        case (.deadline, _):
            let effects: Effects = thread == .inWork ? .replaceThread : []
            if thread == .inWork { thread = .replaced }
            return effects.union(move(from: .running, to: .returning, [.cancelTask, .fail]))
        case (.holdRanOut, .waiting), (.holdRanOut, .running):
            return move(from: step, to: .returning, [.cancelTask, .fail])
        case (.drop, .waiting), (.drop, .running), (.drop, .returning):
            // The alarm gives the place of a thread that does not return to another.
            let effects: Effects = thread == .inWork ? [] : [.cancelTask, .cancelAlarm]
            return move(from: step, to: .ended, effects.union(.release))
        case (.take, .returning): return move(from: step, to: .ended, .receive)
        case (.finish, .waiting), (.finish, .running), (.finish, .returning), (.finish, .ended):
            return move(from: step, to: .over, thread == .none ? .uncount : [])

        // The change has happened already, or comes too late. Spelled out, with no `default`: a new step must be
        // placed by hand.
        case (.begin, .running), (.begin, .returning), (.begin, .ended), (.begin, .over),
            (.holdRanOut, .returning), (.holdRanOut, .ended), (.holdRanOut, .over),
            (.drop, .ended), (.drop, .over), (.take, .waiting), (.take, .running), (.take, .ended),
            (.take, .over), (.finish, .over):
            return []
        }
    }

    private mutating func move(from: Step, to next: Step, _ effects: Effects) -> Effects {
        guard step == from else { return [] }
        step = next
        return effects
    }
}
