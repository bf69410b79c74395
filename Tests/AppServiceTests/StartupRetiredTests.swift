import TestSupport
import Testing

@testable import AppService

@Suite("Start-up queue: retired tasks")
struct StartupRetiredTests {
    /// Registers a task of the owner `filler`, awaits its end and retires it, several times.
    private func retire(_ count: Int, in queue: StartupQueue) async throws {
        for round in 0..<count {
            try queue.register(StartupTask("filler/\(round)") {})
            await queue.done(.low)
            queue.retire(["filler"]) { "\($0) before \(round)" }
        }
    }

    @Test("however often a module is restarted, the queue has few more tasks than there are")
    func forgotten() async throws {
        let record = Record()
        let queue = StartupQueue(width: 2)
        try queue.admit(.low)
        try queue.register(StartupTask("base/open") { record.add("base") })
        for round in 0..<1000 {
            try queue.register([
                StartupTask("m/second", after: ["m/first"]) { record.add("second \(round)") },
                StartupTask("m/first", after: ["base/open"]) { record.add("first \(round)") },
            ])
            await queue.done(.low)
            #expect(queue.report().outcome("m/second") == .succeeded)
            queue.retire(["m"]) { "\($0) before \(round)" }
            #expect(queue.report()["m/first"] == nil)
        }
        let rounds = (0..<1000).flatMap { ["first \($0)", "second \($0)"] }
        #expect(record.all == ["base"] + rounds)
        #expect(queue.report().tasks.count <= 1 + 64 + 2)
        #expect(queue.report().outcome("base/open") == .succeeded)
        #expect(throws: StartupError.self) { try queue.register(StartupTask("base/open") {}) }
    }

    @Test("a receipt that was used ends no other task that has the number of its own")
    func receipts() async throws {
        let queue = StartupQueue(width: 1)
        let (first, second) = (HeldReceipt(), HeldReceipt())
        let handedBack = [Door(), Door()]
        func register(_ name: String, _ receipt: HeldReceipt, _ door: Door) throws {
            try queue.register(
                StartupTask(name) {
                    1
                } handBack: { _, new in
                    receipt.hold(new)
                    door.open()
                })
        }
        try queue.admit(.low)
        try register("m/task", first, handedBack[0])
        await handedBack[0].wait()
        let used = try #require(first.take())
        used.done()
        await queue.done(.low)
        queue.retire(["m"]) { "\($0) before" }
        try await retire(63, in: queue)

        try register("m/task", second, handedBack[1])
        await handedBack[1].wait()
        #expect(queue.report().tasks.map(\.name) == ["m/task"])
        used.done()
        #expect(queue.report().outcome("m/task") == nil)
        second.take()?.fail(Boom())
        #expect(queue.report().outcome("m/task") == .failed("boom"))
    }

    @Test("a task that was skipped keeps the reason, which names retired ones")
    func reasons() async throws {
        let queue = StartupQueue(width: 1)
        try queue.admit(.low)
        try queue.register([
            StartupTask("m/root") { throw Boom() },
            StartupTask("m/next", after: ["m/root"]) {},
            StartupTask("stays/task", after: ["m/next"]) {},
        ])
        await queue.done(.low)
        queue.retire(["m"]) { "\($0) before" }
        let reason = StartupOutcome.skipped(
            .dependency("m before/next", root: "m before/root", cause: "failed: boom"))
        #expect(queue.report().outcome("stays/task") == reason)
        try await retire(200, in: queue)
        #expect(queue.report().tasks.count < 3 + 64 + 2)
        #expect(queue.report().outcome("stays/task") == reason)
        #expect(queue.report().outcome("m before/next")?.description.contains("boom") == true)
    }

    @Test(
        "an overdue task that has its thread is kept, whatever is forgotten, and ends as it would")
    func overdue() async throws {
        let time = ManualTimeSource()
        let (began, gate, late) = (Door(), Door(), Door())
        let queue = StartupQueue(width: 1, time: time) { event in
            if case .endedLate = event { late.open() }
        }
        try queue.admit(.low)
        try queue.register(
            .blocking("slow/task", deadline: .seconds(1), began, until: gate))
        await began.wait()
        time.advance(by: .seconds(1))
        try queue.register(StartupTask("base/task") {})
        await queue.done(.low)
        queue.retire(["slow"]) { "\($0) before" }
        try await retire(200, in: queue)
        #expect(queue.report().tasks.count < 2 + 64 + 1)
        #expect(queue.report().outcome("slow before/task") == .overdue(.seconds(1)))
        gate.open()
        await late.wait()
        #expect(queue.report()["slow before/task"]?.endedLate == .seconds(1))
        #expect(queue.report().outcome("base/task") == .succeeded)
        try await retire(130, in: queue)
        #expect(queue.report()["slow before/task"] == nil)
        // Its worker takes tasks again, so that there are two however often one is overdue.
        #expect(queue.report().tasks.compactMap(\.worker).allSatisfy { $0 <= 2 })
    }

    @Test("outcomes are those of a queue that forgets nothing", arguments: 1...20)
    func random(seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let queue = StartupQueue(width: 1 + random.next(below: 3))
        try queue.admit(.low)
        // The owners that stay, and whether their one task succeeds.
        var expected: [(name: String, succeeds: Bool)] = []
        for round in 0..<300 {
            var tasks: [StartupTask] = []
            for number in 0...random.next(below: 4) {
                let name = "\(round).\(number)/task"
                let count = expected.isEmpty ? 0 : random.next(below: 3)
                let after = (0..<count).map { _ in expected[random.next(below: expected.count)] }
                let throwing = random.next(below: 5) == 0
                tasks.append(
                    StartupTask(
                        name, priority: StartupPriority.allCases[random.next(below: 3)],
                        after: after.map(\.name)
                    ) { if throwing { throw Boom() } })
                expected.append((name, !throwing && after.allSatisfy(\.succeeds)))
            }
            try queue.register(tasks)
            await queue.done(.low)
            while expected.count > 10 {
                let gone = expected.remove(at: random.next(below: expected.count))
                queue.retire([String(gone.name.prefix { $0 != "/" })]) { "\($0) gone" }
            }
            let report = queue.report()
            for (name, succeeds) in expected {
                #expect((report.outcome(name) == .succeeded) == succeeds, "\(name)")
            }
            let names = Set(expected.map(\.name))
            #expect(report.tasks.map(\.name).filter(names.contains).count == expected.count)
        }
        #expect(queue.report().tasks.count < 300)
    }
}
