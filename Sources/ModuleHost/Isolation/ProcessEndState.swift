/// The end of several processes under one clock, as a value without processes.
///
/// ```
/// asking → asked → terminating → killing
/// ```
///
/// ``apply(_:)`` is the only transition function: it changes the state and returns the effects, but carries out none.
struct ProcessEndState: Hashable {
    /// The phases of the clock.
    ///
    /// When no process is left, the next one starts from the beginning.
    enum Phase: Hashable {
        /// Processes are being asked to end; the clock does not run yet.
        case asking
        /// All were asked; the clock runs.
        case asked
        /// The remaining ones have received SIGTERM.
        case terminating
        /// The remaining ones have received SIGKILL.
        case killing
    }

    /// The numbers that name processes here.
    typealias Number = Int

    /// The times from one phase to the next.
    struct Times: Hashable {
        /// From the start of the clock to SIGTERM.
        var asked: Duration
        /// From SIGTERM to SIGKILL.
        var terminating: Duration
    }

    enum Change: Hashable {
        /// A process is to end.
        case ask(Number)
        /// All processes were asked: the clock starts.
        case start(Times)
        /// The time of the phase is over.
        case timeUp(Phase)
        /// A process has ended.
        case ended(Number)
    }

    enum Effect: Hashable {
        /// Ask a process to end, and close its input.
        case ask(Number)
        /// Apply ``Change/timeUp(_:)`` with the phase after this time.
        case wait(Duration, Phase)
        case terminate([Number])
        case kill([Number])
        /// No process is left, and the clock had been started.
        case finish
    }

    private(set) var phase = Phase.asking
    private(set) var running: Set<Number> = []
    private var times: Times?

    /// Whether every process that was asked has ended.
    var isOver: Bool { running.isEmpty }

    /// Moves to the state that follows a change.
    ///
    /// - Returns: The effects to carry out, in order.
    mutating func apply(_ change: Change) -> [Effect] {
        switch change {
        case .ask(let number):
            running.insert(number)
            // A late one has what is left of the time.
            return switch phase {
            case .asking, .asked: [.ask(number)]
            case .terminating: [.ask(number), .terminate([number])]
            case .killing: [.ask(number), .kill([number])]
            }
        case .start(let times):
            guard case .asking = phase else { return [] }
            guard !isOver else { return [.finish] }
            phase = .asked
            self.times = times
            return [.wait(times.asked, .asked)]
        case .timeUp(let over):
            guard over == phase, !isOver, let times else { return [] }
            let left = running.sorted()
            switch phase {
            case .asked:
                phase = .terminating
                return [.terminate(left), .wait(times.terminating, .terminating)]
            case .terminating:
                phase = .killing
                return [.kill(left)]
            case .asking, .killing: return []
            }
        case .ended(let number):
            guard running.remove(number) != nil, isOver else { return [] }
            let hadStarted = phase != .asking
            (phase, times) = (.asking, nil)
            return hadStarted ? [.finish] : []
        }
    }
}
