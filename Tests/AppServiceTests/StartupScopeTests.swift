import TestSupport
import Testing

@testable import AppService

@Suite("Start-up queue: tasks of scopes that are closed")
struct StartupScopeTests {
    private final class Scope: Sendable {}

    /// Registers a task in a scope of its own, awaits its end and closes the scope, several times.
    private func fill(_ count: Int, in queue: StartupQueue) async throws {
        for round in 0..<count {
            let scope = Scope()
            try queue.register(StartupTask("filler/\(round)") {}.in(scope))
            await queue.done(.low)
            queue.close([scope])
        }
    }

    @Test("however often a module is restarted, the queue has few more tasks than there are")
    func forgotten() async throws {
        let record = Record()
        let queue = StartupQueue(width: 2)
        try queue.admit(.low)
        try queue.register(StartupTask("base/open") { record.add("base") })
        for round in 0..<1000 {
            let scope = Scope()
            try queue.register([
                StartupTask("m/second", after: ["m/first"]) { record.add("second \(round)") }
                    .in(scope),
                StartupTask("m/first", after: ["base/open"]) { record.add("first \(round)") }
                    .in(scope),
            ])
            await queue.done(.low)
            #expect(queue.report().outcome("m/second") == .succeeded)
            queue.close([scope])
            #expect(queue.report()["m/first"] == nil)
        }
        let rounds = (0..<1000).flatMap { ["first \($0)", "second \($0)"] }
        #expect(record.all == ["base"] + rounds)
        #expect(queue.taskCount <= 1 + 64 + 2)
        #expect(queue.report().outcome("base/open") == .succeeded)
        #expect(throws: StartupError.self) { try queue.register(StartupTask("base/open") {}) }
    }

    @Test("a receipt that was used ends no other task that has the number of its own")
    func receipts() async throws {
        let queue = StartupQueue(width: 1)
        let (first, second) = (HeldReceipt(), HeldReceipt())
        let (scope, handedBack) = (Scope(), [Door(), Door()])
        func register(
            _ name: String, _ receipt: HeldReceipt, _ door: Door, in scope: Scope
        ) throws {
            try queue.register(
                StartupTask(name) {
                    1
                } handBack: { _, new in
                    receipt.hold(new)
                    door.open()
                }.in(scope))
        }
        try queue.admit(.low)
        try register("m/task", first, handedBack[0], in: scope)
        await handedBack[0].wait()
        let used = try #require(first.take())
        used.done()
        await queue.done(.low)
        queue.close([scope])
        try await fill(63, in: queue)

        try register("m/task", second, handedBack[1], in: Scope())
        await handedBack[1].wait()
        #expect(queue.report().tasks.map(\.name) == ["m/task"])
        used.done()
        #expect(queue.report().outcome("m/task") == nil)
        second.take()?.fail(Boom())
        #expect(queue.report().outcome("m/task") == .failed("boom"))
    }

    @Test("a task that was skipped keeps the reason, which names tasks that are gone")
    func reasons() async throws {
        let queue = StartupQueue(width: 1)
        try queue.admit(.low)
        let scope = Scope()
        try queue.register([
            StartupTask("m/root") { throw Boom() }.in(scope),
            StartupTask("m/next", after: ["m/root"]) {}.in(scope),
            StartupTask("stays/task", after: ["m/next"]) {},
        ])
        await queue.done(.low)
        queue.close([scope])
        let reason = StartupOutcome.skipped(
            .dependency("m/next", root: "m/root", cause: "failed: boom"))
        #expect(queue.report().outcome("stays/task") == reason)
        try await fill(200, in: queue)
        #expect(queue.taskCount < 3 + 64 + 2)
        #expect(queue.report().outcome("stays/task") == reason)
    }

    @Test(
        "an overdue task that has its thread is kept, whatever is forgotten, and ends as it would")
    func overdue() async throws {
        let time = ManualTimeSource()
        let (scope, began, gate, late) = (Scope(), Door(), Door(), Door())
        let queue = StartupQueue(width: 1, time: time) { event in
            if case .endedLate = event { late.open() }
        }
        try queue.admit(.low)
        try queue.register(
            .blocking("slow/task", deadline: .seconds(1), began, until: gate).in(scope))
        await began.wait()
        time.advance(by: .seconds(1))
        try queue.register(StartupTask("base/task") {})
        await queue.done(.low)
        queue.close([scope])
        try await fill(200, in: queue)
        #expect(queue.taskCount < 2 + 64 + 1)
        #expect(queue.hasTask("slow/task"))
        gate.open()
        await late.wait()
        #expect(queue.report().outcome("base/task") == .succeeded)
        try await fill(130, in: queue)
        #expect(!queue.hasTask("slow/task"))
        // Its worker takes tasks again, so that there are two however often one is overdue.
        #expect(queue.state.withLock { $0.lanes.count } <= 2)
    }

    @Test("outcomes are those of a queue that forgets nothing", arguments: 1...20)
    func random(seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let queue = StartupQueue(width: 1 + random.next(below: 3))
        try queue.admit(.low)
        // The owners that stay, and whether their one task succeeds.
        var expected: [(name: String, succeeds: Bool, scope: Scope)] = []
        for round in 0..<300 {
            var tasks: [StartupTask] = []
            for number in 0...random.next(below: 4) {
                let name = "\(round).\(number)/task"
                let count = expected.isEmpty ? 0 : random.next(below: 3)
                let after = (0..<count).map { _ in expected[random.next(below: expected.count)] }
                let (throwing, scope) = (random.next(below: 5) == 0, Scope())
                tasks.append(
                    StartupTask(
                        name, priority: StartupPriority.allCases[random.next(below: 3)],
                        after: after.map(\.name)
                    ) { if throwing { throw Boom() } }.in(scope))
                expected.append((name, !throwing && after.allSatisfy(\.succeeds), scope))
            }
            try queue.register(tasks)
            await queue.done(.low)
            while expected.count > 10 {
                let gone = expected.remove(at: random.next(below: expected.count))
                queue.close([gone.scope])
            }
            let report = queue.report()
            for (name, succeeds, _) in expected {
                #expect((report.outcome(name) == .succeeded) == succeeds, "\(name)")
            }
            let names = Set(expected.map(\.name))
            #expect(report.tasks.map(\.name).filter(names.contains).count == expected.count)
        }
        #expect(queue.taskCount < 300)
    }

    @Test(
        "of two scopes the later one has a name, until either is closed", arguments: [true, false])
    func names(keepsLater: Bool) async throws {
        let record = Record()
        let queue = StartupQueue(width: 1)
        try queue.admit(.low)
        let scopes = [Scope(), Scope()]
        func tasks(_ number: Int) -> [StartupTask] {
            [
                StartupTask("m/first") { record.add("first \(number)") }.in(scopes[number]),
                StartupTask("m/second", after: ["m/first"]) {
                    record.add("second \(number)")
                    if number == 1 { throw Boom() }
                }.in(scopes[number]),
            ]
        }
        try queue.register(tasks(0))
        try queue.register(tasks(1))
        #expect(throws: StartupError.self) { try queue.register(tasks(1)[0]) }
        // It runs after the later one, which fails.
        try queue.register(StartupTask("other/before", after: ["m/second"]) {})
        queue.close([scopes[keepsLater ? 0 : 1]])
        try queue.register(StartupTask("other/after", after: ["m/second"]) {})
        await queue.done(.low)
        #expect(record.all.sorted() == ["first 0", "first 1", "second 0", "second 1"])
        let report = queue.report()
        #expect(report.outcome("other/before") != .succeeded)
        #expect((report.outcome("other/after") == .succeeded) == !keepsLater)
        #expect(report.tasks.map(\.name) == ["m/first", "m/second", "other/before", "other/after"])
        queue.close(scopes)
        #expect(throws: StartupError.self) {
            try queue.register(StartupTask("late", after: ["m/second"]) {})
        }
    }

    @Test("a required task of a scope that is closed is required no more")
    func required() async throws {
        let (began, gate, record, scope) = (Door(), Door(), Record(), Scope())
        let queue = StartupQueue(width: 1, onRequiredFailure: { task, _ in record.add(task) })
        try queue.admit(.low)
        try queue.register([
            StartupTask("m/task", required: true) {
                began.open()
                gate.block()
                throw Boom()
            }.in(scope),
            StartupTask("n/task", required: true) { throw Boom() }.in(Scope()),
        ])
        await began.wait()
        queue.close([scope])
        gate.open()
        await queue.done(.low)
        #expect(record.all == ["n/task"])
    }
}

extension StartupTask {
    /// The task in a scope.
    fileprivate func `in`(_ scope: StartupScope) -> StartupTask {
        var task = self
        task.scope = scope
        return task
    }
}

extension StartupQueue {
    /// The number of tasks that the queue has, those of closed scopes included.
    fileprivate var taskCount: Int { state.withLock { $0.graph.tasks.count } }

    fileprivate func hasTask(_ name: String) -> Bool {
        state.withLock { $0.graph.tasks.contains { $0.name == name } }
    }
}
