import Synchronization
import TestSupport
import Testing

@testable import ModuleHost

/// The account of late modules by itself, in the orders that threads rarely take.
@Suite("Account of late modules")
struct LateModulesTests {
    private struct Job: LaneJob {
        let event: LifecycleEvent?
        func run(on thread: LaneThread, after cell: UInt16) {}
    }

    private let cells = (1...3).map {
        Cell(number: UInt16($0), id: nil, terms: Cell.Terms(backlog: 3))
    }
    private let threads = (0..<2).map { _ in LaneThread(mine: Ownership(bits: 0)) }
    private var log = EventLog()
    private var late = LateModules()
    /// What stands in the inbox, and what was noted of who has not heard it.
    private var inbox: [InboxEntry] = []
    private let notes = LockedList<String>()

    /// Accepts an event and returns the job that delivers it.
    private mutating func job() -> Job {
        var event = LifecycleEvent.state(.memoryWarning, origin: .host)
        log.append(&event, keeping: !late.isEmpty)
        late.enforceBacklogs(log: &log)
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
        log.append(&event, keeping: !late.isEmpty)
        late.enforceBacklogs(log: &log)
        late.noteAccepted(log: log)
        return Job(event: event)
    }

    private mutating func takeNotes() {
        late.note = { [notes] cell, position, isBegun in
            notes.append(
                "\(cell.number) \(position?.description ?? "level")\(isBegun ? " begun" : "")")
        }
    }

    /// What a module does until it is late no more, on a thread.
    private mutating func steps(of cell: Cell, on thread: LaneThread) -> [String] {
        var steps: [String] = []
        while let step = late.next(for: cell, on: thread, log: &log) {
            switch step {
            case .event(let event): steps.append("\(event.sequence)")
            case .deferred(let work): work.run()
            case .dropped(let work): work.abandon()
            case .inHand: return steps + ["in hand"]
            case .read(let place):
                let entry = inbox.first { $0.position >= place }
                let event = entry.map { durable($0) }
                let isWanted = late.take(entry, event, for: cell, on: thread, log: log)
                steps.append("\(isWanted ? "" : "not ")\(entry?.position.description ?? "nothing")")
            case .rejoined(let missed): steps.append("rejoined, \(missed) missed")
            }
        }
        return steps
    }

    private mutating func expect(
        _ cell: Cell, on thread: LaneThread, _ expected: [String],
        at location: SourceLocation = #_sourceLocation
    ) {
        let steps = steps(of: cell, on: thread)
        #expect(steps == expected, sourceLocation: location)
    }

    @Test("one that is late again on another thread is nothing to the first")
    mutating func lateAgain() {
        late.add([cells[0]], of: threads[0], job: job(), log: &log)
        expect(cells[0], on: threads[0], ["rejoined, 0 missed"])
        let next = job()
        late.add([cells[0]], of: threads[1], job: next, log: &log)
        _ = job()
        expect(cells[0], on: threads[0], [])
        expect(cells[0], on: threads[1], ["2", "rejoined, 0 missed"])
        #expect(late.isEmpty && log.count == 0)
    }

    @Test("a thread whose modules are late no more counts until it has said so")
    mutating func stays() throws {
        late.add([], of: threads[1], job: job(), log: &log)
        #expect(!late.hasStays())
        late.add([cells[0]], of: threads[0], job: job(), log: &log)
        expect(cells[0], on: threads[0], ["rejoined, 0 missed"])
        #expect(late.isEmpty && late.hasStays())
        late.end(try #require(late.stay(of: threads[0])))
        #expect(!late.hasStays())
    }

    @Test("the one told is past the event in hand, one that it called is not")
    mutating func positions() {
        late.add([cells[0], cells[2]], of: threads[0], job: job(), log: &log)
        #expect(late.cells.map(\.number) == [1, 3])
        expect(cells[0], on: threads[0], ["rejoined, 0 missed"])
        expect(cells[2], on: threads[0], ["0", "rejoined, 0 missed"])
    }

    @Test("one that heard the event in hand on its own thread does not hear it once more")
    mutating func heardBefore() {
        late.add([cells[2]], of: threads[0], job: nil, log: &log)
        let inHand = job()
        expect(cells[2], on: threads[0], ["0", "rejoined, 0 missed"])
        #expect(late.heard(by: cells[2]) == 1)
        // Called by the first in the same event, and late again.
        late.add([cells[0], cells[2]], of: threads[1], job: inHand, log: &log)
        expect(cells[2], on: threads[1], ["rejoined, 0 missed"])
    }

    @Test("misses what is beyond its backlog, the oldest first")
    mutating func backlog() {
        late.add([cells[0]], of: threads[0], job: job(), log: &log)
        #expect(late.behind(cells[0], log: log) == 0)
        for _ in 0..<2 { _ = job() }
        #expect(late.behind(cells[0], log: log) == 2)
        for _ in 0..<3 { _ = job() }
        #expect(log.count == 3)
        // What it misses does not wait for it.
        #expect(late.behind(cells[0], log: log) == 3)
        #expect(late.behind(cells[1], log: log) == nil)
        expect(cells[0], on: threads[0], ["3", "4", "5", "rejoined, 2 missed"])
    }

    @Test("misses what takes more memory than it may be behind, the oldest first")
    mutating func backlogInBytes() throws {
        let cell = Cell(number: 1, id: nil, terms: Cell.Terms(backlog: 1000))
        late.add([cell], of: threads[0], job: job(), log: &log)
        let payload = try JSONValue(parsing: "\"\(line(ofLength: 5 << 20))\"")
        for _ in 0..<5 {
            var event = try LifecycleEvent.message(topic: "t", payload: payload, origin: .host)
            log.append(&event, keeping: true)
            late.enforceBacklogs(log: &log)
        }
        #expect(late.behind(cell, log: log) == 3)
        #expect(log.count == 3)
        _ = job()
        expect(cell, on: threads[0], ["3", "4", "5", "6", "rejoined, 2 missed"])
    }

    @Test("one that was told of an event alone has that in hand")
    mutating func directed() {
        let event = LifecycleEvent.state(.activate, origin: .host)
        let work = LaneWork(eventInHand: event) { _ in }
        late.add([cells[0]], of: threads[0], job: work, log: &log)
        #expect(late.eventInHand(of: cells[0])?.kind == .activate)
        // It is not one that others hear.
        expect(cells[0], on: threads[0], ["rejoined, 0 missed"])
    }

    @Test("what was to be done with one that is gone is called off")
    mutating func gone() {
        var calls: [String] = []
        late.add([cells[0]], of: threads[0], job: job(), log: &log)
        let isDeferred = cells.map { late.defer(for: $0, LateModules.Work {}) }
        #expect(isDeferred == [true, false, false])
        cells[0].status.store(.unlisted, ordering: .relaxed)
        while let step = late.next(for: cells[0], on: threads[0], log: &log) {
            if case .dropped = step { calls.append("dropped") } else { calls.append("else") }
        }
        #expect(calls == ["dropped"])
        #expect(late.isEmpty)
    }

    @Test("waits where the search for who claims an event goes on, and skips what ended before it")
    mutating func search() throws {
        late.add([cells[1]], of: threads[0], job: job(), log: &log)
        var claimed = try LifecycleEvent.openURL("a:b", origin: .host)
        log.append(&claimed, keeping: true)
        _ = job()
        expect(cells[1], on: threads[0], ["in hand"])
        log.endSearch(at: 1, before: [cells[1]])
        expect(cells[1], on: threads[0], ["2", "rejoined, 0 missed"])
    }

    // MARK: Durable events

    @Test("durable events beyond the backlog are read again, in order with those in memory")
    mutating func spill() {
        takeNotes()
        late.add([cells[0]], of: threads[0], job: durableJob(), log: &log)
        for _ in 0..<2 {
            _ = durableJob()
            _ = job()
        }
        for _ in 0..<3 { _ = durableJob() }
        // Seven are behind the one in hand: three in memory; of the four before them two were durable.
        #expect(log.count == 3)
        #expect(late.behind(cells[0], log: log) == 5)
        expect(
            cells[0], on: threads[0],
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
        late.add([cells[1], cells[0], cells[2]], of: threads[0], job: durableJob(), log: &log)
        #expect(notes.values == ["2 1:0 begun", "1 level", "3 1:0"])
        expect(cells[2], on: threads[0], ["0", "rejoined, 0 missed"])
        expect(cells[0], on: threads[0], ["rejoined, 0 missed"])
        #expect(late.unheard(log: log).map { "\($0.cell.number) \($0.position)" } == ["2 1:0"])
    }

    @Test("a durable event that another one claimed is not told when it is read again")
    mutating func claimedAndSpilled() throws {
        late.add([cells[1]], of: threads[0], job: durableJob(), log: &log)
        _ = durableJob()
        let claimed = InboxEntry(
            position: EventPosition(segment: 1, offset: 200),
            end: EventPosition(segment: 1, offset: 300))
        inbox.append(claimed)
        var url = try LifecycleEvent.openURL("a:b", origin: .inbox).standing(at: claimed)
        log.append(&url, keeping: true)
        late.noteAccepted(log: log)
        log.endSearch(at: url.sequence, before: [cells[1]])
        for _ in 0..<4 { _ = durableJob() }
        expect(
            cells[1], on: threads[0],
            ["1:100", "not 1:200", "1:300", "4", "5", "6", "rejoined, 0 missed"])
    }

    @Test("an event for some modules only is not told to another that is late")
    mutating func onlyForSome() throws {
        late.add([cells[0]], of: threads[0], job: durableJob(), log: &log)
        _ = durableJob(only: [try ModuleID("com.mm.other")])
        _ = durableJob()
        expect(cells[0], on: threads[0], ["2", "rejoined, 0 missed"])
    }

    @Test("what can no longer be read is let go of, and the rest is told")
    mutating func nothingToRead() {
        late.add([cells[0]], of: threads[0], job: durableJob(), log: &log)
        for _ in 0..<5 { _ = durableJob() }
        inbox = []
        expect(cells[0], on: threads[0], ["not nothing", "3", "4", "5", "rejoined, 0 missed"])
    }

    @Test("what is given up while it is read is not heard as well")
    mutating func givenUpWhileRead() {
        late.add([cells[0]], of: threads[0], job: durableJob(), log: &log)
        for _ in 0..<8 { _ = durableJob() }
        let step = late.next(for: cells[0], on: threads[0], log: &log)
        guard case .read(let place)? = step, place == inbox[1].position,
            let forfeit = late.forfeit(
                before: EventPosition(segment: 1, offset: 350), by: cells[0])
        else { return #expect(Bool(false), "there is nothing to read, or to give up") }
        let isWanted = late.take(
            inbox[1], durable(inbox[1]), for: cells[0], on: threads[0], log: log)
        #expect(!isWanted)
        late.settle(forfeit, dropped: 3, log: log)
        expect(
            cells[0], on: threads[0], ["1:400", "1:500", "6", "7", "8", "rejoined, 3 missed"])
    }

    @Test("who is gone is behind on nothing at once, though its thread has not returned")
    mutating func goneBeforeReturn() {
        takeNotes()
        for cell in cells.prefix(2) {
            late.add([cell], of: threads[0], job: durableJob(), log: &log)
        }
        for _ in 0..<5 { _ = durableJob() }
        #expect(late.forfeit(before: EventPosition(segment: 1, offset: 250), by: cells[0]) != nil)
        cells[0].status.store(.unlisted, ordering: .relaxed)
        late.noteGone(cells[0], log: &log)
        #expect(notes.values.last == "1 level")
        #expect(late.unheard(log: log).map(\.cell.number) == [2])
        late.noteGone(cells[2], log: &log)
        cells[1].status.store(.unlisted, ordering: .relaxed)
        late.noteGone(cells[1], log: &log)
        #expect(late.unheard(log: log).isEmpty)
        #expect(log.count == 0)
    }

    @Test("who is gone has nothing unheard")
    mutating func goneWithDurable() {
        takeNotes()
        late.add([cells[0]], of: threads[0], job: durableJob(), log: &log)
        _ = durableJob()
        cells[0].status.store(.unlisted, ordering: .relaxed)
        expect(cells[0], on: threads[0], [])
        #expect(notes.values == ["1 1:0 begun", "1 level"])
    }
}
