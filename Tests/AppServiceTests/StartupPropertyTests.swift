import AppService
import Synchronization
import Testing

@Suite("Start-up queue: any graph")
struct StartupPropertyTests {
    /// A task of a random graph; those it runs after have smaller numbers, or greater ones where the
    /// graph was turned round.
    struct Plan {
        var priority: StartupPriority
        var after: [Int]
        var fails: Bool
    }

    static func plans(seed: UInt64) -> [Plan] {
        var random = SeededNumbers(seed: seed)
        let count = random.next(below: 60)
        let failing = [0, 4, 20][random.next(below: 3)]
        var plans: [Plan] = []
        for number in 0..<count {
            let degree = number == 0 ? 0 : random.next(below: 4)
            plans.append(
                Plan(
                    priority: StartupPriority.allCases[random.next(below: 3)],
                    after: (0..<degree).map { _ in random.next(below: number) },
                    fails: failing > 0 && random.next(below: failing) == 0))
        }
        guard random.next(below: 2) == 0 else { return plans }
        for plan in plans.indices { plans[plan].after = plans[plan].after.map { count - 1 - $0 } }
        return plans.reversed()
    }

    /// What should happen at width 1, reckoned the slow and plain way.
    struct Model {
        var order: [Int] = []
        var skipped: Set<Int> = []

        init(_ plans: [Plan]) {
            var priority = plans.map(\.priority)
            var chain = [Int](repeating: 1, count: plans.count)
            for _ in plans {
                for (number, plan) in plans.enumerated() {
                    for above in plan.after {
                        priority[above] = max(priority[above], priority[number])
                        chain[above] = max(chain[above], chain[number] + 1)
                    }
                }
            }
            var waiting = Set(plans.indices)
            var succeeded: Set<Int> = []
            while !waiting.isEmpty {
                let ready = waiting.filter { plans[$0].after.allSatisfy(succeeded.contains) }
                guard
                    let next = ready.max(by: {
                        (priority[$0], chain[$0], -$0) < (priority[$1], chain[$1], -$1)
                    })
                else { break }
                waiting.remove(next)
                order.append(next)
                if !plans[next].fails { succeeded.insert(next) }
            }
            skipped = waiting
        }
    }

    @Test("at width 1 the order is the model's", arguments: UInt64(1)...60)
    func order(seed: UInt64) async throws {
        let plans = Self.plans(seed: seed)
        let model = Model(plans)
        let record = Record()
        let queue = StartupQueue(width: 1)
        try queue.register(
            plans.enumerated().map { number, plan in
                StartupTask("\(number)", priority: plan.priority, after: names(plan.after)) {
                    record.add("\(number)")
                    if plan.fails { throw Boom() }
                }
            })
        try queue.admit(.low)
        await queue.done(.low)
        #expect(record.all == names(model.order))
        check(queue.report(), plans, model)
    }

    @Test(
        "at any width each task runs once, after those it waits for, and never too many at a time",
        arguments: UInt64(100)...140)
    func width(seed: UInt64) async throws {
        let plans = Self.plans(seed: seed)
        let width = 1 + Int(seed % 4)
        let running = Atomic(0)
        let most = Atomic(0)
        let record = Record()
        let queue = StartupQueue(width: width, deadline: .seconds(3600))
        let tasks = plans.enumerated().map { number, plan in
            let after = names(plan.after)
            let body: @Sendable () throws -> Void = {
                let now = running.add(1, ordering: .relaxed).newValue
                _ = most.max(now, ordering: .relaxed)
                let before = Set(record.all)
                for name in after where !before.contains(name) {
                    Issue.record("\(number) ran before \(name)")
                }
                record.add("\(number)")
                running.subtract(1, ordering: .relaxed)
                if plan.fails { throw Boom() }
            }
            // Half of them asynchronous, a quarter of those with a result.
            switch number % 4 {
            case 0:
                return StartupTask("\(number)", priority: plan.priority, after: after) {
                    await Task.yield()
                    try body()
                }
            case 1:
                return StartupTask("\(number)", priority: plan.priority, after: after) {
                    try body()
                    return number
                } handBack: { _, receipt in
                    receipt.done()
                }
            default:
                return StartupTask(
                    "\(number)", priority: plan.priority, after: after, work: body)
            }
        }
        // The first half before the start, as far as it stands alone; the rest late.
        let early =
            (0...plans.count / 2).last { count in
                plans[..<count].allSatisfy { $0.after.allSatisfy { $0 < count } }
            } ?? 0
        try queue.register(Array(tasks[..<early]))
        try queue.admit(.high)
        try queue.register(Array(tasks[early...]))
        try queue.admit(.low)
        await queue.done(.low)
        #expect(record.all.count == Set(record.all).count)
        #expect(most.load(ordering: .relaxed) <= width)
        check(queue.report(), plans, Model(plans))
    }

    private func check(_ report: StartupReport, _ plans: [Plan], _ model: Model) {
        for (number, entry) in report.tasks.enumerated() {
            switch entry.outcome {
            case .succeeded: #expect(!plans[number].fails && !model.skipped.contains(number))
            case .failed: #expect(plans[number].fails && !model.skipped.contains(number))
            case .skipped(.dependency(let name, let root, _)):
                #expect(model.skipped.contains(number))
                #expect(entry.after.contains(name))
                #expect(Int(root).map { plans[$0].fails } == true)
            case .overdue, .skipped(.stopped), nil:
                Issue.record("\(entry.name): \(String(describing: entry.outcome))")
            }
        }
    }

    private func names(_ numbers: [Int]) -> [String] { numbers.map { "\($0)" } }
}
