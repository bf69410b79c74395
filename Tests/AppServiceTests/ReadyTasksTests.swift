import Testing

@testable import AppService

@Suite("Ready tasks")
struct ReadyTasksTests {
    @Test(
        "come in order, whether they were there at the start, came later or were raised",
        arguments: UInt64(1)...20)
    func order(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        func node() -> StartupGraph.Node {
            StartupGraph.Node(
                chain: Int32(1 + random.next(below: 5)),
                priority: StartupPriority.allCases[random.next(below: 3)])
        }
        var nodes = (0..<random.next(below: 300)).map { _ in node() }
        var ready = ReadyTasks()
        ready.rank(&nodes)
        var expected: Set<Int> = []
        for _ in 0..<1_000 {
            switch random.next(below: 4) {
            case 0:
                nodes.append(node())
                ready.push(Int32(nodes.count - 1), nodes[nodes.count - 1])
                expected.insert(nodes.count - 1)
            case 1:
                guard !nodes.isEmpty else { continue }
                // Raised while it waits, or while it is ready: then it comes a second time.
                let task = random.next(below: nodes.count)
                nodes[task].chain += 5
                nodes[task].rank = StartupGraph.none
                if expected.contains(task) { ready.push(Int32(task), nodes[task]) }
            case 2:
                guard !nodes.isEmpty else { continue }
                let task = random.next(below: nodes.count)
                if expected.insert(task).inserted { ready.push(Int32(task), nodes[task]) }
            default:
                let best = expected.min { key($0) < key($1) }
                // Some that came before are there a second time.
                var popped = ready.pop()
                while let task = popped, !expected.contains(Int(task)) { popped = ready.pop() }
                #expect(popped.map(Int.init) == best)
                if let best { expected.remove(best) }
            }
        }

        func key(_ task: Int) -> ReadyTasks.Key { ReadyTasks.key(Int32(task), nodes[task]) }
    }

    @Test("are none after all were removed")
    func removed() {
        var nodes = (0..<100).map { _ in StartupGraph.Node(priority: .low) }
        var ready = ReadyTasks()
        ready.rank(&nodes)
        for task in nodes.indices { ready.push(Int32(task), nodes[task]) }
        ready.push(100, StartupGraph.Node(priority: .high))
        #expect(ready.count == 101)
        ready.removeAll()
        let none = ready.pop()
        #expect(ready.count == 0 && none == nil)
        ready.push(7, nodes[7])
        let (first, second) = (ready.pop(), ready.pop())
        #expect(first == 7 && second == nil)
    }
}
