import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// The account of modules with an event that their process has yet to answer, by itself.
@Suite("Account of modules with an event to answer")
struct MailboxAnswersTests {
    private let slot = ModuleSlot(number: 1, id: nil, limits: ModuleSlot.Limits(backlog: 3))
    private let thread = LaneThread(at: Ownership(bits: 0))
    private var mailboxes = Mailboxes()
    private let notes = LockedList<String>()
    /// The number of durable events.
    private var durable: UInt32 = 0

    init() {
        mailboxes.note = { [notes] slot, events in
            notes.append(
                (events?.first.description ?? "level") + (events?.isBegun == true ? " begun" : ""))
        }
    }

    /// Accepts an event.
    @discardableResult
    private mutating func accept(
        durable isDurable: Bool = false, heard: Bool = true, by slot: ModuleSlot? = nil
    ) -> LifecycleEvent {
        var event = LifecycleEvent.state(.memoryWarning, origin: .host)
        if isDurable {
            event = event.standing(
                at: InboxEntry(
                    position: EventPosition(segment: 1, offset: durable * 100),
                    end: EventPosition(segment: 1, offset: durable * 100 + 100)))
            durable += 1
        }
        mailboxes.accept(&event)
        if heard { mailboxes.put(event, for: slot ?? self.slot) }
        return event
    }

    /// Takes the answer to the event; returns what comes next.
    private mutating func answer() -> String {
        answered()
        return next(on: nil)
    }

    /// Notes the answer to the first event that is to be answered.
    private mutating func answered(by slot: ModuleSlot? = nil) {
        let slot = slot ?? self.slot
        if let event = mailboxes[slot]?.mail.open.events.first { mailboxes.answered(slot, event) }
    }

    private mutating func next(on thread: LaneThread?) -> String {
        switch mailboxes.next(for: slot, on: thread) {
        case .event(let event):
            if thread == nil { _ = mailboxes.open(slot, event) }
            return "\(event.sequence)"
        case .rejoined(let missed): return "rejoined, \(missed) missed"
        case .read(let place): return "read \(place)"
        case .open: return "open"
        case .deferred(let work):
            work.run()
            return "deferred"
        case .dropped: return "dropped"
        case nil: return "nothing"
        }
    }

    /// The durable events that modules have not received, by position.
    private var undelivered: [String] {
        mutating get { mailboxes.undelivered.map(\.position.description).sorted() }
    }

    private func expect<Value: Equatable>(
        _ found: Value, _ expected: Value, at location: SourceLocation = #_sourceLocation
    ) {
        #expect(found == expected, sourceLocation: location)
    }

    @Test("it hears one after the other, and is like any other behind the last answer")
    mutating func inOrder() {
        let first = accept()
        let isOpen = mailboxes.open(slot, first)
        #expect(isOpen)
        #expect(
            mailboxes.isOpen(slot) && !mailboxes.isOverdue(slot) && mailboxes.overdueSlots.isEmpty)
        let isAgain = mailboxes.open(slot, first)
        #expect(!isAgain)
        accept()
        accept()
        expect(next(on: nil), "nothing")
        expect(answer(), "1")
        expect(answer(), "2")
        expect(answer(), "rejoined, 0 missed")
        #expect(mailboxes.entries.isEmpty)
        #expect(slot.status.load(ordering: .relaxed) == .listed)
    }

    @Test("its place in the inbox is the event without an answer")
    mutating func place() {
        let first = accept(durable: true)
        _ = mailboxes.open(slot, first)
        accept(durable: true)
        #expect(mailboxes.pending?.count == 2)
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
        _ = mailboxes.open(slot, first)
        accept()
        mailboxes.add([slot], of: thread, job: nil)
        #expect(mailboxes.isOverdue(slot) && slot.status.load(ordering: .relaxed) == .overdue)
        // It was in another call, and is back before the answer.
        expect(next(on: thread), "open")
        #expect(mailboxes.isOpen(slot) && slot.status.load(ordering: .relaxed) == .open)
        expect(undelivered, ["1:0"])
        mailboxes.add([slot], of: thread, job: nil)
        let isRun = LockedList<Bool>()
        let isDeferred = mailboxes.defer(for: slot, DeferredWork { isRun.append(true) })
        #expect(isDeferred)
        expect(next(on: thread), "deferred")
        #expect(isRun.values == [true])
        answered()
        expect(next(on: thread), "1")
        expect(next(on: thread), "rejoined, 0 missed")
        #expect(notes.values.last == "level")
    }

    @Test("beyond its backlog durable events are positions, and for others the lane waits")
    mutating func full() {
        _ = mailboxes.open(slot, accept())
        for _ in 0..<3 { accept() }
        #expect(mailboxes.full == nil)
        accept()
        #expect(mailboxes.full === slot)
        expect(answer(), "1")
        #expect(mailboxes.full == nil)
        for number in 2...4 { expect(answer(), "\(number)") }
        expect(answer(), "rejoined, 0 missed")

        _ = mailboxes.open(slot, accept())
        for _ in 0..<5 { accept(durable: true) }
        #expect(mailboxes.full == nil)
        expect(answer(), "read 1:0")
    }

    @Test("events that are none for it do not make it full, and do not wait")
    mutating func unconcerned() {
        _ = mailboxes.open(slot, accept())
        for _ in 0..<50 { accept(heard: false) }
        #expect(mailboxes.full == nil)
        #expect(mailboxes[slot]?.mail.count == 0)
        accept()
        for _ in 0..<50 { accept(heard: false) }
        #expect(mailboxes.full == nil)
        expect(answer(), "51")
        expect(answer(), "rejoined, 0 missed")
    }

    @Test("what came while it was overdue counts, too")
    mutating func whileOverdue() {
        _ = mailboxes.open(slot, accept())
        mailboxes.add([slot], of: thread, job: nil, isYield: false)
        for _ in 0..<2 { accept() }
        expect(next(on: thread), "open")
        for _ in 0..<2 { accept() }
        #expect(mailboxes.full === slot)
        for number in 1...4 { expect(answer(), "\(number)") }
        expect(answer(), "rejoined, 0 missed")
    }

    @Test("a stop leaves durable events to the next host, and the module for the shutdown events")
    mutating func stop() {
        _ = mailboxes.open(slot, accept(durable: true))
        accept()
        accept(durable: true)
        let left = mailboxes.stop()
        #expect(left.dropped == 1 && left.durable == 1)
        expect(undelivered, ["1:0"])
        answered()
        #expect(slot.status.load(ordering: .relaxed) == .listed && !mailboxes.isBehind(slot))
        expect(undelivered, ["1:100"])
        #expect(notes.values.last == "1:100")
    }

    @Test("what waits for one that has answered goes to the one in its place")
    mutating func replaced() {
        let other = ModuleSlot(number: 2, id: nil)
        _ = mailboxes.open(slot, accept(durable: true))
        accept(durable: true)
        answered()
        expect(mailboxes.passOn(from: slot, to: other), 1)
        #expect(mailboxes.waiting(for: other)?.first.description == "1:100")
        mailboxes.noteGone(slot)
        #expect(!mailboxes.isBehind(slot))
    }

    @Test("one that fails keeps the event that it has not answered, with those behind it")
    mutating func fails() {
        _ = mailboxes.open(slot, accept(durable: true))
        accept(durable: true)
        mailboxes.fail(slot, in: nil)
        slot.status.store(.unlisted, ordering: .relaxed)
        mailboxes.noteGone(slot)
        #expect(mailboxes.waiting(for: slot)?.count == 2)
        #expect(mailboxes.waiting(for: slot)?.first.description == "1:0")
        #expect(!mailboxes.isBehind(slot))
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
            while let step = test.mailboxes.next(for: slot, on: thread) {
                guard case .event(let event) = step else { break }
                heard.append(event.sequence)
                if thread == nil {
                    isOut = test.mailboxes.open(slot, event)
                    return
                }
            }
        }
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let event = accept(durable: .random(using: &random), by: slot)
                count += 1
                // The lane itself tells a module that is behind nothing.
                if !mailboxes.isBehind(slot) {
                    slot.status.store(.listed, ordering: .relaxed)
                    isOut = mailboxes.open(slot, event)
                    #expect(isOut)
                    heard.append(event.sequence)
                }
            case 1 where isOut:
                isOut = false
                answered(by: slot)
                if !mailboxes.isOverdue(slot) { goOn(&self, on: nil) }
            case 2 where mailboxes.isBehind(slot) && !mailboxes.isOverdue(slot):
                mailboxes.add([slot], of: thread, job: nil)
            case 3 where mailboxes.isOverdue(slot): goOn(&self, on: thread)
            default: break
            }
        }
        while mailboxes.isBehind(slot) {
            if isOut { answered(by: slot) }
            isOut = false
            goOn(&self, on: mailboxes.isOverdue(slot) ? thread : nil)
        }
        #expect(heard == Array(0..<count))
        #expect(notes.values.last == "level" || notes.values.isEmpty)
    }
}
