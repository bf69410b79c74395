import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("A value that asynchronous code waits for", .timeLimit(.minutes(10)))
struct SuspendingFutureTests {
    @Test("it may be there before it is waited for")
    func before() async {
        let future = SuspendingFuture<Int>()
        future.keep(7)
        #expect(await future.value == 7)
    }

    @Test("a task that waits goes on where it is isolated, with its preference for other code")
    func after() async {
        let place = Place()
        let future = SuspendingFuture<Int>()
        let waits = Promise<Void>()
        let task = Task { await place.sum(of: future, whenWaiting: waits) }
        await waits.value
        future.keep(7)
        #expect(await task.value == 8)
    }

    @Test("code without isolation does not go on within the code that has the value")
    func elsewhere() async {
        let future = SuspendingFuture<Int>()
        let begun = Promise<Void>()
        // The thread that is about to give the value, and zero before and after.
        let keeper = Guarded<UInt>(0)
        let task = Task(executorPreference: WorkerPool(width: 1)) {
            begun.keep(())
            _ = await future.value
            return keeper.withLock { $0 } == NativeThread.current
        }
        await begun.value
        WorkerPool(width: 1).run {
            keeper.withLock { $0 = NativeThread.current }
            future.keep(7)
            keeper.withLock { $0 = 0 }
        }
        #expect(await !task.value)
    }

    @Test("many tasks, each with a value of its own, from many threads")
    func many() async {
        let pool = WorkerPool(width: 4)
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 {
                let future = SuspendingFuture<Int>()
                group.addTask { await future.value ?? 0 }
                pool.run { future.keep(number) }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 499_500)
    }
}

/// An actor with state of its own.
private actor Place {
    private var count = 1

    func sum(of future: SuspendingFuture<Int>, whenWaiting waits: Promise<Void>) async -> Int {
        // What keeps this actor comes after the task has left it.
        Task { notify(waits) }
        let value = await future.value
        assertIsolated()
        return (value ?? 0) + count
    }

    private func notify(_ waits: Promise<Void>) { waits.keep(()) }
}
