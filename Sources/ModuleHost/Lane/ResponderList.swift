import Synchronization

/// A list of any responder protocol, to which members are added without their type.
@usableFromInline
class AnyResponderList {
    /// Adds a member where it conforms: the only time that its conformance is looked up.
    func insert(_ member: Member) {}

    /// Removes members of one module, which stand next to each other and which the caller keeps alive: none
    /// is deallocated in the middle of this.
    func remove(_ members: ArraySlice<Member>) {}

    /// Removes the members that are marked as removed, which the caller keeps alive.
    func removeMarked() {}

    /// Adds members, and sorts all by their ranks, which have changed.
    func reorder(adding members: [Member]) {}
}

/// The members of a center that conform to one responder protocol, in order.
///
/// Belongs to the owner of its center: the lane, or the thread that created the center.
@usableFromInline
final class ResponderList<Responder>: AnyResponderList {
    @usableFromInline
    struct Entry {
        /// The number of the slot whose code the responder runs, for the ownership word: with each delivery no other
        /// object is looked at.
        @usableFromInline let number: UInt16
        @usableFromInline let member: Member
        @usableFromInline let responder: Responder

        @usableFromInline var slot: ModuleSlot { member.slot }
    }

    @usableFromInline typealias Entries = ContiguousArray<Entry>

    // Private, and moved out while they are changed: the runtime checks each access to a property that other
    // modules see, or that a method changes in place, for exclusivity.

    private(set) var entries: Entries = []
    /// Whether `entries` is not empty, for readers that need only that.
    private let hasEntries = Atomic(false)
    /// The epoch at which every entry was listed; nil where an entry needs a check each time.
    private var orderedAt: UInt64?
    /// The epoch at which the entries were last checked.
    private var lookedAt: UInt64?

    /// Returns the responder of a member; nil where the member does not conform.
    private let responder: (Member) -> Responder?

    /// - Parameter responder: Returns the responder of a member, or nil. By default the member itself where it
    ///   conforms.
    init(of responder: @escaping (Member) -> Responder? = { $0.object as? Responder }) {
        self.responder = responder
    }

    /// Whether the list has no responder.
    var isEmpty: Bool { !hasEntries.load(ordering: .relaxed) }

    override func insert(_ member: Member) {
        guard let entry = entry(of: member) else { return }
        let index = entries.partitioningIndex { member.precedes($0.member) }
        change { $0.insert(entry, at: index) }
        lookedAt = nil
    }

    private func entry(of member: Member) -> Entry? {
        responder(member).map { Entry(number: member.slot.number, member: member, responder: $0) }
    }

    override func remove(_ members: ArraySlice<Member>) {
        guard let first = members.first, let last = members.last else { return }
        let start = entries.partitioningIndex { !$0.member.precedes(first) }
        let end = entries.partitioningIndex { last.precedes($0.member) }
        if start < end { change { $0.removeSubrange(start..<end) } }
    }

    override func removeMarked() { change { $0.removeAll { $0.member.isRemoved } } }

    override func reorder(adding members: [Member]) {
        let new = members.compactMap(entry)
        change {
            $0 += new
            $0.sort { $0.member.precedes($1.member) }
        }
        lookedAt = nil
    }

    /// Returns the index of the first entry after a rank.
    @usableFromInline
    static func firstIndex(after rank: UInt16, in entries: Entries) -> Int {
        rank == 0 ? 0 : entries.partitioningIndex { $0.slot.rank > rank }
    }

    /// Returns the entries, after the removal of those of modules that receive nothing more.
    ///
    /// Looks only if anything changed since the last time. The center keeps what is removed alive: none is
    /// deallocated in the middle of this.
    ///
    /// - Returns: The entries, and the epoch at which every one of them was listed, so that no delivery need check again
    ///   while the epoch stays the same; `UInt64.max` where an entry needs a check each time.
    @usableFromInline
    func current(at epoch: UInt64) -> (entries: Entries, orderedAt: UInt64) {
        if lookedAt != epoch { refresh(epoch: epoch) }
        return (entries, orderedAt ?? .max)
    }

    private func refresh(epoch: UInt64) {
        lookedAt = epoch
        var isOrdered = true
        change {
            $0.removeAll { entry in
                let status = entry.slot.status.load(ordering: .relaxed)
                if status == .unlisted { return true }
                if status != .listed { isOrdered = false }
                return false
            }
        }
        orderedAt = isOrdered ? epoch : nil
    }

    private func change(_ body: (inout Entries) -> Void) {
        // Out of the list, so that it has one owner and is not copied.
        var changed = entries
        entries = []
        body(&changed)
        entries = changed
        hasEntries.store(!changed.isEmpty, ordering: .relaxed)
    }
}

/// An object that belongs to a center.
@usableFromInline
final class Member {
    @usableFromInline let object: AnyObject
    let slot: ModuleSlot
    /// The place among the members of its slot.
    let sequence: Int
    /// The receiver of its events that may answer them later; nil for one that answers at once.
    let taker: (any EventTaker)?
    /// The topics of messages that the member named when the first message arrived; accessed only while its
    /// module may be entered.
    private var topics: [String]?
    /// Whether the member was removed; read by code that is about to call it, also on an overdue module's own
    /// thread.
    private let removed = Atomic(false)

    init(
        object: AnyObject, slot: ModuleSlot, sequence: Int, taker: (any EventTaker)? = nil
    ) {
        self.object = object
        self.slot = slot
        self.sequence = sequence
        self.taker = taker
    }

    @usableFromInline var isRemoved: Bool { removed.load(ordering: .relaxed) }

    func markRemoved() { removed.store(true, ordering: .relaxed) }

    /// Returns whether the member wants messages on a topic; its topics are requested once.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - ask: Requests the topics from the member: module code.
    /// - Returns: Whether the topic is one of them.
    func wants(_ topic: String, asking ask: () -> [String]) -> Bool {
        let topics = topics ?? ask()
        self.topics = topics
        return topics.contains { isTopic(topic, wantedBy: $0) }
    }

    /// The topics that the member named, if they were requested; only for the lane, while the module is not
    /// overdue.
    var knownTopics: [String] { topics ?? [] }

    func precedes(_ other: Member) -> Bool {
        (slot.rank, sequence) < (other.slot.rank, other.sequence)
    }
}
