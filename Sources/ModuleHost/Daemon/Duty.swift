import AppService
import Synchronization

/// A loop of the daemon, such as taking signals, that one of two threads runs at a time, turn by turn.
///
/// The thread that has the duty runs a lone job of its turn itself (see ``Lane/carryLoneJob(by:if:)``). Where that
/// takes longer than ``patience``, or the lane is taken over, the other thread, which stands by, has the duty from
/// then on, and the first one stands by when it is back. So a module that takes long, or never returns, keeps no
/// signal and no client waiting. Known as leader and followers, with one follower.
final class Duty: LaneCarrier {
    /// The next step of the loop.
    enum Next: Hashable, Sendable {
        case goOn
        case end
    }

    /// The time after which the duty passes to the other thread, at least; at most twice this time.
    static let patience = Duration.milliseconds(5)

    private struct State {
        /// Whether the second thread is wanted, which it is from the first job on that could have been carried, and
        /// whether it was started.
        var wantsSecond = false
        var hasSecond = false
        /// The thread that stands by; 0 for none.
        var standby: UInt = 0
        /// Whether the duty was passed to a thread that has not noticed it yet.
        var isPassed = false
        /// Whether the thread that has the duty carries the lane, and how often it has.
        var isCarrying = false
        var carried = 0
        /// The job for which the timer was set; nil where it is not set.
        var watched: Int?
        var isOver = false
    }

    private let state = Guarded(State())
    /// The thread that has the duty; 0 before the first turn.
    private let holder = Atomic<UInt>(0)
    private let name: String
    private let patience: Duration
    private let timer: KernelTimer?
    private let lane: Lane
    private let begin: @Sendable () -> Void
    private let pause: @Sendable () -> Void
    private let turn: @Sendable (_ waits: Bool) -> Next

    /// Creates a duty that is not begun.
    ///
    /// - Parameters:
    ///   - lane: The lane of which the turns list jobs.
    ///   - patience: The time after which the duty passes to the other thread.
    ///   - begin: Called on a thread before its first turn, and before the first one after a job that it has
    ///     carried.
    ///   - pause: Called on a thread before it carries a job, and before it stands by for the first time.
    ///   - turn: Runs one turn. Receives whether it may wait, which it may not after a job that was carried: there
    ///     may be a result to send. Never runs on two threads at once.
    init(
        _ name: String, of lane: Lane, patience: Duration = Duty.patience,
        begin: @escaping @Sendable () -> Void = {}, pause: @escaping @Sendable () -> Void = {},
        turn: @escaping @Sendable (_ waits: Bool) -> Next
    ) {
        self.name = name
        self.lane = lane
        self.patience = patience
        self.begin = begin
        self.pause = pause
        self.turn = turn
        // Without room for one, no job is carried.
        timer = try? KernelTimer()
    }

    /// Runs turns on the calling thread, and where needed on another, until one is the last.
    ///
    /// - Parameter startsSecond: Whether the second thread is started at once, and not when it is needed.
    func run(startsSecond: Bool = false) {
        holder.store(NativeThread.current, ordering: .releasing)
        if startsSecond {
            state.withLock { $0.wantsSecond = true }
            startSecond()
        }
        lane.add(self)
        serve()
    }

    private func serve() {
        repeat {
            begin()
            var waits = true
            while isCurrent {
                guard turn(waits) == .goOn else { return end() }
                // Not twice in turn: where there is more to do, one thread takes it and another runs it.
                let hasCarried = lane.carryLoneJob(by: self, if: waits)
                waits = !hasCarried
                startSecond()
                if hasCarried, isCurrent { begin() }
            }
        } while standBy()
    }

    /// Whether the next lone job can be carried.
    var hasStandby: Bool { state.withLock { $0.standby != 0 } }

    /// Starts the other thread if it is wanted.
    private func startSecond() {
        let isDue = state.withLock { state in
            defer { state.wantsSecond = false }
            return state.wantsSecond && !state.hasSecond && timer != nil
        }
        guard isDue else { return }
        do throws(SystemError) {
            try NativeThread.start(name: name) { [self] in
                if standBy() { serve() }
            }
            state.withLock { $0.hasSecond = true }
        } catch {
            // Without room for one, the lane's thread runs the jobs; the next job tries again.
        }
    }

    private func end() {
        lane.remove(self)
        state.withLock { $0.isOver = true }
        timer?.set(after: .zero)
    }

    /// Waits until this thread has the duty.
    ///
    /// - Returns: False where the last turn is over.
    private func standBy() -> Bool {
        pause()
        if state.withLock({ takeBack(&$0) }) { return true }
        while true {
            timer?.wait()
            let next = state.withLock { state -> Next? in
                if state.isOver { return .end }
                look(&state)
                guard isCurrent else { return nil }
                state.isPassed = false
                return .goOn
            }
            if let next { return next == .goOn }
        }
    }

    /// Notes that the calling thread stands by; or that it has the duty again, where the other thread has not woken
    /// yet: only one of them waits for the timer.
    ///
    /// - Returns: Whether it has the duty.
    private func takeBack(_ state: inout State) -> Bool {
        let current = NativeThread.current
        guard state.isPassed else {
            state.standby = current
            return false
        }
        state.isPassed = false
        state.standby = holder.exchange(current, ordering: .acquiringAndReleasing)
        return true
    }

    /// Passes the duty to the thread that stands by, where a job has lasted since the timer was set.
    private func look(_ state: inout State) {
        guard let watched = state.watched else { return }
        state.watched = nil
        guard state.isCarrying else { return }
        if state.carried == watched { pass(&state) } else { watch(&state) }
    }

    private func watch(_ state: inout State) {
        state.watched = state.carried
        timer?.set(after: patience)
    }

    private func pass(_ state: inout State) {
        holder.store(state.standby, ordering: .releasing)
        state.standby = 0
        state.isPassed = true
        state.isCarrying = false
        state.watched = nil
    }

    // MARK: The lane

    var isCurrent: Bool { holder.load(ordering: .acquiring) == NativeThread.current }

    func beginCarrying() -> Bool {
        state.withLock { state in
            guard state.standby != 0 else {
                state.wantsSecond = true
                return false
            }
            state.isCarrying = true
            state.carried &+= 1
            return true
        }
    }

    func watchJob() {
        pause()
        state.withLock { state in
            if state.watched == nil { watch(&state) }
        }
    }

    func passOn() {
        state.withLock { state in
            guard state.isCarrying else { return }
            pass(&state)
            timer?.set(after: .zero)
        }
    }

    func endCarrying() {
        state.withLock { state in
            if isCurrent { state.isCarrying = false }
        }
    }
}
