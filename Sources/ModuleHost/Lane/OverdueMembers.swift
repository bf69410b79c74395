/// The members of an overdue module, as its own thread has found them.
struct OverdueMembers {
    /// ``ModuleSlot/membersAdded`` before that; those that were removed since then say so themselves.
    let added: UInt32
    private let references: [Reference]

    /// The thread must not be the last that holds one: that ends where its module is released.
    private struct Reference {
        weak var member: Member?
    }

    init(added: UInt32, _ members: [Member]) {
        self.added = added
        references = members.map { Reference(member: $0) }
    }

    var members: [Member] { references.compactMap(\.member) }
}
