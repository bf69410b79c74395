import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Deque")
struct DequeTests {
    @Test("is the plain array that it stands for, whatever is done to it", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var deque = Deque<Int>()
        var model: [Int] = []
        for step in 0..<3000 {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50:
                deque.append(step)
                model.append(step)
            case 50..<88:
                #expect(deque.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            case 88..<97:
                let some = (0..<Int.random(in: 0...40, using: &random)).map { step * 100 + $0 }
                deque.prepend(some)
                model = some + model
            case 97..<99:
                let end = model.randomElement(using: &random) ?? -1
                let before = model.prefix { $0 != end }
                let isTaken = { (number: Int) in number % 3 == 0 }
                #expect(
                    deque.remove(before: { $0 == end }, where: isTaken) == before.filter(isTaken))
                model = before.filter { !isTaken($0) } + model[before.endIndex...]
            default:
                #expect(deque.removeAll() == model)
                model = []
            }
            #expect(deque.count == model.count)
            #expect(deque.isEmpty == model.isEmpty)
        }
        #expect(deque.removeAll() == model)
        #expect(deque.popFirst() == nil)
    }
}
