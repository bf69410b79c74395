import AppService
import Synchronization

/// The memory limits of events and calls from outside that are accepted and not done: a total, and a limit
/// for each sender.
///
/// A sender that has no room is not read any further. Where no room is left in total, a sender with nothing
/// in flight is still read, so that it can ask for the status of the host; anything that would add to the
/// load is refused. A host that keeps up reaches neither limit.
package final class InFlightBudget: Sendable {
    /// The limits in bytes.
    struct Limits: Hashable, Sendable {
        /// The limit of all senders together.
        var all = 64 << 20
        /// The limit of one sender: a connection, a module's process, the signals.
        var sender = 8 << 20
        /// The time after which a refused sender may try again.
        var retry: Duration = .seconds(1)
    }

    /// The bytes that an event or call takes beside its payload.
    static let overhead = 512
    /// The peak load above which freed memory is returned to the system, in bytes.
    private static let largeLoad = 8 << 20

    fileprivate struct WaitingAccount {
        weak var account: InFlightAccount?
    }

    let limits: Limits
    fileprivate let bytes = Atomic(0)
    /// The highest load since memory was last returned to the system.
    private let peak = Atomic(0)
    /// The senders that wait for room in the total.
    private let waiting = Guarded<[WaitingAccount]>([])
    private let hasWaiting = Atomic(false)
    private let drained = Guarded<(@Sendable () -> Void)?>(nil)

    package convenience init() { self.init(Limits()) }

    init(_ limits: Limits) { self.limits = limits }

    /// Called when everything is done after a high load: the memory can be returned to the system now.
    ///
    /// Called on the thread that finished the last item; must return quickly.
    var onDrained: (@Sendable () -> Void)? {
        get { drained.withLock { $0 } }
        set { drained.withLock { $0 = newValue } }
    }

    /// Whether there is room in the total.
    var hasRoom: Bool { bytes.load(ordering: .sequentiallyConsistent) < limits.all }

    /// The number of bytes in flight.
    var inFlight: Int { bytes.load(ordering: .relaxed) }

    fileprivate func enter(_ count: Int) {
        let all = bytes.add(count, ordering: .sequentiallyConsistent).newValue
        if all > peak.load(ordering: .relaxed) { peak.store(all, ordering: .relaxed) }
    }

    fileprivate func leave(_ count: Int) {
        let all = bytes.subtract(count, ordering: .sequentiallyConsistent).newValue
        // Not at each end of a call while there is hardly room: some may enter then.
        if all < limits.all / 4 * 3, hasWaiting.load(ordering: .sequentiallyConsistent) {
            wakeWaiting()
        }
        if all == 0, peak.load(ordering: .relaxed) > Self.largeLoad {
            peak.store(0, ordering: .relaxed)
            drained.withLock { $0 }?()
        }
    }

    fileprivate func wait(for account: InFlightAccount) {
        waiting.withLock { $0.append(WaitingAccount(account: account)) }
        hasWaiting.store(true, ordering: .sequentiallyConsistent)
    }

    private func wakeWaiting() {
        let waiting = waiting.withLock { waiting in
            hasWaiting.store(false, ordering: .sequentiallyConsistent)
            defer { waiting = [] }
            return waiting
        }
        for waiting in waiting { waiting.account?.wakeUp() }
    }
}

/// The account of the load that one sender has in flight.
final class InFlightAccount: Sendable {
    private let budget: InFlightBudget
    private let bytes = Atomic(0)
    private let isWaiting = Atomic(false)
    private let onRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - budget: The limits that all senders share.
    ///   - onRoom: Called once there is room again, after ``awaitRoom()`` returned that there is none; on any
    ///     thread.
    init(_ budget: InFlightBudget, onRoom: @escaping @Sendable () -> Void = {}) {
        self.budget = budget
        self.onRoom = onRoom
    }

    var limits: InFlightBudget.Limits { budget.limits }

    /// Whether the host continues to read from the sender.
    var hasRoom: Bool {
        let own = bytes.load(ordering: .sequentiallyConsistent)
        return own == 0 || own < budget.limits.sender && budget.hasRoom
    }

    /// Whether the host accepts input that adds to the load from the sender.
    var accepts: Bool {
        budget.hasRoom && bytes.load(ordering: .relaxed) < budget.limits.sender
    }

    /// Requests a call when there is room.
    ///
    /// - Returns: True where there is room by now: nothing will be called.
    func awaitRoom() -> Bool {
        if !isWaiting.exchange(true, ordering: .sequentiallyConsistent) { budget.wait(for: self) }
        guard hasRoom else { return false }
        isWaiting.store(false, ordering: .sequentiallyConsistent)
        return true
    }

    /// Notes something as in flight, until the result is released.
    ///
    /// - Parameter payload: Its size in memory, beside the overhead of every item.
    func enter(_ payload: Int) -> InFlight {
        let count = payload + InFlightBudget.overhead
        bytes.add(count, ordering: .sequentiallyConsistent)
        budget.enter(count)
        return InFlight(self, bytes: count)
    }

    fileprivate func leave(_ count: Int) {
        let own = bytes.subtract(count, ordering: .sequentiallyConsistent).newValue
        budget.leave(count)
        if own < budget.limits.sender / 4 * 3, isWaiting.load(ordering: .sequentiallyConsistent),
            budget.hasRoom || own == 0
        {
            wakeUp()
        }
    }

    fileprivate func wakeUp() {
        if isWaiting.exchange(false, ordering: .sequentiallyConsistent) { onRoom() }
    }
}

/// An item from outside that is accepted and not done.
///
/// It is done when its owner releases it, for whatever reason. It has one owner, and is not an object: one would
/// be allocated for each event.
package struct InFlight: ~Copyable, Sendable {
    private let account: InFlightAccount
    private let bytes: Int

    fileprivate init(_ account: InFlightAccount, bytes: Int) {
        self.account = account
        self.bytes = bytes
    }

    deinit { account.leave(bytes) }
}
