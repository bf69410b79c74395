/// The members of a late module, as its own thread has found them.
struct LateMembers {
    /// ``Cell/membersAdded`` before that; those that were removed since then say so themselves.
    let added: UInt32
    private let references: [Reference]

    /// The thread must not be the last that holds one: that ends where its module is let go of.
    private struct Reference {
        weak var member: Member?
    }

    init(added: UInt32, _ members: [Member]) {
        self.added = added
        references = members.map { Reference(member: $0) }
    }

    var members: [Member] { references.compactMap(\.member) }
}

/// Takes an event to the members of one late module, on the thread that was stuck.
struct LateCourier: Courier {
    let members: [Member]
    let onFailure: (any Error) -> Void

    func tell<Responder>(
        _ kind: Responder.Type, _ body: (ResponderList<Responder>.Entries, Int) throws -> Void
    ) {
        let list = ResponderList<Responder>()
        for member in members { list.insert(member) }
        for index in list.entries.indices where !list.entries[index].member.isRemoved {
            do { try body(list.entries, index) } catch { onFailure(error) }
        }
    }

    /// The answer comes too late to count.
    func ask<Responder>(
        _ kind: Responder.Type,
        _ body: (ResponderList<Responder>.Entries, Int) throws -> EventReply
    ) {
        tell(kind) { entries, index in _ = try body(entries, index) }
    }
}
