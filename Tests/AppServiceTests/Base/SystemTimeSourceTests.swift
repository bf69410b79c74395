import TestSupport
import Testing

@testable import AppService

@Suite("The system's time source", .timeLimit(.minutes(10)))
struct SystemTimeSourceTests {
    @Test("one that has ended rings no more, and keeps nothing that its alarms hold")
    func ended() async {
        let time = SystemTimeSource()
        let released = Promise<Void>()
        final class Held: Sendable {
            let released: Promise<Void>
            init(_ released: Promise<Void>) { self.released = released }
            deinit { released.keep(()) }
        }
        do {
            let held = Held(released)
            time.schedule(after: .seconds(3600)) { withExtendedLifetime(held) {} }
        }
        #expect(!released.isKept)
        time.end()
        await released.value
        time.schedule(after: .zero) { Issue.record("it rings after its end") }
    }

    @Test(
        "alarms ring in the order of their instants, whatever the order in which they are scheduled"
    )
    func order() async {
        let time = SystemTimeSource()
        let rung = Guarded<[Int]>([])
        let last = Promise<Void>()
        for delay in [40, 10, 30, 20] {
            time.schedule(after: .milliseconds(delay)) {
                rung.withLock { $0.append(delay) }
                if delay == 40 { last.keep(()) }
            }
        }
        await last.value
        #expect(rung.withLock { $0 } == [10, 20, 30, 40])
    }

    @Test("an alarm that is scheduled from an alarm rings, and a cancelled one does not")
    func nested() async {
        let time = SystemTimeSource()
        let rung = Guarded<[String]>([])
        let last = Promise<Void>()
        time.schedule(after: .zero) {
            rung.withLock { $0.append("first") }
            // On the thread of the alarms: none rings before this returns, however slow the machine is.
            let cancelled = time.schedule(after: .zero) {
                rung.withLock { $0.append("cancelled") }
            }
            cancelled.cancel()
            time.schedule(after: .milliseconds(10)) {
                rung.withLock { $0.append("second") }
                last.keep(())
            }
        }
        await last.value
        #expect(rung.withLock { $0 } == ["first", "second"])
    }

    @Test("an alarm rings in its time, also where the thread sleeps for one that was cancelled")
    func afterCancelled() async {
        let time = SystemTimeSource()
        let rung = Promise<Void>()
        let asleep = Promise<Void>()
        time.schedule(after: .zero) { asleep.keep(()) }
        await asleep.value
        // The thread sleeps for an hour, then for 10 ms, and in the end for the last one.
        time.schedule(after: .seconds(3600)) {}.cancel()
        time.schedule(after: .milliseconds(10)) {}.cancel()
        let sooner = Promise<Void>()
        time.schedule(after: .milliseconds(50)) { rung.keep(()) }
        time.schedule(after: .milliseconds(5)) { sooner.keep(()) }
        await sooner.value
        await rung.value
    }

    @Test("cancelled alarms do not pile up, and the others keep their order")
    func cancelledDropped() {
        let time = SystemTimeSource()
        var list = AlarmList()
        var random = SeededGenerator(seed: 7)
        let start = ContinuousClock.now
        var kept: [(instant: ContinuousClock.Instant, alarm: SystemAlarm)] = []
        for index in 0..<10_000 {
            let instant = start + .milliseconds(Int.random(in: 0..<1000, using: &random))
            let alarm = SystemAlarm({}, of: time)
            list.add(alarm, at: instant)
            if index % 10 == 0 {
                kept.append((instant, alarm))
            } else {
                alarm.cancel()
                list.noteCancelled()
            }
            #expect(list.count <= 2 * kept.count + 40)
        }
        // Sorted with ties in the order in which they were scheduled.
        let expected = kept.enumerated().sorted {
            ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset)
        }
        #expect(list.popDue(at: start - .seconds(1)) == nil)
        for (_, entry) in expected {
            #expect(list.next() == entry.instant)
            #expect(list.popDue(at: start + .seconds(2)) === entry.alarm)
        }
        #expect(list.popDue(at: start + .seconds(2)) == nil)
    }
}
