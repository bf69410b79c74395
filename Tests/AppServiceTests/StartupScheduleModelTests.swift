import Testing

@testable import AppService

/// Any order of steps of a schedule whose tasks fail, hang, hand back late, and whose scopes are closed: without threads, so that a
/// seed that fails does so each time.
@Suite("Start-up queue: any order of steps")
struct StartupScheduleModelTests {
    @Test(
        "holds what its parts say of each other, and each number stands for one task",
        arguments: 1...30)
    func steps(seed: UInt64) {
        var model = Model(seed: seed)
        for _ in 0..<20 {
            for _ in 0..<100 { model.step() }
            // Tasks of closed scopes are forgotten only where nothing runs; an overdue one may stay on its lane.
            model.finish(leavingLost: model.random.next(below: 2) == 0)
        }
        model.finish(leavingLost: false)
        #expect(model.schedule.numbering > 3)
    }
}

private struct Model {
    final class Scope: Sendable {}

    /// The occupation of a lane, with the owner of the task.
    enum Occupation {
        case work(String)
        case handBack(String)
    }

    struct Receipt {
        let owner: String
        let task: Int32
        let numbering: Int
        var isUsed = false
    }

    var schedule: StartupSchedule
    var random: SeededNumbers
    var now = 0
    /// The names of the tasks whose scopes are not closed, with the scopes.
    var owners: [(name: String, scope: Scope)] = []
    var count = 0
    var occupations: [Int: Occupation] = [:]
    var receipts: [Receipt] = []

    init(seed: UInt64) {
        random = SeededNumbers(seed: seed)
        schedule = StartupSchedule(
            width: 1 + random.next(below: 3), deadline: nil, reportsEvents: false)
        change { try? $0.admit(.low, now: 0, &$1) }
    }

    /// Makes one transition, and checks the state after it.
    @discardableResult
    mutating func change<Result>(
        _ body: (inout StartupSchedule, inout [StartupSchedule.Effect]) -> Result
    ) -> Result {
        var effects: [StartupSchedule.Effect] = []
        let result = body(&schedule, &effects)
        schedule.settle(&effects)
        check()
        return result
    }

    mutating func step() {
        now += random.next(below: 30_000)
        switch random.next(below: 10) {
        case 0, 1: register()
        case 2 where !owners.isEmpty: close(owners.remove(at: random.next(below: owners.count)))
        case 3: ring()
        case 4 where !receipts.isEmpty: use(receipt: random.next(below: receipts.count))
        default:
            guard !schedule.lanes.isEmpty else { return }
            visit(random.next(below: schedule.lanes.count))
        }
        if owners.count > 12 { close(owners.removeFirst()) }
    }

    /// Ends all that runs, until nothing does, but for overdue tasks that are to stay on their lanes.
    mutating func finish(leavingLost: Bool) {
        func isLeft(_ lane: Int) -> Bool { leavingLost && schedule.lanes[lane].isLost }
        var steps = 0
        while steps < 10_000,
            occupations.keys.contains(where: { !isLeft($0) })
                || schedule.lanes.contains(where: \.isComing)
                || receipts.contains(where: { !$0.isUsed })
        {
            for lane in schedule.lanes.indices where !isLeft(lane) { visit(lane) }
            for index in receipts.indices where !receipts[index].isUsed { use(receipt: index) }
            (now, steps) = (now + 1_000_000, steps + 1)
        }
        receipts = receipts.suffix(5)
        #expect(schedule.lanes.count { !$0.isLost } == schedule.idleLanes.count)
        #expect(schedule.open[0] + schedule.open[1] + schedule.open[2] == 0)
        #expect(schedule.overdueReceipts == 0 && schedule.busy == 0 && schedule.ready.count == 0)
    }

    private mutating func register() {
        var scopes: [Scope] = []
        let tasks = (0...random.next(below: 2)).map { _ in
            let after = owners.isEmpty ? 0 : random.next(below: 3)
            count += 1
            var task = StartupTask(
                "\(count)/task", priority: StartupPriority.allCases[random.next(below: 3)],
                after: (0..<after).map { _ in
                    "\(owners[random.next(below: owners.count)].name)/task"
                },
                deadline: random.next(below: 2) == 0 ? .microseconds(50) : nil
            ) {}
            let scope = Scope()
            task.scope = scope
            scopes.append(scope)
            return task
        }
        owners += zip(tasks, scopes).map { (owner(of: $0.name), $1) }
        let now = now
        change { schedule, effects in
            #expect(throws: Never.self) { try schedule.register(tasks, now: now, &effects) }
        }
    }

    private mutating func close(_ owner: (name: String, scope: Scope)) {
        change { schedule, _ in schedule.graph.close([owner.scope]) }
    }

    private mutating func ring() {
        guard let due = schedule.alarm.due else { return }
        now = max(now, due)
        let (now, generation) = (now, schedule.alarm.generation)
        change { $0.rang(generation: generation, now: now, &$1) }
    }

    private mutating func use(receipt index: Int) {
        let receipt = receipts[index]
        receipts[index].isUsed = true
        // As the queue does.
        guard receipt.numbering == schedule.numbering else {
            #expect(receipt.isUsed, "no task whose receipt is to come has another number")
            return
        }
        if !receipt.isUsed { #expect(name(of: receipt.task) == receipt.owner) }
        let ending = random.next(below: 4) == 0 ? StartupEnding.failed("no") : .succeeded
        let now = now
        change { $0.handedBack(receipt.task, ending, now: now, &$1) }
    }

    /// Lets a lane ask for its next step, when it has been woken or has ended something.
    private mutating func visit(_ lane: Int) {
        var ended: StartupQueue.Ended?
        switch occupations.removeValue(forKey: lane) {
        case .work(let owner)?:
            #expect(name(of: schedule.lanes[lane].task) == owner)
            ended = .work(
                [.ended(.succeeded), .ended(.failed("no")), .handBack({ _ in })][
                    random.next(below: 3)])
        case .handBack(let owner)?:
            #expect(name(of: schedule.lanes[lane].task) == owner)
            ended = .handBack
        case nil: guard schedule.lanes[lane].isComing else { return }
        }
        let (worker, now) = (schedule.lanes[lane].worker, now)
        let step = change { $0.step(of: worker, after: ended, now: now, &$1) }
        switch step {
        case .run: occupations[lane] = .work(name(of: schedule.lanes[lane].task))
        case .handBack(let task, let numbering, _):
            occupations[lane] = .handBack(name(of: task))
            receipts.append(Receipt(owner: name(of: task), task: task, numbering: numbering))
        case .watch, .rest: break
        }
    }

    /// The owner of a task.
    private func name(of task: Int32) -> String { owner(of: schedule.graph.tasks[Int(task)].name) }

    private func owner(of name: String) -> String {
        String(name.prefix { $0 != "/" })
    }

    // MARK: What holds after each transition

    private func check() {
        let nodes = schedule.graph.nodes
        let lanes = schedule.lanes
        let idle = Set(schedule.idleLanes)
        #expect(idle.count == schedule.idleLanes.count, "no lane is idle twice")
        for lane in lanes.indices {
            #expect(!idle.contains(lane) || lanes[lane].task < 0 && !lanes[lane].isLost)
            #expect(!lanes[lane].isLost || lanes[lane].task >= 0)
        }
        let busy = lanes.indices.filter { !idle.contains($0) && !lanes[$0].isLost }
        #expect(busy.count == schedule.busy && busy.count <= schedule.width)
        #expect(busy.count { lanes[$0].isComing } == schedule.coming)
        #expect(
            schedule.ready.count == 0 || schedule.busy == schedule.width || schedule.coming > 0
                || schedule.pace.isBrief && schedule.busy > 0, "what is ready begins")
        var open = [0, 0, 0]
        for (task, node) in nodes.enumerated() {
            let task = Int32(task)
            let isOpen = node.phase.isOpen || node.phase == .running || node.phase == .handingBack
            if isOpen { open[Int(node.priority.rawValue)] += 1 }
            #expect((schedule.failures[task] == nil) == (isOpen || node.phase == .succeeded))
            #expect(schedule.handingBack.contains(task) == (node.phase == .handingBack))
            if node.phase == .running { #expect(busy.contains { lanes[$0].task == task }) }
            if node.phase == .running || node.phase == .handingBack,
                let deadline = schedule.deadline(of: task)
            {
                #expect((schedule.alarm.due ?? .max) <= node.started + deadline)
            }
        }
        #expect(open == [schedule.open[0], schedule.open[1], schedule.open[2]])
        for case .skipped(let after, let root) in schedule.failures.values {
            #expect(schedule.failures[after] != nil && schedule.failures[root] != nil)
        }
    }
}
