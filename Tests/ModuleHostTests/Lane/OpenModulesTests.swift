import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// The account of modules with an event that their process has yet to answer, by itself.
@Suite("Account of modules with an event to answer")
struct OpenModulesTests {
    private let slot = ModuleSlot(number: 1, id: nil, limits: ModuleSlot.Limits(backlog: 3))
    private let thread = LaneThread(at: Ownership(bits: 0))
    private var log = EventLog()
    private var overdue = OverdueModules()
    private let notes = LockedList<String>()
    /// The number of durable events.
    private var durable: UInt32 = 0

    init() {
        overdue.note = { [notes] slot, position, isBegun in
            notes.append((position?.description ?? "level") + (isBegun ? " begun" : ""))
        }
    }

    /// Accepts an event.
    @discardableResult
    private mutating func accept(
        durable isDurable: Bool = false, heard: Bool = true
    ) -> LifecycleEvent {
        var event = LifecycleEvent.state(.memoryWarning, origin: .host)
        if isDurable {
            event = event.standing(
                at: InboxEntry(
                    position: EventPosition(segment: 1, offset: durable * 100),
                    end: EventPosition(segment: 1, offset: durable * 100 + 100)))
            durable += 1
        }
        log.append(&event, keeping: !overdue.isEmpty)
        overdue.enforceBacklogs(log: &log)
        if isDurable { overdue.noteAccepted(log: log) }
        if heard { _ = overdue.wait(slot, for: event) }
        return event
    }

    /// Takes the answer to the event; returns what comes next.
    private mutating func answer() -> String {
        overdue.answered(slot, log: log)
        return next(on: nil)
    }

    private mutating func next(on thread: LaneThread?) -> String {
        switch overdue.next(for: slot, on: thread, log: &log) {
        case .event(let event):
            if thread == nil { _ = overdue.open(slot, event, log: log) }
            return "\(event.sequence)"
        case .rejoined(let missed): return "rejoined, \(missed) missed"
        case .read(let place): return "read \(place)"
        case .open: return "open"
        case .current: return "in hand"
        case .deferred(let work):
            work.run()
            return "deferred"
        case .dropped: return "dropped"
        case nil: return "nothing"
        }
    }

    /// The durable events that modules have not received, by position.
    private var undelivered: [String] {
        mutating get { overdue.undelivered(log: log).map(\.position.description).sorted() }
    }

    private func expect<Value: Equatable>(
        _ found: Value, _ expected: Value, at location: SourceLocation = #_sourceLocation
    ) {
        #expect(found == expected, sourceLocation: location)
    }

    @Test("it hears one after the other, and is like any other behind the last answer")
    mutating func inOrder() {
        let first = accept()
        let isOpen = overdue.open(slot, first, log: log)
        #expect(isOpen)
        #expect(overdue.isOpen(slot) && !overdue.isOverdue(slot) && overdue.slots.isEmpty)
        let isAgain = overdue.open(slot, first, log: log)
        #expect(!isAgain)
        accept()
        accept()
        expect(next(on: nil), "nothing")
        expect(answer(), "1")
        expect(answer(), "2")
        expect(answer(), "rejoined, 0 missed")
        #expect(overdue.isEmpty && log.count == 0)
        #expect(slot.status.load(ordering: .relaxed) == .listed)
    }

    @Test("its place in the inbox is the event without an answer")
    mutating func place() {
        let first = accept(durable: true)
        _ = overdue.open(slot, first, log: log)
        accept(durable: true)
        #expect(overdue.pending(log: log)?.count == 2)
        expect(answer(), "1")
        expect(answer(), "rejoined, 0 missed")
        #expect(notes.values.first == "1:0 begun")
        #expect(notes.values.contains("1:100 begun") && notes.values.last == "level")
        #expect(notes.values.drop { $0 != "level" }.allSatisfy { $0 == "level" })
    }

    @Test(
        "a thread that waits for a late answer goes on behind it, and one that does not leaves it")
    mutating func late() {
        let first = accept(durable: true)
        _ = overdue.open(slot, first, log: log)
        accept()
        overdue.add([slot], of: thread, job: nil, log: &log)
        #expect(overdue.isOverdue(slot) && slot.status.load(ordering: .relaxed) == .overdue)
        // It was in another call, and is back before the answer.
        expect(next(on: thread), "open")
        #expect(overdue.isOpen(slot) && slot.status.load(ordering: .relaxed) == .open)
        expect(undelivered, ["1:0"])
        overdue.add([slot], of: thread, job: nil, log: &log)
        let isRun = LockedList<Bool>()
        let isDeferred = overdue.defer(for: slot, OverdueModules.Work { isRun.append(true) })
        #expect(isDeferred)
        expect(next(on: thread), "deferred")
        #expect(isRun.values == [true])
        overdue.answered(slot, log: log)
        expect(next(on: thread), "1")
        expect(next(on: thread), "rejoined, 0 missed")
        #expect(notes.values.last == "level")
    }

    @Test("beyond its backlog durable events are positions, and for others the lane waits")
    mutating func full() {
        _ = overdue.open(slot, accept(), log: log)
        for _ in 0..<3 { accept() }
        #expect(overdue.full(log: log) == nil)
        accept()
        #expect(overdue.full(log: log) === slot)
        expect(answer(), "1")
        #expect(overdue.full(log: log) == nil)
        for number in 2...4 { expect(answer(), "\(number)") }
        expect(answer(), "rejoined, 0 missed")

        _ = overdue.open(slot, accept(), log: log)
        for _ in 0..<5 { accept(durable: true) }
        #expect(overdue.full(log: log) == nil)
        expect(answer(), "read 1:0")
    }

    @Test("events that are none for it do not make it full, and do not stay in memory")
    mutating func unconcerned() {
        _ = overdue.open(slot, accept(), log: log)
        for _ in 0..<50 { accept(heard: false) }
        #expect(overdue.full(log: log) == nil)
        #expect(log.count <= 5)
        accept()
        for _ in 0..<50 { accept(heard: false) }
        #expect(overdue.full(log: log) == nil)
        expect(answer(), "51")
        var told = answer()
        // Its own look at those that are none for it.
        while told != "rejoined, 0 missed", told != "nothing" { told = answer() }
        expect(told, "rejoined, 0 missed")
    }

    @Test("what came while it was overdue counts, whether it is one for it or not")
    mutating func unknown() {
        _ = overdue.open(slot, accept(), log: log)
        overdue.add([slot], of: thread, job: nil, isYield: false, log: &log)
        for _ in 0..<2 { accept() }
        expect(next(on: thread), "open")
        for _ in 0..<2 { accept() }
        #expect(overdue.full(log: log) === slot)
        for number in 1...4 { expect(answer(), "\(number)") }
        expect(answer(), "rejoined, 0 missed")
    }

    @Test("a stop leaves durable events to the next host, and the module for the shutdown events")
    mutating func stop() {
        _ = overdue.open(slot, accept(durable: true), log: log)
        accept()
        accept(durable: true)
        let left = overdue.stop(log: &log)
        #expect(left.dropped == 1 && left.durable == 1)
        expect(undelivered, ["1:0", "1:100"])
        overdue.answered(slot, log: log)
        #expect(slot.status.load(ordering: .relaxed) == .listed && !overdue.holds(slot))
        expect(undelivered, ["1:100"])
        #expect(notes.values.last == "1:100")
    }

    @Test("what waits for one that has answered goes to the one in its place")
    mutating func replaced() {
        let other = ModuleSlot(number: 2, id: nil)
        _ = overdue.open(slot, accept(durable: true), log: log)
        accept(durable: true)
        overdue.answered(slot, log: log)
        expect(overdue.passOn(from: slot, to: other, log: log), 1)
        #expect(overdue.waiting(for: other)?.first.description == "1:100")
        overdue.noteGone(slot, log: &log)
        #expect(!overdue.holds(slot))
    }

    @Test("one that fails keeps the event that it has not answered, with those behind it")
    mutating func fails() {
        _ = overdue.open(slot, accept(durable: true), log: log)
        accept(durable: true)
        overdue.fail(slot, in: nil, log: log)
        slot.status.store(.unlisted, ordering: .relaxed)
        overdue.noteGone(slot, log: &log)
        #expect(overdue.waiting(for: slot)?.count == 2)
        #expect(overdue.waiting(for: slot)?.first.description == "1:0")
        #expect(overdue.isEmpty)
    }

    /// Random schedules of one module: it receives each event once, in order, on the lane and on a thread of its own.
    @Test("in any order of answers, threads and events it hears each once", arguments: 0..<500)
    mutating func schedules(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let slot = ModuleSlot(number: 1, id: nil, limits: ModuleSlot.Limits(backlog: 1000))
        let thread = LaneThread(at: Ownership(bits: 0))
        var heard: [UInt64] = []
        var count: UInt64 = 0
        var isOut = false
        /// Lets the module go on, up to the next event to answer.
        func goOn(_ test: inout Self, on thread: LaneThread?) {
            while let step = test.overdue.next(for: slot, on: thread, log: &test.log) {
                guard case .event(let event) = step else { break }
                heard.append(event.sequence)
                if thread == nil {
                    isOut = test.overdue.open(slot, event, log: test.log)
                    return
                }
            }
        }
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let event = accept(durable: .random(using: &random))
                count += 1
                // The lane itself tells a module that is behind nothing.
                if !overdue.holds(slot) {
                    slot.status.store(.listed, ordering: .relaxed)
                    isOut = overdue.open(slot, event, log: log)
                    #expect(isOut)
                    heard.append(event.sequence)
                }
            case 1 where isOut:
                isOut = false
                overdue.answered(slot, log: log)
                if !overdue.isOverdue(slot) { goOn(&self, on: nil) }
            case 2 where overdue.holds(slot) && !overdue.isOverdue(slot):
                overdue.add([slot], of: thread, job: nil, log: &log)
            case 3 where overdue.isOverdue(slot): goOn(&self, on: thread)
            default: break
            }
        }
        while overdue.holds(slot) {
            if isOut { overdue.answered(slot, log: log) }
            isOut = false
            goOn(&self, on: overdue.isOverdue(slot) ? thread : nil)
        }
        #expect(heard == Array(0..<count))
        #expect(notes.values.last == "level" || notes.values.isEmpty)
    }
}
