import Synchronization

/// A list of any responder protocol, to take members in without knowing which.
@usableFromInline
protocol AnyResponderList: AnyObject {
    func insert(_ member: Member)
    func remove(_ members: ArraySlice<Member>)
    func reorder(adding members: [Member])
}

/// The members of a center that conform to one responder protocol, in order.
///
/// Belongs to the owner of its center: the lane, or the thread that made the center.
@usableFromInline
final class ResponderList<Responder>: AnyResponderList {
    @usableFromInline
    struct Entry {
        /// The slot whose code this is, for the ownership word.
        @usableFromInline let slot: ModuleSlot
        @usableFromInline let member: Member
        @usableFromInline let responder: Responder
    }

    @usableFromInline typealias Entries = ContiguousArray<Entry>
    @usableFromInline var entries: Entries = [] {
        didSet { hasEntries.store(!entries.isEmpty, ordering: .relaxed) }
    }
    /// Says what `entries` says to who only wants to know whether there are any.
    private let hasEntries = Atomic(false)

    /// The epoch at which every entry was seen to be listed, so that no delivery need look again
    /// while the epoch stays; nil where some entry needs looking at each time.
    @usableFromInline var orderedAt: UInt64?
    /// The epoch at which the entries were last looked through.
    private var lookedAt: UInt64?

    /// The responder of a member; nil where the member is not one.
    private let responder: (Member) -> Responder?

    @usableFromInline
    init(of responder: @escaping (Member) -> Responder?) { self.responder = responder }

    /// Creates a list of the members that conform to the protocol.
    @usableFromInline
    convenience init() { self.init { $0.object as? Responder } }

    /// Whether the list has no responder.
    var isEmpty: Bool { !hasEntries.load(ordering: .relaxed) }

    /// Takes a member in where it conforms: the one time that its conformance is looked up.
    @usableFromInline
    func insert(_ member: Member) {
        guard let entry = entry(of: member) else { return }
        entries.insert(entry, at: entries.partitioningIndex { member.precedes($0.member) })
        lookedAt = nil
    }

    private func entry(of member: Member) -> Entry? {
        responder(member).map { Entry(slot: member.slot, member: member, responder: $0) }
    }

    /// Releases members of one module, which stand next to each other and which the caller holds: none ends
    /// in the middle of this.
    @usableFromInline
    func remove(_ members: ArraySlice<Member>) {
        guard let first = members.first, let last = members.last else { return }
        let start = entries.partitioningIndex { !$0.member.precedes(first) }
        let end = entries.partitioningIndex { last.precedes($0.member) }
        if start < end { entries.removeSubrange(start..<end) }
    }

    /// Takes members in, and puts all into the order of their ranks, which have changed.
    @usableFromInline
    func reorder(adding members: [Member]) {
        entries += members.compactMap(entry)
        entries.sort { $0.member.precedes($1.member) }
        lookedAt = nil
    }

    /// The index of the first entry that stands after a rank.
    @usableFromInline
    func firstIndex(after rank: UInt16) -> Int {
        rank == 0 ? 0 : entries.partitioningIndex { $0.slot.rank > rank }
    }

    /// Drops the entries of modules that get nothing more, if anything changed since the last time.
    ///
    /// The center still holds them: none ends in the middle of this.
    @usableFromInline
    func refresh(epoch: UInt64) {
        guard lookedAt != epoch else { return }
        lookedAt = epoch
        var isOrdered = true
        entries.removeAll { entry in
            let status = entry.slot.status.load(ordering: .relaxed)
            if status == .unlisted { return true }
            if status != .listed { isOrdered = false }
            return false
        }
        orderedAt = isOrdered ? epoch : nil
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first index whose element, and those of all after it, are what is looked for; the end for none.
    ///
    /// Takes a number of steps that grows with the logarithm of the count.
    ///
    /// - Parameter isBehind: Whether an element is one of those at the end; false for all before the first of them.
    /// - Returns: The index.
    func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// An object that belongs to a center.
@usableFromInline
final class Member {
    @usableFromInline let object: AnyObject
    let slot: ModuleSlot
    /// The place among the members of its slot.
    let sequence: Int
    /// The topics of messages that it named when the first message came; touched only while its module
    /// may be entered.
    private var topics: [String]?
    /// Set where the member is taken out, and read by who was on the way to tell it: also by an overdue
    /// module's own thread.
    private let removed = Atomic(false)

    init(object: AnyObject, slot: ModuleSlot, sequence: Int) {
        self.object = object
        self.slot = slot
        self.sequence = sequence
    }

    @usableFromInline var isRemoved: Bool { removed.load(ordering: .relaxed) }

    func markRemoved() { removed.store(true, ordering: .relaxed) }

    /// Returns whether the member wants messages on a topic; it is asked for its topics once.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - ask: Asks the member for its topics: module code.
    /// - Returns: Whether the topic is one of those.
    func wants(_ topic: String, asking ask: () -> [String]) -> Bool {
        let topics = topics ?? ask()
        self.topics = topics
        return topics.contains { isTopic(topic, wantedBy: $0) }
    }

    /// The topics that it named, if it was asked; only for the lane, while the module is not overdue.
    var knownTopics: [String] { topics ?? [] }

    func precedes(_ other: Member) -> Bool {
        (slot.rank, sequence) < (other.slot.rank, other.sequence)
    }
}
