import Synchronization

/// The main thread as the one that takes the signals of the process.
///
/// ```swift
/// SignalListener.hold()                // the first statement of `main`
/// SignalListener.blockAll()            // before any other thread exists
/// let listener = SignalListener()
/// …                                    // start the host; at its end it calls listener.end()
/// listener.loop { signal in … return .goOn }
/// ```
///
/// A signal that arrives before the loop waits for it; real-time ones wait in order, each.
package final class SignalListener: Sendable {
    /// The next step of the loop.
    package enum Next: Hashable, Sendable {
        case goOn
        case end
    }

    /// The signals of a terminal that keep their default: Ctrl-Z stops a program, Ctrl-\ ends it with a core dump where
    /// those are allowed, also a host that hangs.
    ///
    /// They do so from the loop on.
    package static let keptDefault = Signals.fromKeyboard

    private let thread: UInt
    private let isEnding = Atomic(false)

    /// Holds all signals back, and has a crash end the process at once: the first statement of `main`, before it
    /// is known whether the process is a host.
    ///
    /// - Returns: The signals that were blocked before, for a process that is none.
    @discardableResult
    package static func hold() -> SignalSet {
        let inherited = Signals.blockExactly(takenSignals)
        Signals.endAtOnceOnCrash()
        return inherited
    }

    /// Holds all signals back from this thread and every one that it will start, so that none is
    /// lost or kills before ``loop(keepingDefault:_:)`` takes it.
    ///
    /// Those that the parent process had ignored count again. Writing to a pipe without a reader
    /// becomes an error. Call it before any other thread exists: one that was there has no such
    /// mask, and the kernel would give it signals to die of.
    package static func blockAll() {
        Signals.blockExactly(takenSignals)
        Signals.restoreIgnored()
        Signals.turnIntoErrors()
    }

    /// All signals but those that must stay open.
    static var takenSignals: SignalSet {
        var set = SignalSet.all
        // Blocked, one from outside would never end the process: not the ABRT of a watchdog, either.
        set.remove(Signals.synchronous)
        // Blocked, they would stay pending; ignored, they are errors of the call that caused them.
        set.remove(Signals.turnedIntoErrors)
        return set
    }

    /// Has the calling thread, the only one, take all signals but those of ``keptDefault``.
    ///
    /// For a process that waits for signals by itself.
    static func takeAll() -> SignalSet { take(but: keptDefault) }

    /// Creates a listener for the calling thread, which must be the main thread and call the loop.
    package init() { thread = NativeThread.current }

    /// Takes signals, one after the other, until the handler or ``end()`` ends it.
    ///
    /// Whatever stays pending then is not taken. Nothing is allocated for a signal but by the
    /// handler.
    ///
    /// - Parameters:
    ///   - keptDefault: Signals that keep their default action instead of being taken; asked at the
    ///     beginning and after ``reconsider()``.
    ///   - waiting: Signals that are left to wait; asked before each that is taken.
    ///   - handler: Runs on this thread. Gets every signal but those kept, the synchronous ones and
    ///     the one that ``end()`` uses.
    package func loop(
        keepingDefault keptDefault: () -> [Int32] = { SignalListener.keptDefault },
        leaving waiting: () -> [Int32] = { [] },
        _ handler: (ReceivedSignal) -> Next
    ) {
        var set = Self.take(but: keptDefault())
        while !isEnding.load(ordering: .acquiring) {
            var wanted = set
            wanted.remove(waiting())
            let signal = Signals.wait(for: wanted)
            // Others may send this one too; without the flag it means no more than to look again.
            if signal.number == Signals.wakeUp {
                set = Self.take(but: keptDefault())
            } else if handler(signal) == .end {
                return
            }
        }
    }

    /// Waits for one of some signals, before the loop; all others go on waiting for that.
    ///
    /// - Parameters:
    ///   - signals: Which.
    ///   - keptDefault: Signals that keep their default action meanwhile.
    /// - Returns: The first of them; nil after ``end()``.
    package func waitForOne(
        of signals: [Int32], keepingDefault keptDefault: () -> [Int32]
    ) -> ReceivedSignal? {
        _ = Self.take(but: keptDefault())
        // No thread that is started from now on may have them open.
        defer { _ = Self.take(but: []) }
        var set = SignalSet(signals)
        set.insert(Signals.wakeUp)
        while !isEnding.load(ordering: .acquiring) {
            let signal = Signals.wait(for: set)
            if signal.number != Signals.wakeUp { return signal }
        }
        return nil
    }

    /// Has the loop take all signals but those of `kept`, which do what they do by default.
    private static func take(but kept: [Int32]) -> SignalSet {
        var set = takenSignals
        set.remove(kept)
        Signals.blockExactly(set)
        return set
    }

    /// Has the loop ask again which signals keep their default action.
    ///
    /// For any thread.
    package func reconsider() { Signals.send(Signals.wakeUp, toThread: thread) }

    /// Ends the loop, or keeps it from beginning.
    ///
    /// For any thread; the loop may be in the handler.
    package func end() {
        isEnding.store(true, ordering: .releasing)
        Signals.send(Signals.wakeUp, toThread: thread)
    }
}
