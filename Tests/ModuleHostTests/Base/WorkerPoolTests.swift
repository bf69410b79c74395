import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Worker threads", .timeLimit(.minutes(10)))
struct WorkerPoolTests {
    @Test("owners of waiting work take turns, and the work of each begins in order")
    func turns() async {
        let pool = WorkerPool(width: 1)
        let (a, b) = (Owner(), Owner())
        let door = Door()
        let begun = LockedList<String>()
        let hasEnded = Promise<Void>()
        let isBusy = Promise<Void>()
        pool.run(for: a) {
            isBusy.keep(())
            door.pass()
        }
        await isBusy.value
        for number in 1...3 { pool.run(for: a) { begun.append("a\(number)") } }
        pool.run(for: b) { begun.append("b1") }
        pool.run { begun.append("code") }
        pool.run(for: b) { begun.append("b2") }
        pool.run(for: a) { hasEnded.keep(()) }
        door.open()
        await hasEnded.value
        #expect(begun.values == ["a1", "b1", "code", "a2", "b2", "a3"])
    }

    @Test("an owner without elements has no turn")
    func queue() {
        var queue = TurnQueue<Int>()
        let (a, b) = (Owner(), Owner())
        #expect(queue.popFirst() == nil)
        for _ in 0..<2 {
            queue.append(1, of: ObjectIdentifier(a))
            queue.append(2, of: nil)
            #expect(!queue.isEmpty)
            #expect(queue.popFirst() == 1)
            queue.append(3, of: ObjectIdentifier(b))
            queue.append(4, of: nil)
            #expect([queue.popFirst(), queue.popFirst(), queue.popFirst()] == [2, 3, 4])
            #expect(queue.isEmpty && queue.popFirst() == nil)
        }
    }
}

private final class Owner {}
