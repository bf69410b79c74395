import Synchronization

/// Wakes the one thread that works off a mailbox: rings only where that thread sleeps.
///
/// To ring at an owner who is awake costs one exchange of a word and no system call. The owner's turn is:
/// take the mail; work; ``fallAsleep()``; wait for ``descriptor``, for no time where it was false;
/// ``wakeUp(signalled:)``. Mail that comes after it was taken is found in the next turn.
final class Doorbell: Sendable {
    private enum Owner {
        static let awake: UInt8 = 0
        static let asleep: UInt8 = 1
        /// Awake, and there is something that it may not have seen.
        static let rung: UInt8 = 2
    }

    private let owner = Atomic(Owner.awake)
    private let signal: WakeSignal

    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init() throws(SystemError) { signal = try WakeSignal() }

    /// The descriptor that can be read from when it rang while the owner slept.
    var descriptor: Int32 { signal.descriptor }

    /// Has the owner look at its mail, which must be there already.
    ///
    /// From any thread. Never waits.
    func ring() {
        let was = owner.exchange(Owner.rung, ordering: .acquiringAndReleasing)
        if was == Owner.asleep { signal.give() }
    }

    /// Returns whether the owner may sleep: false if it rang since ``wakeUp(signalled:)``.
    func fallAsleep() -> Bool {
        owner.compareExchange(
            expected: Owner.awake, desired: Owner.asleep, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Notes that the owner is awake, and is about to take its mail.
    ///
    /// - Parameter signalled: Whether ``descriptor`` can be read from.
    func wakeUp(signalled: Bool) {
        if signalled { signal.take() }
        _ = owner.exchange(Owner.awake, ordering: .acquiringAndReleasing)
    }
}
