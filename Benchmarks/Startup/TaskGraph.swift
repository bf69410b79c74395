import AppService
import Foundation
import PthreadTasks

/// Tasks that each run after none to three of those before them.
struct TaskGraph: Sendable {
    let count: Int
    private let body: @Sendable () -> Void
    private let tasks: [StartupTask]
    private let before: [[Int]]
    private let after: [[Int]]
    /// The same edges in the form for C.
    private let waits: [Int32]
    private let firsts: [Int32]
    private let targets: [Int32]

    /// Makes the same graph each time.
    init(count: Int, _ body: @escaping @Sendable () -> Void = {}) {
        self.count = count
        self.body = body
        var random = SplitMix(state: 2)
        let before = (0..<count).map { task in
            // Near ones, so that there are chains; a set, since nothing waits twice for the same.
            Set(
                (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
                    task == 0 ? nil : task - Int.random(in: 1...min(task, 50), using: &random)
                }
            ).sorted()
        }
        var after: [[Int]] = Array(repeating: [], count: count)
        for task in before.indices {
            for other in before[task] { after[other].append(task) }
        }
        self.before = before
        self.after = after
        waits = before.map { Int32($0.count) }
        firsts = after.reduce(into: [0]) { $0.append($0[$0.count - 1] + Int32($1.count)) }
        targets = after.flatMap { $0.map(Int32.init) }
        tasks = before.indices.map { task in
            StartupTask("task \(task)", after: before[task].map { "task \($0)" }, work: body)
        }
    }

    /// How many tasks the longest chain has.
    var longestChain: Int {
        var lengths: [Int] = []
        for task in before { lengths.append(1 + (task.map { lengths[$0] }.max() ?? 0)) }
        return lengths.max() ?? 0
    }

    /// Registers and runs all tasks.
    ///
    /// - Returns: How long that took.
    func run(_ way: TaskWay) async throws -> Duration {
        let began = ContinuousClock.now
        switch way {
        case .startupQueue, .startupQueueOfOne:
            let queue = StartupQueue(width: way == .startupQueue ? 2 : 1)
            try queue.register(tasks)
            try queue.admit(.low)
            await queue.done(.low)
        case .startupQueueWithReport:
            let queue = StartupQueue()
            try queue.register(tasks)
            _ = try await queue.run()
        case .twoThreads: return runOnThreads()
        case .taskGroup: await runInTaskGroup()
        case .operationQueue: runInOperationQueue()
        }
        return ContinuousClock.now - began
    }

    /// Two threads of C and a mutex, the graph known beforehand: the limit.
    private func runOnThreads() -> Duration {
        let took = waits.withUnsafeBufferPointer { waits in
            firsts.withUnsafeBufferPointer { firsts in
                targets.withUnsafeBufferPointer { targets in
                    runOnTwoThreads(
                        PthreadTaskGraph(
                            count: Int32(count), first: firsts.baseAddress,
                            targets: targets.baseAddress, waits: waits.baseAddress))
                }
            }
        }
        precondition(took >= 0, "two threads cannot be started")
        return .nanoseconds(took)
    }

    /// The parent starts a child when all it waits for has ended: no child waits for another.
    private func runInTaskGroup() async {
        await withTaskGroup(of: Int.self) { group in
            var waits = before.map(\.count)
            for task in waits.indices where waits[task] == 0 { start(task, in: &group) }
            for await task in group {
                for next in after[task] {
                    waits[next] -= 1
                    if waits[next] == 0 { start(next, in: &group) }
                }
            }
        }
    }

    private func start(_ task: Int, in group: inout TaskGroup<Int>) {
        group.addTask { [body] in
            body()
            return task
        }
    }

    private func runInOperationQueue() {
        let operations = before.indices.map { _ in BlockOperation(block: body) }
        for (task, operation) in operations.enumerated() {
            for other in before[task] { operation.addDependency(operations[other]) }
        }
        OperationQueue().addOperations(operations, waitUntilFinished: true)
    }
}

/// Numbers that look random and are the same each time.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
