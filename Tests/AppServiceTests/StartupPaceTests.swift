import Testing

@testable import AppService

@Suite("Start-up queue: how many workers are woken")
struct StartupPaceTests {
    /// A schedule whose lanes ask for work when the test says so, at a time that it sets.
    struct Steps {
        var schedule: StartupSchedule
        var now = 0
        /// The wakes and rings so far, in order: the number of the lane, or "ring".
        var woken: [String] = []

        /// Admits independent tasks.
        init(_ count: Int, width: Int) throws {
            schedule = StartupSchedule(width: width, deadline: nil, reportsEvents: false)
            var effects: [StartupSchedule.Effect] = []
            try schedule.register((0..<count).map { StartupTask("\($0)") {} }, now: nil, &effects)
            try schedule.admit(.low, now: now, &effects)
            settle(&effects)
        }

        mutating func settle(_ effects: inout [StartupSchedule.Effect]) {
            schedule.settle(&effects)
            for effect in effects {
                if case .wake(let worker) = effect { woken.append("\(worker.lane)") }
                if case .ring = effect { woken.append("ring") }
            }
        }

        /// One visit of a lane, which ends the task it has, if any.
        ///
        /// - Returns: The number of the task it gets, "watch" or "rest".
        mutating func visit(_ lane: Int) -> String {
            var effects: [StartupSchedule.Effect] = []
            let hasTask = schedule.lanes[lane].task >= 0
            let step = schedule.step(
                of: schedule.lanes[lane].worker, after: hasTask ? .work(.ended(.succeeded)) : nil,
                now: now, &effects)
            settle(&effects)
            return switch step {
            case .run, .handBack: "\(schedule.lanes[lane].task)"
            case .watch: "watch"
            case .rest: "rest"
            }
        }
    }

    @Test("a burst of brief tasks wakes one worker beside the first, and no other")
    func burst() throws {
        var steps = try Steps(1000, width: 8)
        #expect(steps.woken == ["0"])
        for task in 0..<1000 {
            #expect(steps.visit(0) == "\(task)")
            steps.now += 100
        }
        #expect(steps.visit(0) == "rest")
        #expect(steps.woken == ["0", "1"])
        #expect(steps.visit(1) == "rest", "it comes when all is done")
    }

    @Test("a worker that comes while brief tasks end watches, until none has ended since it looked")
    func watches() throws {
        var steps = try Steps(10, width: 2)
        #expect(steps.visit(0) == "0")
        #expect(steps.visit(0) == "1")
        #expect(steps.visit(1) == "watch")
        #expect(steps.visit(0) == "2")
        #expect(steps.visit(1) == "watch")
        #expect(steps.woken == ["0", "1"], "one that watches is not woken again")
        steps.now += 1_000_000
        #expect(steps.visit(1) == "3", "the other has not come back")
        #expect(steps.visit(1) == "4", "it goes on as long as the other does not come back")
    }

    @Test(
        "a worker that comes while the first task runs takes the next one, and wakes all that are needed"
    )
    func longFirst() throws {
        var steps = try Steps(10, width: 4)
        #expect(steps.visit(0) == "0")
        #expect(steps.woken == ["0", "1"])
        #expect(steps.visit(1) == "1")
        #expect(steps.woken == ["0", "1", "2", "3"])
        #expect(steps.visit(2) == "2")
        #expect(steps.visit(3) == "3")
        steps.now += 1_000_000
        #expect(steps.visit(0) == "4", "long tasks are shared out")
    }

    @Test("the end of a long task wakes as many workers as there is work for, the watching one too")
    func longLater() throws {
        var steps = try Steps(10, width: 4)
        #expect(steps.visit(0) == "0")
        #expect(steps.visit(0) == "1")
        #expect(steps.visit(1) == "watch")
        steps.now += StartupSchedule.briefTime
        #expect(steps.visit(0) == "2")
        #expect(steps.woken == ["0", "1", "ring", "2", "3"])
        #expect(steps.visit(1) == "3")
    }

    @Test("of two workers that run brief tasks one steps aside, and rests when nothing is left")
    func stepsAside() throws {
        var steps = try Steps(4, width: 2)
        #expect(steps.visit(0) == "0")
        #expect(steps.visit(1) == "1")
        #expect(steps.visit(0) == "2")
        #expect(steps.visit(1) == "watch")
        #expect(steps.visit(0) == "3")
        #expect(steps.visit(0) == "rest")
        #expect(steps.visit(1) == "rest")
        #expect(steps.schedule.busy == 0 && steps.schedule.coming == 0)
    }

    @Test(
        "a task that is registered when only a watching worker is left does not wait for it to look"
    )
    func onlyWatching() throws {
        var steps = try Steps(3, width: 2)
        #expect(steps.visit(0) == "0")
        #expect(steps.visit(0) == "1")
        #expect(steps.visit(1) == "watch")
        #expect(steps.visit(0) == "2")
        #expect(steps.visit(0) == "rest")
        #expect(steps.woken == ["0", "1"])
        var effects: [StartupSchedule.Effect] = []
        try steps.schedule.register([StartupTask("late") {}], now: 0, &effects)
        steps.settle(&effects)
        #expect(steps.woken == ["0", "1", "ring"])
        #expect(steps.visit(1) == "3", "no other runs")
    }

    @Test("ready tasks run beside a long one, whatever came before", .timeLimit(.minutes(10)))
    func besideLong() async throws {
        let (lastRan, queue) = (Door(), StartupQueue(width: 2))
        let brief = (0..<500).map { StartupTask("brief \($0)") {} }
        let long = StartupTask("long", after: ["brief 99"]) { lastRan.block() }
        let last = StartupTask("last", priority: .low, after: ["brief 499"]) { lastRan.open() }
        try queue.register(brief[..<100] + [long] + brief[100...] + [last])
        try queue.admit(.low)
        await queue.done(.low)
        #expect(queue.report().tasks.allSatisfy { $0.outcome == .succeeded })
    }
}
