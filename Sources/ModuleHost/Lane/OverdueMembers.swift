/// The members of an overdue module, as its own thread has found them.
struct OverdueMembers {
    /// The value of ``ModuleSlot/membersAdded`` before that; members that were removed since then are marked
    /// as such.
    let added: UInt32
    private let references: [Reference]

    /// A weak reference to a member: the thread must not have the last reference, since a member ends where
    /// its module is released.
    private struct Reference {
        weak var member: Member?
    }

    init(added: UInt32, _ members: [Member]) {
        self.added = added
        references = members.map { Reference(member: $0) }
    }

    var members: [Member] { references.compactMap(\.member) }
}
