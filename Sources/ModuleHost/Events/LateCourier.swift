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
