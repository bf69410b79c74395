import Synchronization

/// A wake-up for the thread that processes a mailbox: a system call only where that thread sleeps.
///
/// Ringing while the owner is awake costs one atomic exchange and no system call. The owner's turn is: take
/// the mail; process it; ``fallAsleep()``; wait for ``descriptor``, without waiting where it returned false;
/// ``wakeUp(signalled:)``. Mail that arrives after the owner took it is found in the next turn.
final class Doorbell: Sendable {
    private enum Owner {
        static let awake: UInt8 = 0
        static let asleep: UInt8 = 1
        /// The owner is awake, and there may be mail that it has not seen.
        static let rung: UInt8 = 2
    }

    private let owner = Atomic(Owner.awake)
    private let signal: WakeSignal

    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init() throws(SystemError) { signal = try WakeSignal() }

    /// The descriptor that is readable after a ring while the owner slept.
    var descriptor: Int32 { signal.descriptor }

    /// Makes the owner check its mail, which must be there already.
    ///
    /// Callable from any thread. Never waits.
    func ring() {
        let was = owner.exchange(Owner.rung, ordering: .acquiringAndReleasing)
        if was == Owner.asleep { signal.give() }
    }

    /// Whether the owner sleeps, or is about to; a value that may be out of date when it is returned.
    var isOwnerAsleep: Bool { owner.load(ordering: .relaxed) == Owner.asleep }

    /// Returns whether the owner may sleep: false after a ring since ``wakeUp(signalled:)``.
    func fallAsleep() -> Bool {
        owner.compareExchange(
            expected: Owner.awake, desired: Owner.asleep, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Notes that the owner is awake, and is about to take its mail.
    ///
    /// - Parameter signalled: Whether ``descriptor`` is readable.
    func wakeUp(signalled: Bool) {
        if signalled { signal.take() }
        _ = owner.exchange(Owner.awake, ordering: .acquiringAndReleasing)
    }
}
