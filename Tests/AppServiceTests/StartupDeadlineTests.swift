import TestSupport
import Testing

@testable import AppService

@Suite("Start-up queue: deadlines")
struct StartupDeadlineTests {
    @Test("an overdue task frees its place, skips what runs after it, and its result is dropped")
    func overdue() async throws {
        let (record, time) = (Record(), ManualTimeSource())
        let (began, gate, otherRan, late) = (Door(), Door(), Door(), Door())
        let queue = StartupQueue(width: 1, deadline: .seconds(15), time: time) { event in
            guard case .endedLate(let task, let after) = event else { return }
            record.add("\(task) ended late, after \(after)")
            late.open()
        }
        try queue.register([
            StartupTask("slow", priority: .high, deadline: .seconds(2)) {
                began.open()
                gate.block()
                return 1
            } handBack: { _, receipt in
                record.add("handed back")
                receipt.done()
            },
            StartupTask("after", after: ["slow"]) {},
            StartupTask("other") { otherRan.open() },
        ])
        try queue.admit(.low)
        await began.wait()
        time.advance(by: .milliseconds(1999))
        #expect(queue.report().outcome("slow") == nil)
        time.advance(by: .milliseconds(1))
        #expect(queue.report().outcome("slow") == .overdue(.seconds(2)))
        #expect(
            queue.report().outcome("after")?.description
                == "skipped: it runs after 'slow', which was overdue after 2s")
        await otherRan.wait()
        await queue.done(.low)
        #expect(queue.report()["other"]?.worker == 2, "the thread of the overdue one stays with it")

        time.advance(by: .seconds(3))
        gate.open()
        await late.wait()
        #expect(record.all == ["slow ended late, after 5.0 seconds"])
        let slow = queue.report()["slow"]
        #expect(slow?.ended == .seconds(2))
        #expect(slow?.endedLate == .seconds(5))
        #expect(slow?.outcome == .overdue(.seconds(2)))
    }

    @Test("the width is kept while an overdue task still has its thread")
    func widthKept() async throws {
        let time = ManualTimeSource()
        let (began, gate) = (Door(), Door())
        let doors = [Door(), Door()]
        let late = Door()
        let queue = StartupQueue(width: 1, time: time) { event in
            if case .endedLate = event { late.open() }
        }
        let order = Record()
        try queue.register(
            .blocking("slow", deadline: .seconds(1), began, until: gate))
        try queue.admit(.low)
        await began.wait()
        for number in 0..<2 {
            try queue.register(
                StartupTask("\(number)") {
                    order.add("\(number) begins")
                    doors[number].block()
                    order.add("\(number) ends")
                })
        }
        time.advance(by: .seconds(1))
        for door in doors { door.open() }
        await queue.done(.low)
        #expect(order.all == ["0 begins", "0 ends", "1 begins", "1 ends"])
        // The thread that comes back late is one of the workers again: a second overdue task takes no third.
        gate.open()
        await late.wait()
        let (beganAgain, gateAgain) = (Door(), Door())
        defer { gateAgain.open() }
        try queue.register(
            .blocking("slow again", deadline: .seconds(1), beganAgain, until: gateAgain))
        await beganAgain.wait()
        time.advance(by: .seconds(1))
        try queue.register(StartupTask("last") {})
        await queue.done(.low)
        let workers = ["slow again", "last"].compactMap { queue.report()[$0]?.worker }
        #expect(workers.sorted() == [1, 2])
    }

    @Test("an overdue asynchronous task is cancelled")
    func cancelled() async throws {
        let (record, time) = (Record(), ManualTimeSource())
        let (began, gate, late) = (Door(), Door(), Door())
        let queue = StartupQueue(width: 1, deadline: .seconds(1), time: time) { event in
            if case .endedLate = event { late.open() }
        }
        try queue.register(
            StartupTask("slow") {
                await withTaskCancellationHandler {
                    began.open()
                    await gate.wait()
                    record.add("cancelled: \(Task.isCancelled)")
                } onCancel: {
                    gate.open()
                }
            })
        try queue.admit(.low)
        await began.wait()
        // What began may not have come back yet with the handle to cancel by; either way it is.
        time.advance(by: .seconds(1))
        await late.wait()
        #expect(record.all == ["cancelled: true"])
        #expect(queue.report().outcome("slow") == .overdue(.seconds(1)))
    }

    @Test("the deadline counts until the result is handed back; a late receipt is only noted")
    func handBack() async throws {
        let time = ManualTimeSource()
        let given = Door()
        let held = HeldReceipt()
        let queue = StartupQueue(width: 1, time: time)
        try queue.register([
            StartupTask("a", deadline: .seconds(1), required: true) {
                1
            } handBack: { _, receipt in
                held.hold(receipt)
                given.open()
            },
            StartupTask("b", after: ["a"]) {},
        ])
        try queue.admit(.low)
        await given.wait()
        time.advance(by: .seconds(1))
        await queue.done(.low)
        time.advance(by: .seconds(1))
        held.take()?.done()
        let report = queue.report()
        #expect(report.outcome("a") == .overdue(.seconds(1)))
        #expect(report["a"]?.endedLate == .seconds(2))
        #expect(
            report.outcome("b")
                == .skipped(
                    .dependency("a", root: "a", cause: "was overdue after 1s")))
    }

    @Test("a required task that is overdue is reported while it still runs")
    func required() async throws {
        let (record, time) = (Record(), ManualTimeSource())
        let (began, gate) = (Door(), Door())
        let queue = StartupQueue(
            width: 1, time: time,
            onRequiredFailure: { task, outcome, _ in record.add("\(task): \(outcome)") })
        try queue.register(
            .blocking("a", deadline: .seconds(1), required: true, began, until: gate))
        try queue.admit(.low)
        await began.wait()
        time.advance(by: .seconds(1))
        #expect(record.all == ["a: overdue after 1s"])
        gate.open()
        await queue.done(.low)
    }

    @Test("one alarm serves all tasks: set for the earliest, set anew, called off when all is done")
    func oneAlarm() async throws {
        let time = ManualTimeSource()
        let began = (0..<3).map { _ in Door() }
        let gates = (0..<3).map { _ in Door() }
        let queue = StartupQueue(width: 3, deadline: .seconds(10), time: time)
        let deadlines: [Duration?] = [nil, .seconds(20), .seconds(5)]
        #expect(time.pendingAlarms == 0)
        try queue.admit(.low)
        for (number, deadline) in deadlines.enumerated() {
            try queue.register(
                StartupTask("\(number)", deadline: deadline) {
                    began[number].open()
                    gates[number].block()
                })
            await began[number].wait()
            #expect(time.pendingAlarms == 1)
        }
        time.advance(by: .seconds(5))
        #expect(queue.report().tasks.map(\.outcome) == [nil, nil, .overdue(.seconds(5))])
        #expect(time.pendingAlarms == 1)
        time.advance(by: .seconds(5))
        #expect(queue.report().outcome("0") == .overdue(.seconds(10)))
        #expect(time.pendingAlarms == 1)
        gates[1].open()
        try queue.register(StartupTask("last", after: ["1"]) {})
        await queue.done(.low)
        #expect(time.pendingAlarms == 0)
        #expect(queue.report().outcome("1") == .succeeded)
        for gate in gates { gate.open() }
    }

    @Test("without a deadline no alarm is set")
    func noAlarm() async throws {
        let time = ManualTimeSource()
        let (began, gate) = (Door(), Door())
        let queue = StartupQueue(width: 1, time: time)
        try queue.register(
            .blocking("a", began, until: gate))
        try queue.admit(.low)
        await began.wait()
        #expect(time.pendingAlarms == 0)
        gate.open()
        await queue.done(.low)
    }
}
