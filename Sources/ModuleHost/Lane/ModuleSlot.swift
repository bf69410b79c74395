import AppService
import Synchronization

/// A module's slot, by which the ownership word names it.
///
/// Its number identifies the module, as long as it is loaded; its rank is its place in the order, and may
/// change from one event to the next. Both begin at 1; 0 is the host itself.
@usableFromInline
final class ModuleSlot: Sendable {
    /// The state of the module of this slot, as the lane sees it.
    enum Status: UInt8, AtomicRepresentable {
        /// The module receives events and calls.
        case listed
        /// The module is busy on a thread that lost the lane; events wait for it, calls do not.
        case overdue
        /// The module's process has an event that it has not answered, and no thread is in the module: events wait for
        /// the answer, calls do not.
        case open
        /// The module was overdue and has caught up. The lane checks once more which events it has received
        /// already.
        case rejoined
        /// The module receives nothing more: it failed, or the slatefile no longer names it; see
        /// ``ModuleSlot/isAwaited``.
        case unlisted
    }

    @usableFromInline let number: UInt16
    /// The module's place in the order of the slatefile.
    ///
    /// Written on the lane, between two events, together with the lists that are sorted by it; atomic since
    /// the watchdog reads it, too.
    private let order: Atomic<UInt16>
    /// The module's id; nil in a center with an owner of its own.
    let id: ModuleID?
    /// The limits with which the module runs; a reload may change them.
    struct Limits: Sendable {
        /// The module's own deadline for an event, where the slatefile gives one.
        var deadline: Duration?
        /// The time after which its process is killed if it does not respond; nil if the slatefile does not
        /// set it.
        var killAfter: Duration?
        /// The number of events that the module may be behind in memory.
        var backlog = Slatefile.Defaults.backlog
        /// The permissions of the module's process beyond those of every module.
        var permissions: Set<Slatefile.Permission> = []
        /// Whether the module runs in a process of its own.
        var hasProcess = false
        /// The bytes of the inbox that may wait for the module before the oldest events are dead letters.
        var keep = Slatefile.Defaults.keep
    }

    private let currentLimits: Guarded<Limits>
    /// The number of events that the module may have to answer at a time: 1, or what it asks for when it is made.
    ///
    /// Written before it is listed.
    private let windowSize = Atomic(1)
    /// Whether the module was created for a reload that has not been committed yet: only modules that were
    /// created with it can reach it.
    ///
    /// Written on the lane.
    let isStaged: Atomic<Bool>
    /// Whether the module did not return in time in the current stop: it is not waited for again.
    let wasOverdueInStop = Atomic(false)
    /// The status; written under the lane's lock, and read without it as a first check.
    let status = Atomic(Status.listed)
    /// Whether the module has failed and durable events wait until it is restarted.
    ///
    /// Written under the lane's lock.
    let isAwaited = Atomic(false)
    /// The number of members that the module has ever had in the center: a list of members is current while
    /// the number is the same.
    ///
    /// Written on the lane, before the code that adds a member continues.
    let membersAdded = Atomic<UInt32>(0)

    init(
        number: UInt16, id: ModuleID?, limits: Limits = Limits(), isStaged: Bool = false,
        rank: UInt16? = nil
    ) {
        self.number = number
        order = Atomic(rank ?? number)
        self.id = id
        currentLimits = Guarded(limits)
        self.isStaged = Atomic(isStaged)
    }

    var limits: Limits {
        get { currentLimits.withLock { $0 } }
        set { currentLimits.withLock { $0 = newValue } }
    }

    /// Whether the module is one of the app, overdue or not.
    var isListed: Bool { status.load(ordering: .relaxed) != .unlisted }

    var deadline: Duration? { limits.deadline }
    var killAfter: Duration? { limits.killAfter }
    var backlog: Int { limits.backlog }
    var permissions: Set<Slatefile.Permission> { limits.permissions }

    var window: Int {
        get { windowSize.load(ordering: .relaxed) }
        set { windowSize.store(newValue, ordering: .relaxed) }
    }

    /// The module's place in the order of the slatefile; at first its number.
    var rank: UInt16 {
        get { order.load(ordering: .relaxed) }
        set { order.store(newValue, ordering: .relaxed) }
    }
}
