import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// The account of overdue modules by itself, in the orders that threads rarely take.
@Suite("Account of late modules")
struct OverdueModulesTests {
    private final class Job: LaneJob {
        let event: LifecycleEvent?

        init(event: LifecycleEvent?) { self.event = event }

        func run(on thread: LaneThread, after slot: UInt16) {}
    }

    private let slots = (1...3).map {
        ModuleSlot(number: UInt16($0), id: nil, limits: ModuleSlot.Limits(backlog: 3))
    }
    private let threads = (0..<2).map { _ in LaneThread(at: Ownership(bits: 0)) }
    private var log = EventLog()
    private var overdue = OverdueModules()
    /// What stands in the inbox, and what was noted of modules that have not received it.
    private var inbox: [InboxEntry] = []
    private let notes = LockedList<String>()

    /// Accepts an event and returns the job that delivers it.
    private mutating func job() -> Job {
        var event = LifecycleEvent.state(.memoryWarning, origin: .host)
        log.append(&event, keeping: !overdue.isEmpty)
        overdue.enforceBacklogs(log: &log)
        return Job(event: event)
    }

    private func durable(_ entry: InboxEntry) -> LifecycleEvent {
        LifecycleEvent.state(.memoryWarning, origin: .inbox).standing(at: entry)
    }

    /// Accepts a durable event and returns the job that delivers it.
    private mutating func durableJob(only: Set<ModuleID>? = nil) -> Job {
        let number = UInt32(inbox.count)
        let entry = InboxEntry(
            position: EventPosition(segment: 1, offset: number * 100),
            end: EventPosition(segment: 1, offset: number * 100 + 100), only: only)
        inbox.append(entry)
        var event = durable(entry)
        log.append(&event, keeping: !overdue.isEmpty)
        overdue.enforceBacklogs(log: &log)
        overdue.noteAccepted(log: log)
        return Job(event: event)
    }

    private mutating func takeNotes() {
        overdue.note = { [notes] slot, position, isBegun in
            notes.append(
                "\(slot.number) \(position?.description ?? "level")\(isBegun ? " begun" : "")")
        }
    }

    /// What a module does until it is overdue no more, on a thread.
    private mutating func steps(of slot: ModuleSlot, on thread: LaneThread) -> [String] {
        var steps: [String] = []
        while let step = overdue.next(for: slot, on: thread, log: &log) {
            switch step {
            case .event(let event): steps.append("\(event.sequence)")
            case .deferred(let work): work.run()
            case .dropped(let work): work.abandon()
            case .current: return steps + ["in hand"]
            case .open: steps.append("open")
            case .read(let place):
                let entry = inbox.first { $0.position >= place }
                let event = entry.map { durable($0) }
                let isWanted =
                    overdue.take(entry, event, for: slot, on: thread, log: log) != nil
                steps.append("\(isWanted ? "" : "not ")\(entry?.position.description ?? "nothing")")
            case .rejoined(let missed): steps.append("rejoined, \(missed) missed")
            }
        }
        return steps
    }

    private mutating func expect(
        _ slot: ModuleSlot, on thread: LaneThread, _ expected: [String],
        at location: SourceLocation = #_sourceLocation
    ) {
        let steps = steps(of: slot, on: thread)
        #expect(steps == expected, sourceLocation: location)
    }

    @Test("one that is late again on another thread is nothing to the first")
    mutating func lateAgain() {
        overdue.add([slots[0]], of: threads[0], job: job(), log: &log)
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
        let next = job()
        overdue.add([slots[0]], of: threads[1], job: next, log: &log)
        _ = job()
        expect(slots[0], on: threads[0], [])
        expect(slots[0], on: threads[1], ["2", "rejoined, 0 missed"])
        #expect(overdue.isEmpty && log.count == 0)
    }

    @Test("a thread whose modules are unresponsive no more counts until it has said so")
    mutating func stalled() throws {
        overdue.add([], of: threads[1], job: job(), log: &log)
        #expect(!overdue.hasStalledThreads())
        overdue.add([slots[0]], of: threads[0], job: job(), log: &log)
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
        #expect(overdue.isEmpty && overdue.hasStalledThreads())
        overdue.end(try #require(overdue.stalled(of: threads[0])))
        #expect(!overdue.hasStalledThreads())
    }

    @Test("the notified module is past the current event, one that it called is not")
    mutating func positions() {
        overdue.add([slots[0], slots[2]], of: threads[0], job: job(), log: &log)
        #expect(overdue.slots.map(\.number) == [1, 3])
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
        expect(slots[2], on: threads[0], ["0", "rejoined, 0 missed"])
    }

    @Test("a module that received the current event on its own thread does not receive it again")
    mutating func receivedBefore() {
        overdue.add([slots[2]], of: threads[0], job: nil, log: &log)
        let current = job()
        expect(slots[2], on: threads[0], ["0", "rejoined, 0 missed"])
        #expect(overdue.delivered(by: slots[2]) == 1)
        // Called by the first in the same event, and late again.
        overdue.add([slots[0], slots[2]], of: threads[1], job: current, log: &log)
        expect(slots[2], on: threads[1], ["rejoined, 0 missed"])
    }

    @Test("misses what is beyond its backlog, the oldest first")
    mutating func backlog() {
        overdue.add([slots[0]], of: threads[0], job: job(), log: &log)
        #expect(overdue.behind(slots[0], log: log) == 0)
        for _ in 0..<2 { _ = job() }
        #expect(overdue.behind(slots[0], log: log) == 2)
        for _ in 0..<3 { _ = job() }
        #expect(log.count == 3)
        // What it misses does not wait for it.
        #expect(overdue.behind(slots[0], log: log) == 3)
        #expect(overdue.behind(slots[1], log: log) == nil)
        expect(slots[0], on: threads[0], ["3", "4", "5", "rejoined, 2 missed"])
    }

    @Test("misses what takes more memory than it may be behind, the oldest first")
    mutating func backlogInBytes() throws {
        let slot = ModuleSlot(number: 1, id: nil, limits: ModuleSlot.Limits(backlog: 1000))
        overdue.add([slot], of: threads[0], job: job(), log: &log)
        let payload = try JSONValue(parsing: "\"\(line(ofLength: 5 << 20))\"")
        for _ in 0..<5 {
            var event = try LifecycleEvent.message(topic: "t", payload: payload, origin: .host)
            log.append(&event, keeping: true)
            overdue.enforceBacklogs(log: &log)
        }
        #expect(overdue.behind(slot, log: log) == 3)
        #expect(log.count == 3)
        _ = job()
        expect(slot, on: threads[0], ["3", "4", "5", "6", "rejoined, 2 missed"])
    }

    @Test("a module that alone received an event has that as its current event")
    mutating func directed() {
        let event = LifecycleEvent.state(.activate, origin: .host)
        let work = LaneWork(currentEvent: event) { _ in }
        overdue.add([slots[0]], of: threads[0], job: work, log: &log)
        #expect(overdue.currentEvent(of: slots[0])?.kind == .activate)
        // It is not one that others receive.
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
    }

    @Test("what was to be done with one that is gone is called off")
    mutating func gone() {
        var calls: [String] = []
        overdue.add([slots[0]], of: threads[0], job: job(), log: &log)
        let isDeferred = slots.map { overdue.defer(for: $0, OverdueModules.Work {}) }
        #expect(isDeferred == [true, false, false])
        slots[0].status.store(.unlisted, ordering: .relaxed)
        while let step = overdue.next(for: slots[0], on: threads[0], log: &log) {
            if case .dropped = step { calls.append("dropped") } else { calls.append("else") }
        }
        #expect(calls == ["dropped"])
        #expect(overdue.isEmpty)
    }

    @Test("waits where the search for who claims an event goes on, and skips what ended before it")
    mutating func search() throws {
        overdue.add([slots[1]], of: threads[0], job: job(), log: &log)
        var claimed = try LifecycleEvent.openURL("a:b", origin: .host)
        log.append(&claimed, keeping: true)
        _ = job()
        expect(slots[1], on: threads[0], ["in hand"])
        log.endSearch(at: 1, before: [slots[1]])
        expect(slots[1], on: threads[0], ["2", "rejoined, 0 missed"])
    }

    // MARK: Durable events

    @Test("durable events beyond the backlog are read again, in order with those in memory")
    mutating func addToInboxBacklog() {
        takeNotes()
        overdue.add([slots[0]], of: threads[0], job: durableJob(), log: &log)
        for _ in 0..<2 {
            _ = durableJob()
            _ = job()
        }
        for _ in 0..<3 { _ = durableJob() }
        // Seven are behind the current one: three in memory; of the four before them two were durable.
        #expect(log.count == 3)
        #expect(overdue.behind(slots[0], log: log) == 5)
        expect(
            slots[0], on: threads[0],
            ["1:100", "1:200", "5", "6", "7", "rejoined, 2 missed"])
        #expect(
            notes.values == [
                "1 1:0 begun", "1 1:100", "1 1:100 begun", "1 1:200", "1 1:200 begun",
                "1 1:300 begun", "1 1:400 begun", "1 1:500 begun", "1 level",
            ])
    }

    @Test("one that was merely called is behind from the durable event in hand, not begun for it")
    mutating func calledInDurable() {
        takeNotes()
        overdue.add([slots[1], slots[0], slots[2]], of: threads[0], job: durableJob(), log: &log)
        #expect(notes.values == ["2 1:0 begun", "1 level", "3 1:0"])
        expect(slots[2], on: threads[0], ["0", "rejoined, 0 missed"])
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
        #expect(
            overdue.undelivered(log: log).map { "\($0.slot.number) \($0.position)" } == ["2 1:0"])
    }

    @Test("a durable event that another module claimed is not delivered when it is read again")
    mutating func claimedAndSpilled() throws {
        overdue.add([slots[1]], of: threads[0], job: durableJob(), log: &log)
        _ = durableJob()
        let claimed = InboxEntry(
            position: EventPosition(segment: 1, offset: 200),
            end: EventPosition(segment: 1, offset: 300))
        inbox.append(claimed)
        var url = try LifecycleEvent.openURL("a:b", origin: .inbox).standing(at: claimed)
        log.append(&url, keeping: true)
        overdue.noteAccepted(log: log)
        log.endSearch(at: url.sequence, before: [slots[1]])
        for _ in 0..<4 { _ = durableJob() }
        expect(
            slots[1], on: threads[0],
            ["1:100", "not 1:200", "1:300", "4", "5", "6", "rejoined, 0 missed"])
    }

    @Test("an event for some modules only is not delivered to another that is overdue")
    mutating func onlyForSome() throws {
        overdue.add([slots[0]], of: threads[0], job: durableJob(), log: &log)
        _ = durableJob(only: [try ModuleID("com.mm.other")])
        _ = durableJob()
        expect(slots[0], on: threads[0], ["2", "rejoined, 0 missed"])
    }

    @Test("what can no longer be read is dropped, and the rest is delivered")
    mutating func nothingToRead() {
        overdue.add([slots[0]], of: threads[0], job: durableJob(), log: &log)
        for _ in 0..<5 { _ = durableJob() }
        inbox = []
        expect(slots[0], on: threads[0], ["not nothing", "3", "4", "5", "rejoined, 0 missed"])
    }

    @Test("what is dropped while it is read is not delivered as well")
    mutating func givenUpWhileRead() {
        overdue.add([slots[0]], of: threads[0], job: durableJob(), log: &log)
        for _ in 0..<8 { _ = durableJob() }
        let step = overdue.next(for: slots[0], on: threads[0], log: &log)
        guard case .read(let place)? = step, place == inbox[1].position,
            let drop = overdue.drop(
                before: EventPosition(segment: 1, offset: 350), by: slots[0])
        else { return #expect(Bool(false), "there is nothing to read, or to give up") }
        let wanted = overdue.take(
            inbox[1], durable(inbox[1]), for: slots[0], on: threads[0], log: log)
        #expect(wanted == nil)
        overdue.settle(drop, dropped: 3, log: log)
        expect(
            slots[0], on: threads[0], ["1:400", "1:500", "6", "7", "8", "rejoined, 3 missed"])
    }

    @Test("who is gone is behind on nothing at once, though its thread has not returned")
    mutating func goneBeforeReturn() {
        takeNotes()
        for slot in slots.prefix(2) {
            overdue.add([slot], of: threads[0], job: durableJob(), log: &log)
        }
        for _ in 0..<5 { _ = durableJob() }
        #expect(overdue.drop(before: EventPosition(segment: 1, offset: 250), by: slots[0]) != nil)
        slots[0].status.store(.unlisted, ordering: .relaxed)
        overdue.noteGone(slots[0], log: &log)
        #expect(notes.values.last == "1 level")
        #expect(overdue.undelivered(log: log).map(\.slot.number) == [2])
        overdue.noteGone(slots[2], log: &log)
        slots[1].status.store(.unlisted, ordering: .relaxed)
        overdue.noteGone(slots[1], log: &log)
        #expect(overdue.undelivered(log: log).isEmpty)
        #expect(log.count == 0)
    }

    @Test("a removed module has nothing undelivered")
    mutating func goneWithDurable() {
        takeNotes()
        overdue.add([slots[0]], of: threads[0], job: durableJob(), log: &log)
        _ = durableJob()
        slots[0].status.store(.unlisted, ordering: .relaxed)
        expect(slots[0], on: threads[0], [])
        #expect(notes.values == ["1 1:0 begun", "1 level"])
    }
}
