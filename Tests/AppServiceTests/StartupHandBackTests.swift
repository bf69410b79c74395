import TestSupport
import Testing

@testable import AppService

/// An object that calls a closure when it is released.
private final class OnRelease: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    deinit { body() }
}

@Suite("Start-up queue: results that are handed back slowly")
struct StartupHandBackTests {
    private let time = ManualTimeSource()
    private let began = Door()
    private let gate = Door()

    /// A task whose result is handed back until the gate is open.
    private func slow(
        _ name: String, deadline: Duration? = nil, isUsedFirst: Bool = false
    ) -> StartupTask {
        StartupTask(name, priority: .high, deadline: deadline) {
            1
        } handBack: { [began, gate] _, receipt in
            if isUsedFirst { receipt.done() }
            began.open()
            gate.block()
            receipt.done()
        }
    }

    @Test(
        "one that does not return loses its place at the deadline; it fails the task unless the receipt was used",
        arguments: [false, true])
    func stuck(isUsedFirst: Bool) async throws {
        let queue = StartupQueue(width: 1, time: time)
        try queue.admit(.low)
        try queue.register(slow("slow", deadline: .seconds(1), isUsedFirst: isUsedFirst))
        await began.wait()
        try queue.register([StartupTask("next") {}, StartupTask("after", after: ["slow"]) {}])
        time.advance(by: .milliseconds(999))
        #expect(queue.report()["next"]?.started == nil)
        time.advance(by: .milliseconds(1))
        await queue.done(.low)
        let report = queue.report()
        #expect(report.outcome("next") == .succeeded)
        #expect(report["next"]?.worker == 2)
        #expect(report.outcome("slow") == (isUsedFirst ? .succeeded : .overdue(.seconds(1))))
        #expect((report.outcome("after") == .succeeded) == isUsedFirst)
        gate.open()
    }

    @Test("the time of the next task begins when its work does, not before")
    func next() async throws {
        let queue = StartupQueue(width: 1, time: time)
        try queue.register([
            slow("slow"), StartupTask("next", deadline: .seconds(1)) {},
            StartupTask("after", after: ["next"]) {},
        ])
        try queue.admit(.low)
        await began.wait()
        time.advance(by: .seconds(5))
        gate.open()
        await queue.done(.low)
        let report = queue.report()
        #expect(report["next"]?.started == .seconds(5))
        #expect(report.tasks.map(\.outcome) == [.succeeded, .succeeded, .succeeded])
    }

    @Test("with two workers another task runs meanwhile")
    func beside() async throws {
        let queue = StartupQueue(width: 2, time: time)
        let ran = Door()
        try queue.register([slow("slow"), StartupTask("other") { ran.open() }])
        try queue.admit(.low)
        await began.wait()
        await ran.wait()
        gate.open()
        await queue.done(.low)
        #expect(queue.report().tasks.map(\.outcome) == [.succeeded, .succeeded])
    }

    @Test("the result of an overdue task is released where it may call the queue")
    func released() async throws {
        let released = Door()
        let queue = StartupQueue(width: 1, time: time)
        try queue.admit(.low)
        try queue.register(
            StartupTask("slow", deadline: .seconds(1)) { [began, gate] in
                began.open()
                gate.block()
                return OnRelease { [weak queue] in
                    _ = queue?.report()
                    released.open()
                }
            } handBack: { _, receipt in
                receipt.done()
            })
        await began.wait()
        time.advance(by: .seconds(1))
        gate.open()
        await released.wait()
        #expect(queue.report().outcome("slow") == .overdue(.seconds(1)))
    }

    @Test("an overdue task that heeds its cancellation ends late after it was reported as overdue")
    func order() async throws {
        let (record, all) = (Record(), Door())
        let queue = StartupQueue(width: 2, time: time) { event in
            switch event {
            case .started: break
            case .ended(let task, _, _): record.add("\(task) ended")
            case .endedLate(let task, _): record.add("\(task) ended late")
            }
            if record.all.count == 200 { all.open() }
        }
        try queue.admit(.low)
        for number in 0..<100 {
            let (began, cancelled) = (Door(), Door())
            try queue.register(
                StartupTask("\(number)", deadline: .seconds(1)) {
                    await withTaskCancellationHandler {
                        began.open()
                        await cancelled.wait()
                    } onCancel: {
                        cancelled.open()
                    }
                })
            await began.wait()
            time.advance(by: .seconds(1))
        }
        await all.wait()
        for number in 0..<100 {
            let lines = record.all.filter { $0.hasPrefix("\(number) ") }
            #expect(lines == ["\(number) ended", "\(number) ended late"])
        }
    }
}
