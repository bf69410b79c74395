import AppService

/// The processes of the modules of one host, from their start to their end.
///
/// From any thread.
final class ModuleProcesses: Sendable {
    private enum Phase {
        case open
        /// No process starts any more.
        case closed
        /// The host's process is about to exit, and takes note of nothing any more.
        case silent
    }

    private struct State {
        var phase = Phase.open
        var running: [ObjectIdentifier: ModuleProcess] = [:]
        /// The number of processes that are being started.
        var starting = 0
        var hasStarted = false
        /// The modules that are unloaded while the app runs.
        var unloads: [ObjectIdentifier: ProcessEnds] = [:]
    }

    private let time: any TimeSource
    private let state = Guarded(State())
    /// The end of the processes in a stop, in which they end together.
    let ends: ProcessEnds

    init(time: any TimeSource) {
        self.time = time
        ends = ProcessEnds(time: time)
    }

    /// Whether no process starts any more.
    var isClosed: Bool { state.withLock { if case .open = $0.phase { false } else { true } } }

    // MARK: Starting

    /// Starts a process.
    ///
    /// - Throws: ``IsolationError``, of `make` or since the host has ended. Where the process of the host is about to
    ///   exit, this does not return.
    func start(
        _ make: () throws(IsolationError) -> ModuleProcess
    ) throws(IsolationError) -> ModuleProcess {
        let before = state.withLock { state in
            if case .open = state.phase {
                (state.starting, state.hasStarted) = (state.starting + 1, true)
            }
            return state.phase
        }
        try check(before)
        let process: ModuleProcess
        do throws(IsolationError) { process = try make() } catch {
            state.withLock { $0.starting -= 1 }
            throw error
        }
        let after = state.withLock { state in
            state.starting -= 1
            if case .open = state.phase { state.running[ObjectIdentifier(process)] = process }
            return state.phase
        }
        if case .open = after {} else { process.kill(because: .asked) }
        try check(after)
        process.whenEnded { [self] in
            state.withLock { $0.running[ObjectIdentifier(process)] = nil }
        }
        return process
    }

    /// Handles the wish for a process after the end of the host, as ``start(_:)`` does.
    func refuseStart() throws(IsolationError) { try check(state.withLock(\.phase)) }

    private func check(_ phase: Phase) throws(IsolationError) {
        switch phase {
        case .open: return
        case .closed: throw .gone
        // The thread would report an event as done that the module has not received.
        case .silent: while true { Latch().wait() }
        }
    }

    // MARK: Ending

    /// Ends one process while the app runs, and waits for that; a stop that begins meanwhile waits for it, too.
    func end(_ process: ModuleProcess, of module: ModuleID, _ times: ProcessEndState.Times) {
        let unload = ProcessEnds(time: time)
        state.withLock { $0.unloads[ObjectIdentifier(unload)] = unload }
        unload.ask(process, of: module)
        let done = BlockingFuture<Void>()
        if !unload.finish(times, then: { done.keep(()) }) { _ = done.take() }
        state.withLock { $0.unloads[ObjectIdentifier(unload)] = nil }
    }

    /// Starts the clock of the processes that were asked to end.
    ///
    /// - Parameter finished: Called when some have ended, on any thread: then all may have.
    /// - Returns: Whether all have ended.
    func finish(
        _ times: ProcessEndState.Times, then finished: @escaping @Sendable () -> Void
    ) -> Bool {
        var isOver = true
        for ends in allEnds where !ends.finish(times, then: finished) { isOver = false }
        return isOver
    }

    /// The modules whose processes were asked to end and have not ended.
    var ending: [ModuleID] { allEnds.flatMap(\.modules) }

    private var allEnds: [ProcessEnds] { state.withLock { Array($0.unloads.values) } + [ends] }

    // MARK: The end of the host

    /// Kills the processes that still run; none starts any more.
    func killAll() {
        let left = state.withLock { state in
            if case .open = state.phase { state.phase = .closed }
            return Array(state.running.values)
        }
        for process in left { process.kill(because: .asked) }
    }

    /// Takes note of nothing any more, since the process of the host is about to exit.
    ///
    /// No process starts, and none that ends is reported to a module: an event that a module has not answered stays
    /// undelivered.
    func silence() {
        let left = state.withLock { state in
            state.phase = .silent
            return Array(state.running.values)
        }
        for process in left { process.silence() }
    }

    /// Kills the processes that still run, and those that they have started and that carry the mark of this host,
    /// whatever group or session they have moved to; waits for their end.
    ///
    /// - Parameters:
    ///   - mark: The mark; nil for a host without one.
    ///   - limit: The longest wait.
    func endAll(_ mark: ProcessMark?, within limit: Duration, log: Log) {
        guard state.withLock(\.hasStarted) else { return }
        let deadline = ContinuousClock.now + limit
        while state.withLock({ $0.starting > 0 }), ContinuousClock.now < deadline {
            _ = Signals.wait(for: SignalSet(), until: .now + .milliseconds(2))
        }
        mark?.endProcesses(of: .thisHost, within: limit, log: log)
        killAll()
    }
}
