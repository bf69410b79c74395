import Synchronization
import Testing

@testable import ModuleHostCore

private protocol Listening {}

@Suite("A list of responders")
struct ResponderListTests {
    private final class Listener: Listening {}

    private static func member(_ number: UInt16, _ status: ModuleSlot.Status = .listed) -> Member {
        let slot = ModuleSlot(number: number, id: nil)
        slot.status.store(status, ordering: .relaxed)
        return Member(object: Listener(), slot: slot, sequence: 0)
    }

    @Test("is checked again in the same epoch where a member was added, or the order has changed")
    func checkedAgain() {
        let list = ResponderList<any Listening>()
        list.insert(Self.member(1))
        #expect(list.current(at: 7).orderedAt == 7)
        // A delivery must not enter it: its module is busy on another thread.
        list.insert(Self.member(2, .overdue))
        #expect(list.current(at: 7).orderedAt == .max)
        #expect(list.current(at: 7).entries.map(\.number) == [1, 2])

        let other = ResponderList<any Listening>()
        #expect(other.current(at: 7).orderedAt == 7)
        other.reorder(adding: [Self.member(3, .overdue), Self.member(1)])
        #expect(other.current(at: 7).orderedAt == .max)
        #expect(other.current(at: 7).entries.map(\.number) == [1, 3])
    }

    @Test("loses what receives nothing more in the next epoch, and is empty when all is gone")
    func unlisted() {
        let list = ResponderList<any Listening>()
        #expect(list.isEmpty)
        let members = [Self.member(1), Self.member(2)]
        for member in members { list.insert(member) }
        #expect(!list.isEmpty)
        _ = list.current(at: 1)
        members[0].slot.status.store(.unlisted, ordering: .relaxed)
        #expect(list.current(at: 1).entries.map(\.number) == [1, 2])
        #expect(list.current(at: 2).entries.map(\.number) == [2])
        #expect(list.current(at: 2).orderedAt == 2)
        list.remove(members[1...])
        #expect(list.isEmpty)
    }
}
