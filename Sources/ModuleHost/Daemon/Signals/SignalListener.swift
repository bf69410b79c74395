import AppService
import Synchronization

/// The thread that takes the signals of the process, one at a time.
///
/// ```swift
/// SignalListener.hold()                // the first statement of `main`
/// SignalListener.blockAll()            // before any other thread exists
/// let listener = SignalListener()
/// …                                    // start the host; at its end it calls listener.end()
/// listener.begin()
/// while listener.turn({ signal in … return .goOn }) == .goOn {}
/// ```
///
/// A signal that arrives before the first turn waits for it; real-time signals are queued, in order.
package final class SignalListener: Sendable {
    /// The signals of a terminal that keep their default action: Ctrl-Z stops a program, Ctrl-\ ends it with
    /// a core dump where those are allowed, even a host that hangs.
    ///
    /// They have it from ``begin(keepingDefault:)`` on.
    package static let keptDefault = Signals.fromKeyboard

    private struct State {
        /// The thread that takes signals; 0 once it has taken the last one.
        var thread: UInt
        /// The signals that it takes.
        var taken = SignalSet()
    }

    private let state: Guarded<State>
    private let isEnding = Atomic(false)

    /// Blocks all signals, and makes a crash end the process at once: the first statement of `main`, before
    /// it is known whether the process is a host.
    ///
    /// - Returns: The signals that were blocked before, for a process that is not a host.
    @discardableResult
    package static func hold() -> SignalSet {
        let inherited = Signals.blockExactly(takenSignals)
        Signals.endAtOnceOnCrash()
        return inherited
    }

    /// Blocks the signals that a listener takes in the calling thread.
    static func block() { Signals.blockExactly(takenSignals) }

    /// Blocks all signals in this thread and every one that it will start, so that none is lost or ends the
    /// process before a listener takes it.
    ///
    /// Signals that the parent process had ignored have an effect again. Writing to a pipe without a reader
    /// becomes an error. Call it before any other thread exists: an existing thread does not have the mask,
    /// and the kernel would deliver signals to it that end the process.
    package static func blockAll() {
        block()
        Signals.restoreIgnored()
        Signals.turnIntoErrors()
    }

    /// The signals to block: all but those that must stay unblocked.
    static var takenSignals: SignalSet {
        var set = SignalSet.all
        // Blocked, one from outside would never end the process: not even the ABRT of a watchdog.
        set.remove(Signals.synchronous)
        // Blocked, they would stay pending; ignored, they make the call that caused them fail.
        set.remove(Signals.turnedIntoErrors)
        return set
    }

    /// Makes the calling thread, the only one, take all signals but those of ``keptDefault``.
    ///
    /// For a process that waits for signals itself.
    static func takeAll() -> SignalSet { take(but: keptDefault) }

    /// Creates a listener, for the calling thread until another one begins.
    package init() { state = Guarded(State(thread: NativeThread.current)) }

    /// Makes the calling thread the one that takes signals, before its first turn.
    ///
    /// - Parameter keptDefault: Returns the signals that keep their default action instead of being taken.
    func begin(keepingDefault keptDefault: () -> [Int32] = { SignalListener.keptDefault }) {
        // First, so that ``reconsider()`` is meant for this thread from now on.
        state.withLock { $0.thread = NativeThread.current }
        let taken = Self.take(but: keptDefault())
        state.withLock { $0.taken = taken }
    }

    /// Takes one signal, unless the handler or ``end()`` has ended that.
    ///
    /// Signals that are pending at the end are not taken. Nothing is allocated for a signal except by the handler.
    ///
    /// - Parameters:
    ///   - waits: False to return at once where no signal is pending.
    ///   - keptDefault: Returns the signals that keep their default action instead of being taken; called after
    ///     ``reconsider()``.
    ///   - waiting: Returns the signals that stay pending.
    ///   - handler: Runs on this thread. Receives every signal but those kept, the synchronous ones and the
    ///     one that ``end()`` uses.
    /// - Returns: Whether to take another one.
    func turn(
        waits: Bool = true,
        keepingDefault keptDefault: () -> [Int32] = { SignalListener.keptDefault },
        leaving waiting: () -> [Int32] = { [] },
        _ handler: (ReceivedSignal) -> Duty.Next
    ) -> Duty.Next {
        guard !isEnding.load(ordering: .acquiring) else { return over() }
        var wanted = state.withLock(\.taken)
        wanted.remove(waiting())
        let next: ReceivedSignal? =
            waits ? Signals.wait(for: wanted) : Signals.wait(for: wanted, until: .now)
        guard let signal = next else { return .goOn }
        // Other processes may send this signal too; without the flag it only causes another check.
        guard signal.number == Signals.wakeUp else {
            return handler(signal) == .end ? over() : .goOn
        }
        begin(keepingDefault: keptDefault)
        return .goOn
    }

    private func over() -> Duty.Next {
        // The identity of a thread that has ended must not be used.
        state.withLock { $0.thread = 0 }
        return .end
    }

    /// Waits for one of some signals, before the first turn; all others stay pending.
    ///
    /// - Parameters:
    ///   - signals: The signals to wait for.
    ///   - keptDefault: Signals that keep their default action meanwhile.
    /// - Returns: The first of them; nil after ``end()``.
    package func waitForOne(
        of signals: [Int32], keepingDefault keptDefault: () -> [Int32]
    ) -> ReceivedSignal? {
        _ = Self.take(but: keptDefault())
        // A thread that is started from now on must have them blocked.
        defer { _ = Self.take(but: []) }
        var set = SignalSet(signals)
        set.insert(Signals.wakeUp)
        while !isEnding.load(ordering: .acquiring) {
            let signal = Signals.wait(for: set)
            if signal.number != Signals.wakeUp { return signal }
        }
        return nil
    }

    /// Makes the calling thread take all signals but those of `kept`, which have their default action.
    private static func take(but kept: [Int32]) -> SignalSet {
        var set = takenSignals
        set.remove(kept)
        Signals.blockExactly(set)
        return set
    }

    /// Makes the thread that takes signals update those that keep their default action.
    ///
    /// For any thread.
    package func reconsider() {
        // Under the lock: another thread that becomes the one that takes signals finds out by itself.
        state.withLock { state in
            if state.thread != 0 { Signals.send(Signals.wakeUp, toThread: state.thread) }
        }
    }

    /// Ends the taking of signals, or prevents it from beginning.
    ///
    /// For any thread; the one that takes signals may be in the handler.
    package func end() {
        isEnding.store(true, ordering: .releasing)
        reconsider()
    }
}
