import AppService

/// A process that is to end.
protocol EndingProcess: AnyObject, Sendable {
    /// Asks the process to end, and closes its input. Does not wait.
    func ask()
    /// Asks the process and its group to end by SIGTERM.
    ///
    /// - Parameter time: The time that it had, for the log.
    func terminate(after time: Duration)
    /// Kills the process and its group.
    func kill()
    /// Calls `body` once the process has ended, on any thread.
    func whenEnded(_ body: @escaping @Sendable () -> Void)
}

/// The end of several processes together: all are asked, then SIGTERM, then SIGKILL, under one clock.
///
/// From any thread; no method waits. ``ProcessEndState`` has the rules.
final class ProcessEnds: Sendable {
    private struct State {
        var ends = ProcessEndState()
        var processes: [ProcessEndState.Number: (process: any EndingProcess, module: ModuleID)] =
            [:]
        var last = 0
        var times: ProcessEndState.Times?
        var alarm: (any Alarm)?
        /// Called when all have ended.
        var waiting: [@Sendable () -> Void] = []
    }

    private let time: any TimeSource
    private let state = Guarded(State())

    init(time: any TimeSource) { self.time = time }

    /// The modules of the processes that were asked and have not ended, in the order in which they were asked.
    var modules: [ModuleID] {
        state.withLock { state in state.processes.sortedByNumber(\.key).map(\.value.module) }
    }

    /// Whether the clock runs.
    var isTimed: Bool { state.withLock { $0.alarm != nil } }

    /// Asks a process to end.
    func ask(_ process: any EndingProcess, of module: ModuleID) {
        let number = state.withLock { state in
            state.last += 1
            state.processes[state.last] = (process, module)
            return state.last
        }
        apply(.ask(number))
        process.whenEnded { [self] in
            apply(.ended(number))
        }
    }

    /// Starts the clock, unless it runs: no further process is about to be asked.
    ///
    /// - Parameters:
    ///   - finished: Called once when all have ended, on any thread, unless they have ended by now.
    /// - Returns: Whether all have ended.
    func finish(
        _ times: ProcessEndState.Times, then finished: @escaping @Sendable () -> Void
    ) -> Bool {
        let isOver = state.withLock { state in
            guard !state.ends.isOver else { return true }
            state.times = state.times ?? times
            state.waiting.append(finished)
            return false
        }
        if !isOver { apply(.start(times)) }
        return isOver
    }

    private func apply(_ change: ProcessEndState.Change) {
        let (effects, processes) = state.withLock { state in
            let processes = state.processes.mapValues(\.process)
            let effects = state.ends.apply(change)
            if case .ended(let number) = change { state.processes[number] = nil }
            return (effects, processes)
        }
        for effect in effects { carryOut(effect, on: processes) }
    }

    private func carryOut(
        _ effect: ProcessEndState.Effect,
        on processes: [ProcessEndState.Number: any EndingProcess]
    ) {
        switch effect {
        case .ask(let number): processes[number]?.ask()
        case .wait(let duration, let phase):
            let alarm = time.schedule(after: duration) { [self] in apply(.timeUp(phase)) }
            state.withLock { $0.alarm = alarm }
        case .terminate(let numbers):
            let time = state.withLock { $0.times?.asked } ?? .zero
            for number in numbers { processes[number]?.terminate(after: time) }
        case .kill(let numbers): for number in numbers { processes[number]?.kill() }
        case .finish:
            let waiting = state.withLock { state in
                state.alarm?.cancel()
                (state.alarm, state.times) = (nil, nil)
                defer { state.waiting = [] }
                return state.waiting
            }
            for notify in waiting { notify() }
        }
    }
}
