import AppService
import Testing

@Suite("Start-up queue: order and phases")
struct StartupOrderTests {
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let tasks: [(name: String, priority: StartupPriority, after: [String])]
        let order: [String]
    }

    static let table = [
        Row(
            testDescription: "by priority",
            tasks: [("low", .low, []), ("default", .default, []), ("high", .high, [])],
            order: ["high", "default", "low"]),
        Row(
            testDescription: "then by the length of the chain that waits",
            tasks: [
                ("alone", .default, []), ("two", .default, []), ("three", .default, []),
                ("c", .default, ["b"]), ("b", .default, ["three"]), ("d", .default, ["two"]),
            ],
            order: ["three", "two", "b", "alone", "c", "d"]),
        Row(
            testDescription: "then by registration",
            tasks: [("z", .default, []), ("a", .default, []), ("m", .default, [])],
            order: ["z", "a", "m"]),
        Row(
            testDescription: "what a higher task waits for is raised to it, however far away",
            tasks: [
                ("default", .default, []), ("root", .low, []), ("middle", .low, ["root"]),
                ("top", .high, ["middle"]),
            ],
            order: ["root", "middle", "top", "default"]),
        Row(
            testDescription: "a name given twice in `after` counts once",
            tasks: [("b", .default, ["a", "a"]), ("a", .default, [])],
            order: ["a", "b"]),
        Row(testDescription: "no task at all", tasks: [], order: []),
    ]

    @Test("ready tasks begin", arguments: table)
    func order(row: Row) async throws {
        let record = Record()
        let queue = StartupQueue(width: 1)
        for (name, priority, after) in row.tasks {
            try queue.register(
                StartupTask(name, priority: priority, after: after) { record.add(name) })
        }
        try queue.admit(.low)
        await queue.done(.low)
        #expect(record.all == row.order)
    }

    @Test("nothing runs before its priority is admitted")
    func phases() async throws {
        let record = Record()
        let queue = StartupQueue(width: 2)
        for priority in StartupPriority.allCases {
            try queue.register(
                StartupTask("\(priority)", priority: priority) { record.add("\(priority)") })
        }
        #expect(record.all.isEmpty)
        try queue.admit(.high)
        await queue.done(.high)
        #expect(record.all == ["high"])
        try queue.admit(.default)
        await queue.done(.default)
        #expect(record.all == ["high", "default"])
        try queue.admit(.low)
        await queue.done(.low)
        #expect(record.all == ["high", "default", "low"])
    }

    @Test("a low task that a high one waits for runs in the high phase")
    func raisedIntoPhase() async throws {
        let queue = StartupQueue(width: 1)
        try queue.register([
            StartupTask("top", priority: .high, after: ["root"]) {},
            StartupTask("root", priority: .low) {},
            StartupTask("other", priority: .low) {},
        ])
        try queue.admit(.high)
        await queue.done(.high)
        let report = queue.report()
        #expect(report.outcome("root") == .succeeded)
        #expect(report["root"]?.priority == .low)
        #expect(report["root"]?.effectivePriority == .high)
        #expect(report.outcome("other") == nil)
    }

    @Test("a high task registered late raises what it waits for, though not admitted yet")
    func raisedLate() async throws {
        let queue = StartupQueue(width: 1)
        try queue.register([
            StartupTask("root", priority: .low) {},
            StartupTask("middle", priority: .low, after: ["root"]) {},
        ])
        try queue.admit(.high)
        await queue.done(.high)
        #expect(queue.report().outcome("root") == nil)
        try queue.register(StartupTask("top", priority: .high, after: ["middle"]) {})
        await queue.done(.high)
        let report = queue.report()
        #expect(report.tasks.map(\.effectivePriority) == [.high, .high, .high])
        #expect(report.tasks.map(\.outcome) == [.succeeded, .succeeded, .succeeded])
    }

    @Test("a ready task that is raised late overtakes")
    func overtakes() async throws {
        let record = Record()
        let (began, gate) = (Door(), Door())
        let queue = StartupQueue(width: 1)
        try queue.register([
            .blocking("blocker", priority: .high, began, until: gate),
            StartupTask("first") { record.add("first") },
            StartupTask("second", priority: .low) { record.add("second") },
        ])
        try queue.admit(.low)
        await began.wait()
        try queue.register([
            StartupTask("a", priority: .default, after: ["second"]) { record.add("a") },
            StartupTask("b", priority: .high, after: ["a"]) { record.add("b") },
        ])
        gate.open()
        await queue.done(.low)
        #expect(record.all == ["second", "a", "b", "first"])
    }

    @Test("run admits the phases one after the other")
    func run() async throws {
        let record = Record()
        let queue = StartupQueue()
        try queue.register([
            StartupTask("low", priority: .low) { record.add("low") },
            StartupTask("default") { record.add("default") },
            StartupTask("high", priority: .high) { record.add("high") },
        ])
        let report = try await queue.run()
        #expect(record.all == ["high", "default", "low"])
        #expect(report.tasks.map(\.outcome) == [.succeeded, .succeeded, .succeeded])
    }

    @Test("done is reported once for each call, and at once where it is so already")
    func whenDone() async throws {
        let record = Record()
        let queue = StartupQueue(width: 1)
        queue.whenDone(.high) { record.add("high 1") }
        queue.whenDone(.low) { record.add("low") }
        #expect(record.all.isEmpty, "nothing is done before it is admitted")
        try queue.register(StartupTask("a") { record.add("a") })
        try queue.admit(.high)
        queue.whenDone(.high) { record.add("high 2") }
        #expect(record.all == ["high 1", "high 2"])
        try queue.admit(.low)
        await queue.done(.low)
        #expect(record.all == ["high 1", "high 2", "a", "low"])
    }

    @Test("never more at a time than the width", arguments: [1, 2, 5])
    func width(width: Int) async throws {
        let record = Record()
        let gate = Door()
        let doors = (0..<width).map { _ in Door() }
        let queue = StartupQueue(width: width)
        for number in 0..<width * 2 {
            try queue.register(
                StartupTask("\(number)") {
                    record.add("\(number)")
                    if number < width { doors[number].open() }
                    gate.block()
                })
        }
        try queue.admit(.low)
        for door in doors { await door.wait() }
        #expect(record.all.count == width)
        gate.open()
        await queue.done(.low)
        #expect(record.all.count == width * 2)
        #expect(Set(queue.report().tasks.compactMap(\.worker)) == Set(1...width))
    }

    @Test("a chain of ten thousand, registered from its end")
    func longChain() async throws {
        let count = 10_000
        let queue = StartupQueue(width: 2)
        try queue.register(
            (0..<count).map { number in
                StartupTask("\(number)", after: number + 1 < count ? ["\(number + 1)"] : []) {}
            })
        let report = try await queue.run()
        #expect(report.tasks.allSatisfy { $0.outcome == .succeeded })
        #expect(report.criticalChain.map(\.name) == (0..<count).reversed().map { "\($0)" })
    }
}
