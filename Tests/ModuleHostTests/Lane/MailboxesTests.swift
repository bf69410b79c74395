import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// The account of overdue modules by itself, in the orders that threads rarely take.
@Suite("Account of late modules")
struct MailboxesTests {
    private final class Job: LaneJob {
        let event: LifecycleEvent?

        init(event: LifecycleEvent?) { self.event = event }

        func run(on thread: LaneThread, after slot: UInt16) {}
    }

    private let slots = (1...3).map {
        ModuleSlot(number: UInt16($0), id: nil, limits: ModuleSlot.Limits(backlog: 3))
    }
    private let threads = (0..<2).map { _ in LaneThread(at: Ownership(bits: 0)) }
    private var mailboxes = Mailboxes()
    /// What stands in the inbox, and what was noted of modules that have not received it.
    private var inbox: [InboxEntry] = []
    private let notes = LockedList<String>()

    /// Accepts an event and returns the job that delivers it.
    ///
    /// - Parameter reached: The modules that the delivery reaches, where they are overdue by then.
    private mutating func job(
        _ event: LifecycleEvent = .state(.memoryWarning, origin: .host),
        to reached: [ModuleSlot]? = nil
    ) -> Job {
        var event = event
        mailboxes.accept(&event)
        reach(reached ?? slots, event)
        return Job(event: event)
    }

    private mutating func reach(_ slots: [ModuleSlot], _ event: LifecycleEvent?) {
        guard let event else { return }
        for slot in slots where event.isFor(slot.id) { mailboxes.put(event, for: slot) }
    }

    /// Takes the lane from a thread; the job goes on behind its outermost module.
    private mutating func takeOver(
        _ stack: [ModuleSlot], of thread: LaneThread, job: (any LaneJob)?
    ) {
        mailboxes.add(stack, of: thread, job: job)
        if let first = stack.first { reach(slots.filter { $0.rank > first.rank }, job?.event) }
    }

    private func durable(_ entry: InboxEntry) -> LifecycleEvent {
        LifecycleEvent.state(.memoryWarning, origin: .inbox).standing(at: entry)
    }

    private mutating func nextEntry(only: Set<ModuleID>? = nil) -> InboxEntry {
        let number = UInt32(inbox.count)
        let entry = InboxEntry(
            position: EventPosition(segment: 1, offset: number * 100),
            end: EventPosition(segment: 1, offset: number * 100 + 100), only: only)
        inbox.append(entry)
        return entry
    }

    /// Accepts a durable event and returns the job that delivers it.
    private mutating func durableJob(only: Set<ModuleID>? = nil) -> Job {
        job(durable(nextEntry(only: only)))
    }

    private mutating func takeNotes() {
        mailboxes.note = { [notes] slot, events in
            let isBegun = events?.isBegun == true
            notes.append(
                "\(slot.number) \(events?.first.description ?? "level")\(isBegun ? " begun" : "")")
        }
    }

    /// What a module does until it is overdue no more, on a thread.
    private mutating func steps(of slot: ModuleSlot, on thread: LaneThread) -> [String] {
        var steps: [String] = []
        while let step = mailboxes.next(for: slot, on: thread) {
            switch step {
            case .event(let event): steps.append("\(event.sequence)")
            case .deferred(let work): work.run()
            case .dropped(let work): work.abandon()
            case .open: steps.append("open")
            case .read(let place):
                let entry = inbox.first { $0.position >= place }
                let event = entry.map { durable($0) }
                let isWanted =
                    mailboxes.take(entry, event, for: slot, on: thread) != nil
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
        takeOver([slots[0]], of: threads[0], job: job())
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
        let next = job()
        takeOver([slots[0]], of: threads[1], job: next)
        _ = job()
        expect(slots[0], on: threads[0], [])
        expect(slots[0], on: threads[1], ["2", "rejoined, 0 missed"])
        #expect(mailboxes.entries.isEmpty && mailboxes.memory.bytes == 0)
    }

    @Test("a thread whose modules are unresponsive no more counts until it has said so")
    func stalled() throws {
        var stalled = StalledThreads()
        stalled.add(threads[1], in: [])
        #expect(!stalled.contains())
        stalled.add(threads[0], in: [slots[0]])
        #expect(stalled.contains() && !stalled.contains(besides: [slots[0]]))
        stalled.end(try #require(stalled.stalled(of: threads[0])))
        #expect(!stalled.contains())
    }

    @Test("the notified module is past the current event, one that it called is not")
    mutating func positions() {
        takeOver([slots[0], slots[2]], of: threads[0], job: job())
        #expect(mailboxes.overdueSlots.map(\.number) == [1, 3])
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
        expect(slots[2], on: threads[0], ["0", "rejoined, 0 missed"])
    }

    @Test("a module that received the current event on its own thread does not receive it again")
    mutating func receivedBefore() {
        takeOver([slots[2]], of: threads[0], job: nil)
        let current = job()
        expect(slots[2], on: threads[0], ["0", "rejoined, 0 missed"])
        #expect(mailboxes.told(slots[2]) == 1)
        // Called by the first in the same event, and late again.
        takeOver([slots[0], slots[2]], of: threads[1], job: current)
        expect(slots[2], on: threads[1], ["rejoined, 0 missed"])
    }

    @Test("misses what is beyond its backlog, the oldest first")
    mutating func backlog() {
        takeOver([slots[0]], of: threads[0], job: job())
        #expect(mailboxes.behind(slots[0]) == 0)
        for _ in 0..<2 { _ = job() }
        #expect(mailboxes.behind(slots[0]) == 2)
        for _ in 0..<3 { _ = job() }
        #expect(mailboxes[slots[0]]?.mail.countInMemory == 3)
        // What it misses does not wait for it.
        #expect(mailboxes.behind(slots[0]) == 3)
        #expect(mailboxes.behind(slots[1]) == nil)
        expect(slots[0], on: threads[0], ["3", "4", "5", "rejoined, 2 missed"])
    }

    @Test("misses what takes more memory than it may be behind, the oldest first")
    mutating func backlogInBytes() throws {
        let slot = ModuleSlot(number: 1, id: nil, limits: ModuleSlot.Limits(backlog: 1000))
        mailboxes.add([slot], of: threads[0], job: job())
        let payload = try JSONValue(parsing: "\"\(line(ofLength: 5 << 20))\"")
        for _ in 0..<5 {
            let event = try LifecycleEvent.message(topic: "t", payload: payload, origin: .host)
            _ = job(event, to: [slot])
        }
        #expect(mailboxes.behind(slot) == 3)
        _ = job(to: [slot])
        expect(slot, on: threads[0], ["3", "4", "5", "6", "rejoined, 2 missed"])
    }

    @Test(
        "what waits for all takes no more than its share of memory, and what waits for several counts once"
    )
    mutating func memory() throws {
        let all = (1...12).map {
            ModuleSlot(number: UInt16($0), id: nil, limits: ModuleSlot.Limits(backlog: 1000))
        }
        for slot in all { mailboxes.add([slot], of: LaneThread(at: Ownership(bits: 0)), job: nil) }
        let payload = try JSONValue(parsing: "\"\(line(ofLength: 4 << 20))\"")
        let event = try LifecycleEvent.message(topic: "t", payload: payload, origin: .host)
        for _ in 0..<2 { _ = job(event, to: all) }
        #expect(mailboxes.memory.bytes < 9 << 20)
        for slot in all { for _ in 0..<3 { _ = job(event, to: [slot]) } }
        // Each has the newest of its events all the same.
        #expect(mailboxes.memory.bytes < Mailbox.Limit.allBytes + all.count * 4 << 20)
        #expect(all.allSatisfy { mailboxes.behind($0) ?? 0 >= 1 })
        for slot in all { mailboxes.noteGone(slot) }
        _ = job()
        #expect(mailboxes.memory.bytes == 0)
    }

    @Test("a module that alone received an event has that as its current event")
    mutating func directed() {
        let event = LifecycleEvent.state(.activate, origin: .host)
        let work = LaneWork(currentEvent: event) { _ in }
        takeOver([slots[0]], of: threads[0], job: work)
        #expect(mailboxes[slots[0]]?.mail.event?.kind == .activate)
        // It is not one that others receive.
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
    }

    @Test("what was to be done with one that is gone is called off")
    mutating func gone() {
        var calls: [String] = []
        takeOver([slots[0]], of: threads[0], job: job())
        let isDeferred = slots.map { mailboxes.defer(for: $0, DeferredWork {}) }
        #expect(isDeferred == [true, false, false])
        slots[0].status.store(.unlisted, ordering: .relaxed)
        while let step = mailboxes.next(for: slots[0], on: threads[0]) {
            if case .dropped = step { calls.append("dropped") } else { calls.append("else") }
        }
        #expect(calls == ["dropped"])
        #expect(mailboxes.entries.isEmpty)
    }

    @Test("a search that ended before it is none of its events")
    mutating func search() throws {
        takeOver([slots[1]], of: threads[0], job: job())
        let claimed = try job(LifecycleEvent.openURL("a:b", origin: .host), to: [slots[0]])
        mailboxes.endDelivery(of: try #require(claimed.event))
        _ = job()
        expect(slots[1], on: threads[0], ["2", "rejoined, 0 missed"])
    }

    // MARK: Durable events

    @Test("durable events beyond the backlog are read again, in order with those in memory")
    mutating func addToInboxBacklog() {
        takeNotes()
        takeOver([slots[0]], of: threads[0], job: durableJob())
        for _ in 0..<2 {
            _ = durableJob()
            _ = job()
        }
        for _ in 0..<3 { _ = durableJob() }
        // Seven are behind the current one: three in memory; of the four before them two were durable.
        #expect(mailboxes[slots[0]]?.mail.countInMemory == 3)
        #expect(mailboxes.behind(slots[0]) == 5)
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
        takeOver([slots[1], slots[0], slots[2]], of: threads[0], job: durableJob())
        #expect(notes.values == ["2 1:0 begun", "1 level", "3 level", "3 1:0"])
        expect(slots[2], on: threads[0], ["0", "rejoined, 0 missed"])
        expect(slots[0], on: threads[0], ["rejoined, 0 missed"])
        #expect(
            mailboxes.undelivered.map { "\($0.slot.number) \($0.position)" } == ["2 1:0"])
    }

    @Test("a durable event that another module claimed is not delivered when it is read again")
    mutating func claimedAndSpilled() throws {
        takeOver([slots[1]], of: threads[0], job: durableJob())
        _ = durableJob()
        let claimed = InboxEntry(
            position: EventPosition(segment: 1, offset: 200),
            end: EventPosition(segment: 1, offset: 300))
        inbox.append(claimed)
        let url = try LifecycleEvent.openURL("a:b", origin: .inbox).standing(at: claimed)
        mailboxes.endDelivery(of: try #require(job(url, to: [slots[0]]).event))
        for _ in 0..<4 { _ = durableJob() }
        expect(
            slots[1], on: threads[0],
            ["1:100", "not 1:200", "1:300", "4", "5", "6", "rejoined, 0 missed"])
    }

    @Test("an event for some modules only is not delivered to another that is overdue")
    mutating func onlyForSome() throws {
        takeOver([slots[0]], of: threads[0], job: durableJob())
        _ = durableJob(only: [try ModuleID("com.mm.other")])
        _ = durableJob()
        expect(slots[0], on: threads[0], ["2", "rejoined, 0 missed"])
    }

    @Test("what can no longer be read is dropped, and the rest is delivered")
    mutating func nothingToRead() {
        takeOver([slots[0]], of: threads[0], job: durableJob())
        for _ in 0..<5 { _ = durableJob() }
        inbox = []
        expect(slots[0], on: threads[0], ["not nothing", "3", "4", "5", "rejoined, 0 missed"])
    }

    @Test("what is dropped while it is read is not delivered as well")
    mutating func givenUpWhileRead() {
        takeOver([slots[0]], of: threads[0], job: durableJob())
        for _ in 0..<8 { _ = durableJob() }
        let step = mailboxes.next(for: slots[0], on: threads[0])
        guard case .read(let place)? = step, place == inbox[1].position,
            let drop = mailboxes.drop(
                before: EventPosition(segment: 1, offset: 350), by: slots[0])
        else { return #expect(Bool(false), "there is nothing to read, or to give up") }
        let wanted = mailboxes.take(
            inbox[1], durable(inbox[1]), for: slots[0], on: threads[0])
        #expect(wanted == nil)
        mailboxes.settle(drop, dropped: 3)
        expect(
            slots[0], on: threads[0], ["1:400", "1:500", "6", "7", "8", "rejoined, 3 missed"])
    }

    @Test("what is in memory can be dropped as well, and all else stays")
    mutating func droppedFromMemory() throws {
        takeOver([slots[0]], of: threads[0], job: job())
        _ = job()
        for _ in 0..<2 { _ = durableJob() }
        let dropped = mailboxes.drop(
            before: EventPosition(segment: 1, offset: 100), by: slots[0])
        let range = try #require(dropped)
        #expect(range.places == inbox[0].position..<inbox[0].end)
        mailboxes.settle(range, dropped: 1)
        expect(slots[0], on: threads[0], ["1", "3", "rejoined, 1 missed"])
    }

    @Test("who is gone is behind on nothing at once, though its thread has not returned")
    mutating func goneBeforeReturn() {
        takeNotes()
        for slot in slots.prefix(2) {
            takeOver([slot], of: threads[0], job: durableJob())
        }
        for _ in 0..<5 { _ = durableJob() }
        #expect(mailboxes.drop(before: EventPosition(segment: 1, offset: 250), by: slots[0]) != nil)
        slots[0].status.store(.unlisted, ordering: .relaxed)
        mailboxes.noteGone(slots[0])
        #expect(notes.values.last == "1 level")
        #expect(mailboxes.undelivered.map(\.slot.number) == [2])
        mailboxes.noteGone(slots[2])
        slots[1].status.store(.unlisted, ordering: .relaxed)
        mailboxes.noteGone(slots[1])
        #expect(mailboxes.undelivered.isEmpty)
        #expect(mailboxes.entries.allSatisfy { $0.value.mail.count == 0 })
    }

    @Test("a removed module has nothing undelivered")
    mutating func goneWithDurable() {
        takeNotes()
        takeOver([slots[0]], of: threads[0], job: durableJob())
        _ = durableJob()
        slots[0].status.store(.unlisted, ordering: .relaxed)
        expect(slots[0], on: threads[0], [])
        #expect(notes.values == ["1 1:0 begun", "1 level"])
    }
}
