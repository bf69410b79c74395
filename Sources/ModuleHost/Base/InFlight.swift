import AppService
import Synchronization

/// The memory limits of events and calls from outside that are accepted and not done: in all, and for each sender.
///
/// A sender that has no room is not read any further. Where there is none in all, a sender with nothing in flight is
/// still read, so that it can ask how the host is doing; what would add to the load is refused. Neither ever happens
/// to a host that keeps up.
package final class InFlightBudget: Sendable {
    /// The limits in bytes.
    struct Limits: Hashable, Sendable {
        /// In all.
        var all = 64 << 20
        /// Of one sender: a connection, a module's process, the signals.
        var sender = 8 << 20
        /// The time after which a refused sender may try again.
        var retry: Duration = .seconds(1)
    }

    /// The bytes of an event or call beside its payload.
    static let overhead = 512
    /// Memory that went back to the allocator is given back to the system where there was this much.
    private static let largeLoad = 8 << 20

    fileprivate struct WaitingAccount {
        weak var account: InFlightAccount?
    }

    let limits: Limits
    fileprivate let bytes = Atomic(0)
    /// The most that there was since memory was last given back.
    private let peak = Atomic(0)
    /// The senders that wait for room in all.
    private let waiting = Guarded<[WaitingAccount]>([])
    private let hasWaiting = Atomic(false)
    private let drained = Guarded<(@Sendable () -> Void)?>(nil)

    package convenience init() { self.init(Limits()) }

    init(_ limits: Limits) { self.limits = limits }

    /// Called when all is done after there was much: now the memory can be given back.
    ///
    /// On whatever thread has done the last of it, which is not to be kept.
    var onDrained: (@Sendable () -> Void)? {
        get { drained.withLock { $0 } }
        set { drained.withLock { $0 = newValue } }
    }

    /// Whether there is room in all.
    var hasRoom: Bool { bytes.load(ordering: .sequentiallyConsistent) < limits.all }

    /// The number of bytes in flight.
    var inFlight: Int { bytes.load(ordering: .relaxed) }

    fileprivate func enter(_ count: Int) {
        let all = bytes.add(count, ordering: .sequentiallyConsistent).newValue
        if all > peak.load(ordering: .relaxed) { peak.store(all, ordering: .relaxed) }
    }

    fileprivate func leave(_ count: Int) {
        let all = bytes.subtract(count, ordering: .sequentiallyConsistent).newValue
        // Not at each end of a call while there is hardly room: some may come in then.
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

/// The account of what one sender has in flight.
final class InFlightAccount: Sendable {
    private let budget: InFlightBudget
    private let bytes = Atomic(0)
    private let isWaiting = Atomic(false)
    private let onRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - budget: What all senders share.
    ///   - onRoom: Called once there is room again, after ``awaitRoom()`` said that there is none; on any thread.
    init(_ budget: InFlightBudget, onRoom: @escaping @Sendable () -> Void = {}) {
        self.budget = budget
        self.onRoom = onRoom
    }

    var limits: InFlightBudget.Limits { budget.limits }

    /// Whether more is to be read of the sender.
    var hasRoom: Bool {
        let own = bytes.load(ordering: .sequentiallyConsistent)
        return own == 0 || own < budget.limits.sender && budget.hasRoom
    }

    /// Whether what adds to the load is accepted of the sender.
    var accepts: Bool {
        budget.hasRoom && bytes.load(ordering: .relaxed) < budget.limits.sender
    }

    /// Asks to be called when there is room.
    ///
    /// - Returns: True where there is by now: nothing will be called.
    func awaitRoom() -> Bool {
        if !isWaiting.exchange(true, ordering: .sequentiallyConsistent) { budget.wait(for: self) }
        guard hasRoom else { return false }
        isWaiting.store(false, ordering: .sequentiallyConsistent)
        return true
    }

    /// Notes something as in flight, for as long as the result is held.
    ///
    /// - Parameter payload: What it takes in memory, beside what all do.
    /// - Returns: What stands for it.
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

/// Something from outside that is accepted and not done.
///
/// It is done when the last reference to this is gone, whichever way that comes.
package final class InFlight: Sendable {
    private let account: InFlightAccount
    private let bytes: Int

    fileprivate init(_ account: InFlightAccount, bytes: Int) {
        self.account = account
        self.bytes = bytes
    }

    deinit { account.leave(bytes) }
}
