import AppService
import Synchronization

/// The main thread, which takes the signals of the process, one at a time.
///
/// ```swift
/// SignalListener.hold()                // the first statement of `main`
/// SignalListener.blockAll()            // before any other thread exists
/// let listener = SignalListener()
/// …                                    // start the host; at its end it calls listener.end()
/// listener.loop { signal in … return .goOn }
/// ```
///
/// A signal that arrives before the loop waits for it; real-time signals are queued, in order.
package final class SignalListener: Sendable {
    /// The next step of the loop.
    enum Next: Hashable, Sendable {
        case goOn
        case end
    }

    /// The signals of a terminal that keep their default action: Ctrl-Z stops a program, Ctrl-\ ends it with
    /// a core dump where those are allowed, even a host that hangs.
    ///
    /// They have it from the loop on.
    package static let keptDefault = Signals.fromKeyboard

    private let thread: UInt
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

    /// Blocks all signals in this thread and every one that it will start, so that none is lost or ends the
    /// process before the loop takes it.
    ///
    /// Signals that the parent process had ignored have an effect again. Writing to a pipe without a reader
    /// becomes an error. Call it before any other thread exists: an existing thread does not have the mask,
    /// and the kernel would deliver signals to it that end the process.
    package static func blockAll() {
        Signals.blockExactly(takenSignals)
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

    /// Creates a listener for the calling thread, which calls the loop.
    package init() { thread = NativeThread.current }

    /// Takes signals, one after the other, until the handler or ``end()`` ends that.
    ///
    /// Signals that are pending at the end are not taken. Nothing is allocated for a signal except by the handler.
    ///
    /// - Parameters:
    ///   - keptDefault: Returns the signals that keep their default action instead of being taken; called at
    ///     the beginning, and after ``reconsider()``.
    ///   - waiting: Returns the signals that stay pending; called before each signal that is taken.
    ///   - handler: Runs on this thread. Receives every signal but those kept, the synchronous ones and the
    ///     one that ``end()`` uses.
    func loop(
        keepingDefault keptDefault: () -> [Int32] = { SignalListener.keptDefault },
        leaving waiting: () -> [Int32] = { [] },
        _ handler: (ReceivedSignal) -> Next
    ) {
        var taken = Self.take(but: keptDefault())
        while !isEnding.load(ordering: .acquiring) {
            var wanted = taken
            wanted.remove(waiting())
            let signal = Signals.wait(for: wanted)
            // Other processes may send this signal too; without the flag it only causes another check.
            if signal.number == Signals.wakeUp {
                taken = Self.take(but: keptDefault())
            } else if handler(signal) == .end {
                return
            }
        }
    }

    /// Waits for one of some signals, before the loop; all others stay pending.
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

    /// Makes the loop update the signals that keep their default action.
    ///
    /// For any thread.
    package func reconsider() { Signals.send(Signals.wakeUp, toThread: thread) }

    /// Ends the loop, or prevents it from beginning.
    ///
    /// For any thread; the loop may be in the handler.
    package func end() {
        isEnding.store(true, ordering: .releasing)
        reconsider()
    }
}
