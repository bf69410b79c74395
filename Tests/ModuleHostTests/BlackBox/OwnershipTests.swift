import TestSupport
import Testing

@testable import ModuleHostCore

extension Ownership {
    func moved(to slot: UInt16) -> Ownership { moved(to: slot, by: step) }
}

@Suite("Ownership word")
struct OwnershipTests {
    private func word(
        deliveries: UInt64 = 0, moves: UInt64 = 0, depth: UInt64 = 0, slot: UInt16 = 0
    )
        -> Ownership
    {
        Ownership(bits: moves << 55 | deliveries << 23 | depth << 16 | UInt64(slot))
    }

    @Test("each field is read from its bits, and from no other's")
    func fields() {
        let only = [
            word(deliveries: 0xFFFF_FFFF), word(moves: 0x1FF), word(depth: 0x7F),
            word(slot: 0xFFFF),
        ]
        #expect(only.map(\.delivery) == [0xFFFF_FFFF, 0, 0, 0])
        #expect(only.map(\.depth) == [0, 0, 0x7F, 0])
        #expect(only.map(\.slot) == [0, 0, 0, 0xFFFF])
        #expect(only.reduce(0) { $0 | $1.bits } == .max)
        #expect(CallDepth.maximum <= 0x7F)
    }

    @Test("a delivery of the lane's counts as one; what it calls does not")
    func deliveries() {
        let first = word().entered(1)
        #expect((first.delivery, first.depth, first.slot) == (1, 1, 1))
        let second = first.moved(to: 2)
        #expect((second.delivery, second.depth, second.slot) == (2, 1, 2))
        let called = second.entered(7)
        #expect((called.delivery, called.depth, called.slot) == (2, 2, 7))
        let next = called.moved(to: 8)
        #expect((next.delivery, next.depth, next.slot) == (2, 2, 8))
        let back = next.left(to: 2)
        #expect((back.delivery, back.depth, back.slot) == (2, 1, 2))
        #expect(back != second)
        let out = back.left(to: 0)
        #expect((out.delivery, out.depth, out.slot) == (2, 0, 0))
    }

    @Test("every field wraps around; deliveries count as a move then")
    func wraps() {
        let lastDelivery = word(deliveries: 0xFFFF_FFFF, moves: 5, depth: 1, slot: 9)
        #expect(lastDelivery.moved(to: 10) == word(moves: 6, depth: 1, slot: 10))
        let lastMove = word(deliveries: 3, moves: 0x1FF, depth: 2, slot: 9)
        #expect(lastMove.moved(to: 0xFFFF) == word(deliveries: 3, depth: 2, slot: 0xFFFF))
        #expect(lastMove.entered(4) == word(deliveries: 3, depth: 3, slot: 4))
        #expect(lastMove.left(to: 4) == word(deliveries: 3, depth: 1, slot: 4))
        let last = word(deliveries: 0xFFFF_FFFF, moves: 0x1FF, depth: 64, slot: 0xFFFF)
        #expect(last.takenOver == word())
        #expect(word(deliveries: 0xFFFF_FFFF).entered(1) == word(moves: 1, depth: 1, slot: 1))
    }

    /// What the word stands for, kept in plain variables.
    private struct Model {
        var deliveries: UInt32 = 0
        var stack: [UInt16] = []
    }

    @Test("any walk through responders reads back as it went", arguments: 1...20)
    func walk(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = Model(deliveries: .max - 50)
        var word = word(deliveries: UInt64(model.deliveries), moves: 0x1F0)
        for _ in 0..<2000 {
            let before = word
            let slot = UInt16.random(in: 1...(.max), using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4 where model.stack.count < CallDepth.maximum:
                word = word.entered(slot)
                if model.stack.isEmpty { model.deliveries &+= 1 }
                model.stack.append(slot)
            case 4..<7 where !model.stack.isEmpty:
                word = word.moved(to: slot)
                if model.stack.count == 1 { model.deliveries &+= 1 }
                model.stack[model.stack.count - 1] = slot
            case 7..<9 where !model.stack.isEmpty:
                model.stack.removeLast()
                word = word.left(to: model.stack.last ?? 0)
            case 9 where !model.stack.isEmpty:
                word = word.takenOver
                model.deliveries &+= 1
                model.stack = []
            default: continue
            }
            #expect(word != before)
            #expect(word.delivery == model.deliveries)
            #expect(word.depth == model.stack.count)
            #expect(word.slot == model.stack.last ?? 0)
        }
    }

    @Test("a thread remembers who stands on its stack, outermost first")
    func stack() {
        let thread = LaneThread(at: word())
        #expect(thread.stack(at: word()) == [])
        var current = word().entered(3)
        #expect(thread.stack(at: current) == [3])
        for slot in [5, 2] as [UInt16] {
            thread.remember(current)
            current = current.entered(slot)
        }
        #expect(thread.stack(at: current) == [3, 5, 2])
        #expect(thread.outermost(at: current) == 3)
        #expect(thread.outermost(at: current.left(to: 5).left(to: 3)) == 3)
        // The host's own code in the middle of a call may enter a module, and hides none.
        let inHost = word().entered(3).inHost
        thread.remember(inHost)
        #expect(thread.stack(at: inHost.entered(7)) == [3, 7])
    }
}
