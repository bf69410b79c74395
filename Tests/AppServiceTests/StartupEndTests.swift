import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AppService

@Suite("Start-up queue: how tasks end", .timeLimit(.minutes(10)))
struct StartupEndTests {
    @Test("what runs after a failed task is skipped, each with its reason; the others go on")
    func failure() async throws {
        let record = Record()
        let queue = StartupQueue(width: 1) { event in record.add("\(event)") }
        try queue.register([
            StartupTask("a") { throw Boom() },
            StartupTask("b", after: ["a"]) {},
            StartupTask("c", after: ["other", "b"]) {},
            StartupTask("other") {},
        ])
        let report = try await queue.run()
        #expect(report.outcome("a") == .failed("boom"))
        #expect(report.outcome("other") == .succeeded)
        #expect(
            report.outcome("b")?.description == "skipped: it runs after 'a', which failed: boom")
        #expect(
            report.outcome("c")?.description
                == "skipped: it runs after 'b', which was skipped because 'a' failed: boom")
        #expect(
            report.outcome("c") == .skipped(.dependency("b", root: "a", cause: "failed: boom")))
        #expect(report["b"]?.started == nil)
    }

    @Test("asynchronous work runs, and fails, as other work does")
    func asynchronous() async throws {
        let record = Record()
        let queue = StartupQueue(width: 1)
        try queue.register([
            StartupTask("a") {
                await Task.yield()
                record.add("a")
            },
            StartupTask("b", after: ["a"]) { record.add("b, cancelled: \(Task.isCancelled)") },
            StartupTask("c", after: ["b"]) {
                await Task.yield()
                throw Boom()
            },
            StartupTask("d", after: ["c"]) { record.add("d") },
        ])
        let report = try await queue.run()
        #expect(record.all == ["a", "b, cancelled: false"])
        #expect(report.outcome("c") == .failed("boom"))
        #expect(report.outcome("d") == .skipped(.dependency("c", root: "c", cause: "failed: boom")))
    }

    @Test("asynchronous work holds its place while it is suspended")
    func suspendedHolds() async throws {
        let record = Record()
        let (began, gate) = (Door(), Door())
        let queue = StartupQueue(width: 1)
        try queue.register([
            StartupTask("a") {
                began.open()
                await gate.wait()
                record.add("a")
            },
            StartupTask("b") { record.add("b") },
        ])
        try queue.admit(.low)
        await began.wait()
        gate.open()
        await queue.done(.low)
        #expect(record.all == ["a", "b"])
    }

    @Test("late registration: after tasks that ended well, badly, and from inside a task")
    func late() async throws {
        let record = Record()
        let queue = StartupQueue(width: 1)
        try queue.register([
            StartupTask("good") {
                try queue.register(
                    StartupTask("inner", after: ["good"]) { record.add("inner") })
                record.add("good")
            },
            StartupTask("bad") { throw Boom() },
        ])
        try queue.admit(.low)
        await queue.done(.low)
        try queue.register(StartupTask("after good", after: ["good"]) { record.add("after good") })
        try queue.register([
            StartupTask("third", after: ["second"]) {},
            StartupTask("second", after: ["good", "bad"]) {},
        ])
        await queue.done(.low)
        #expect(record.all == ["good", "inner", "after good"])
        let report = queue.report()
        #expect(
            report.outcome("second")
                == .skipped(.dependency("bad", root: "bad", cause: "failed: boom")))
        #expect(
            report.outcome("third")
                == .skipped(.dependency("second", root: "bad", cause: "failed: boom")))
    }

    @Test("a required task that does not succeed is reported, whatever the reason; others are not")
    func required() async throws {
        let record = Record()
        let queue = StartupQueue(
            width: 1,
            onRequiredFailure: { task, outcome in record.add("\(task): \(outcome)") })
        try queue.register([
            StartupTask("optional") { throw Boom() },
            StartupTask("needed", required: true) { throw Boom() },
            StartupTask("skipped", after: ["optional"], required: true) {},
            StartupTask("fine", required: true) {},
        ])
        let report = try await queue.run()
        #expect(
            record.all == [
                "skipped: skipped: it runs after 'optional', which failed: boom",
                "needed: failed: boom",
            ])
        #expect(report.outcome("fine") == .succeeded, "other tasks go on")
    }

    // MARK: Handing back

    @Test("a task has ended when its result has been handed back, though its place is free before")
    func handBack() async throws {
        let record = Record()
        let given = Door()
        let receipts = Record()
        let held = HeldReceipt()
        let queue = StartupQueue(width: 1)
        try queue.register([
            StartupTask("a") {
                42
            } handBack: { value, receipt in
                receipts.add("\(value)")
                held.hold(receipt)
                given.open()
            },
            StartupTask("after", after: ["a"]) { record.add("after") },
            StartupTask("other") { record.add("other") },
            StartupTask("last", priority: .low) { record.add("last") },
        ])
        try queue.admit(.low)
        await given.wait()
        #expect(queue.report().outcome("a") == nil)
        let lastRan = Door()
        try queue.register(
            StartupTask("door", priority: .low, after: ["last"]) { lastRan.open() })
        await lastRan.wait()
        #expect(record.all == ["other", "last"])
        held.take()?.done()
        await queue.done(.low)
        #expect(receipts.all == ["42"])
        #expect(record.all == ["other", "last", "after"])
        #expect(queue.report().outcome("a") == .succeeded)
    }

    @Test("a result that cannot be taken fails its task; one that was never taken, too")
    func refused() async throws {
        let queue = StartupQueue(width: 1)
        try queue.register([
            StartupTask("refused") {
                1
            } handBack: { _, receipt in
                receipt.fail(Boom())
                receipt.done()
            },
            StartupTask("forgotten") {
                await Task.yield()
                return 1
            } handBack: { _, _ in
            },
            StartupTask("thrown") { () throws -> Int in
                throw Boom()
            } handBack: { _, receipt in
                receipt.done()
            },
        ])
        let report = try await queue.run()
        #expect(report.outcome("refused") == .failed("boom"))
        #expect(report.outcome("forgotten") == .failed("its result was never taken"))
        #expect(report.outcome("thrown") == .failed("boom"))
    }

    // MARK: Stopping

    @Test("stop skips what has not begun, cancels what can be, and takes nothing more")
    func stop() async throws {
        let record = Record()
        let (began, gate) = (Door(), Door())
        let queue = StartupQueue(
            width: 2, onRequiredFailure: { task, _ in record.add("failed: \(task)") })
        try queue.register([
            StartupTask("asynchronous", priority: .high) {
                await withTaskCancellationHandler {
                    began.open()
                    await gate.wait()
                } onCancel: {
                    gate.open()
                }
                record.add("cancelled: \(Task.isCancelled)")
            },
            StartupTask("waiting", after: ["asynchronous"], required: true) {},
            StartupTask("low", priority: .low) {},
        ])
        try queue.admit(.default)
        await began.wait()
        queue.stop()
        queue.stop()
        await queue.done(.low)
        #expect(record.all == ["cancelled: true"])
        let report = queue.report()
        #expect(report.outcome("asynchronous") == .succeeded)
        #expect(report.outcome("waiting") == .skipped(.stopped))
        #expect(report.outcome("low")?.description == "skipped: the queue was stopped")
        #expect(throws: StartupError(diagnostics: [.closed("new")])) {
            try queue.register(StartupTask("new") {})
        }
    }

    @Test("a queue that is stopped before its start runs nothing")
    func stopFirst() async throws {
        let queue = StartupQueue()
        try queue.register(StartupTask("a", after: ["nowhere"]) {})
        queue.stop()
        #expect(try await queue.run().outcome("a") == .skipped(.stopped))
    }

    @Test("cancelling run stops the queue")
    func cancelRun() async throws {
        let (began, gate) = (Door(), Door())
        let queue = StartupQueue(width: 1)
        try queue.register([
            .blocking("a", priority: .high, began, until: gate),
            StartupTask("b") {},
        ])
        let run = Task { try await queue.run() }
        await began.wait()
        run.cancel()
        gate.open()
        let report = try await run.value
        #expect(report.outcome("a") == .succeeded)
        #expect(report.outcome("b") == .skipped(.stopped))
    }

    /// An object that a task's closure captures and that reports its release.
    private final class Captured: Sendable {
        private let onRelease: @Sendable () -> Void

        init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

        deinit { onRelease() }
    }

    /// Registers a task that fails, and one that is skipped then, with what their closures capture.
    private func register(_ failing: Captured, _ skipped: Captured, in queue: StartupQueue) throws {
        try queue.register([
            StartupTask("a") {
                _ = failing
                throw Boom()
            },
            StartupTask("b", after: ["a"]) { _ = skipped },
        ])
    }

    @Test("a closure is released when its task has ended, or will not run")
    func releases() async throws {
        let (ran, skipped) = (Door(), Door())
        let queue = StartupQueue(width: 1)
        try register(Captured { ran.open() }, Captured { skipped.open() }, in: queue)
        _ = try await queue.run()
        // The queue is still there, and has released both.
        await ran.wait()
        await skipped.wait()
        #expect(queue.report().tasks.count == 2)
    }

    @Test("the release of a skipped task's closure may call the queue")
    func releasesUnlocked() async throws {
        let (record, released) = (Record(), Door())
        let queue = StartupQueue(width: 1)
        let onRelease: @Sendable () -> Void = { [weak queue] in
            record.add("\(queue?.report().tasks.count ?? 0) tasks")
            released.open()
        }
        try register(Captured {}, Captured(onRelease: onRelease), in: queue)
        _ = try await queue.run()
        await released.wait()
        #expect(record.all == ["2 tasks"])
    }

    @Test("no worker and no caller waits for the release of a skipped task's closure")
    func releasesSlowly() async throws {
        let (gate, released) = (Door(), Door())
        let queue = StartupQueue(width: 1)
        let onRelease: @Sendable () -> Void = {
            gate.block()
            released.open()
        }
        try register(Captured {}, Captured(onRelease: onRelease), in: queue)
        try queue.register(StartupTask("c") {})
        let report = try await queue.run()
        #expect(report.outcome("b")?.description.hasPrefix("skipped") == true)
        #expect(report.outcome("c") == .succeeded)
        gate.open()
        await released.wait()
    }

    @Test(
        "a skipped task's closure is released neither on the thread that calls stop nor on that of alarms",
        arguments: [false, true])
    func releasesElsewhere(stops: Bool) async throws {
        let time = ManualTimeSource()
        let (began, gate, released) = (Door(), Door(), Door())
        let caller = Atomic<pthread_t>(0)
        let isReleasedByCaller = Atomic(false)
        let onRelease: @Sendable () -> Void = {
            let isCaller = caller.load(ordering: .relaxed) == pthread_self()
            isReleasedByCaller.store(isCaller, ordering: .relaxed)
            released.open()
        }
        let queue = StartupQueue(width: 1, deadline: .seconds(1), time: time)
        try queue.register([
            .blocking("slow", began, until: gate),
            StartupTask("after", after: ["slow"]) {
                [captured = Captured(onRelease: onRelease)] in _ = captured
            },
        ])
        try queue.admit(.low)
        await began.wait()
        caller.store(pthread_self(), ordering: .relaxed)
        // The manual clock runs its alarms on this thread.
        if stops { queue.stop() } else { time.advance(by: .seconds(1)) }
        await released.wait()
        let wasCaller = isReleasedByCaller.load(ordering: .relaxed)
        #expect(!wasCaller)
        gate.open()
    }
}
