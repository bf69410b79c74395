import Testing

@testable import AppService

@Suite("Start-up queue: tasks that make no sense")
struct StartupErrorTests {
    private func task(_ name: String, after: [String] = []) -> StartupTask {
        StartupTask(name, after: after) {}
    }

    @Test("every error of the graph is in one error, before anything runs")
    func all() async throws {
        let record = Record()
        let queue = StartupQueue(width: 0, deadline: .zero)
        try queue.register([
            StartupTask("database") { record.add("database") },
            task("feed", after: ["datebase", "something else"]),
            task("a", after: ["b"]), task("b", after: ["c"]), task("c", after: ["a"]),
            task("waits for the cycle", after: ["c"]),
            task("itself", after: ["database", "itself"]),
        ])
        let error = #expect(throws: StartupError.self) { try queue.admit(.high) }
        #expect(
            error?.description == """
                the start-up queue has a width of 0; it must be at least 1
                the start-up queue has a deadline of 0ns; it must be longer than zero
                start-up task 'feed' runs after 'datebase', which does not exist; did you mean \
                'database'?
                start-up task 'feed' runs after 'something else', which does not exist
                start-up tasks wait for each other: a → b → c → a
                start-up tasks wait for each other: itself → itself
                """)
        #expect(record.all.isEmpty)
        #expect(queue.report().tasks.allSatisfy { $0.outcome == nil })
    }

    @Test("a queue may be admitted again when what was missing is there")
    func again() async throws {
        let queue = StartupQueue(width: 1)
        try queue.register(task("b", after: ["a"]))
        #expect(throws: StartupError.self) { try queue.admit(.high) }
        try queue.register(task("a"))
        #expect(try await queue.run().outcome("b") == .succeeded)
    }

    @Test("names and deadlines are looked at at once, and all of a batch is refused")
    func names() throws {
        let queue = StartupQueue()
        try queue.register(task("a"))
        let error = #expect(throws: StartupError.self) {
            try queue.register([
                task("a"), task("b"), task("b"), task(""),
                StartupTask("hasty", deadline: .seconds(-1)) {},
            ])
        }
        #expect(
            error?.description == """
                there is a start-up task 'a' already; names are unique
                there is a start-up task 'b' already; names are unique
                a start-up task has an empty name; give it one
                start-up task 'hasty' has a deadline of -1s; it must be longer than zero
                """)
        #expect(queue.report().tasks.map(\.name) == ["a"])
        try queue.register([task("b"), task("hasty")])
    }

    @Test("late registration is checked when it happens, and leaves nothing behind")
    func late() async throws {
        let queue = StartupQueue(width: 1)
        try queue.register(task("a"))
        try queue.admit(.low)
        let error = #expect(throws: StartupError.self) {
            try queue.register([
                task("b", after: ["a", "nowhere"]), task("c", after: ["a", "d"]),
                task("d", after: ["c"]),
            ])
        }
        #expect(
            error?.description == """
                start-up task 'b' runs after 'nowhere', which does not exist
                start-up tasks wait for each other: c → d → c
                """)
        try queue.register([task("d", after: ["c"]), task("c", after: ["a"])])
        await queue.done(.low)
        #expect(queue.report().tasks.map(\.name) == ["a", "d", "c"])
        #expect(queue.report().tasks.allSatisfy { $0.outcome == .succeeded })
    }

    @Test("a closed queue takes nothing, and what it has runs on")
    func closed() async throws {
        let queue = StartupQueue()
        try queue.register(task("a"))
        queue.close()
        let error = #expect(throws: StartupError.self) { try queue.register(task("b")) }
        #expect(error?.description == "start-up task 'b' came after the queue was closed")
        #expect(try await queue.run().tasks.map(\.outcome) == [.succeeded])
    }

    @Test("a width below one", arguments: [0, -1, Int.min])
    func width(width: Int) {
        #expect(throws: StartupError(diagnostics: [.width(width)])) {
            try StartupQueue(width: width).admit(.low)
        }
    }

    @Test("a deadline longer than anything")
    func longDeadline() async throws {
        let queue = StartupQueue(deadline: Duration(attoseconds: .max))
        try queue.register(task("a"))
        try queue.register(StartupTask("b", deadline: Duration(attoseconds: .max)) {})
        #expect(try await queue.run().tasks.map(\.outcome) == [.succeeded, .succeeded])
    }

    @Test("ten thousand unknown names are all named, and the first get a hint")
    func manyUnknown() throws {
        let queue = StartupQueue()
        try queue.register((0..<10_000).map { task("task-\($0)", after: ["tusk-\($0)"]) })
        let error = #expect(throws: StartupError.self) { try queue.admit(.high) }
        #expect(error?.diagnostics.count == 10_000)
        #expect(
            error?.diagnostics.first
                == .unknownDependency("tusk-0", of: "task-0", nearest: "task-0"))
    }
}
