import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// One module, its mailbox, and everything that can happen to it, against rules as a reader would say them.
///
/// - it is told events in order, and none twice but one that it had begun when it was given up;
/// - no durable event is lost: it is told, or waits, and the place that the inbox knows of the module is the first that it
///   has not returned from, at every moment;
/// - an event that another module claimed before the search reached this one is never told.
///
/// That it is told each event that is in no inbox, too, is in `MailboxAnswersTests`, without the ends.
@Suite("Mailbox against the model")
struct MailboxModelTests {
    private final class ModelJob: LaneJob {
        let event: LifecycleEvent?

        init(_ event: LifecycleEvent) { self.event = event }

        func run(on thread: LaneThread, after slot: UInt16) {}
    }

    /// The places that the inbox knows, by the numbers of the slots.
    private final class Notes: Sendable {
        let places = Guarded<[UInt16: EventPosition]>([:])
    }

    /// The life of a module.
    private struct Life {
        /// The acts so far, in words.
        private(set) var acts: [String] = []

        mutating func note(_ act: String) { acts.append(act) }

        private(set) var mailboxes = Mailboxes()
        private(set) var slot = Self.slot(1)
        private var thread = LaneThread(at: Ownership(bits: 0))
        private let notes = Notes()
        private(set) var events: [LifecycleEvent] = []
        /// The durable events that it has to return from, and has not.
        private var owed: Set<Int> = []
        private var claimed: Set<Int> = []
        private var foreign: Set<Int> = []
        /// The events that it may be told once more.
        private var again: Set<Int> = []
        private var last = -1
        /// The event that it has not returned from, or not answered.
        private(set) var current: Int?
        /// The broken rules, in words.
        private(set) var broken: [String] = []

        init() {
            mailboxes.note = { [notes] slot, position, _ in
                notes.places.withLock { $0[slot.number] = position }
            }
        }

        private static func slot(_ number: UInt16) -> ModuleSlot {
            ModuleSlot(number: number, id: nil, limits: ModuleSlot.Limits(backlog: 3))
        }

        var status: ModuleSlot.Status { slot.status.load(ordering: .relaxed) }
        var isOut: Bool { mailboxes[slot]?.mail.isOut == true }
        /// Whether it has yet to begin with what waited for it.
        var isToCatchUp: Bool { status == .listed && mailboxes.waiting(for: slot) != nil }

        private mutating func tell(_ event: LifecycleEvent) {
            let number = Int(event.sequence)
            // Between its own in the inbox.
            guard !foreign.contains(number) else { return }
            note("told \(number)")
            if number <= last, !again.contains(number) {
                broken.append("told \(number) behind \(last)")
            }
            if claimed.contains(number) { broken.append("told \(number), which was claimed") }
            if event.entry != nil, !owed.contains(number) { broken.append("told \(number) twice") }
            (last, current) = (number, number)
        }

        private mutating func returned() {
            if let current { owed.remove(current) }
            current = nil
        }

        /// Sends an event, as the lane does.
        ///
        /// - Parameters:
        ///   - isDurable: Whether it is in the inbox.
        ///   - isClaimed: Whether another module claims it before the search reaches this one.
        ///   - isForeign: Whether this one does not listen to it.
        ///   - answersLater: Whether this one answers it later.
        ///   - isStuck: Whether this one does not return from it in time.
        ///   - fails: Whether it fails on its own thread before the delivery reaches it, where it is behind.
        mutating func send(
            durable isDurable: Bool, claimed isClaimed: Bool, foreign isForeign: Bool,
            answersLater: Bool, isStuck: Bool, fails: Bool
        ) throws {
            let number = UInt32(events.count)
            var event =
                isClaimed
                ? try LifecycleEvent.openURL("a:b", origin: .host)
                : LifecycleEvent.state(.memoryWarning, origin: .host)
            let entry = InboxEntry(
                position: EventPosition(segment: 1, offset: number * 100),
                end: EventPosition(segment: 1, offset: number * 100 + 100))
            if isDurable { event = event.standing(at: entry) }
            mailboxes.accept(&event)
            events.append(event)
            guard !isClaimed else {
                claimed.insert(Int(number))
                mailboxes.endDelivery(of: event)
                if isDurable { mailboxes.noteClaimed(entry) }
                return
            }
            defer { mailboxes.endDelivery(of: event) }
            if isForeign {
                foreign.insert(Int(number))
                return
            }
            if isDurable { owed.insert(Int(number)) }
            if fails, mailboxes.isBehind(slot) { fail() }
            switch status {
            case .unlisted: return
            case .overdue, .open: mailboxes.put(event, for: slot)
            case .rejoined where event.sequence < mailboxes.told(slot):
                broken.append("\(number) is skipped")
            case .rejoined, .listed:
                mailboxes.forget(slot)
                slot.status.store(.listed, ordering: .relaxed)
                tell(event)
                if answersLater {
                    if !mailboxes.open(slot, event) { broken.append("\(number) is not open") }
                } else if isStuck {
                    takeOver(in: event)
                } else {
                    returned()
                }
            }
            // One that answers later is asked to make room.
            while mailboxes.full === slot { _ = mailboxes.removeFirst(of: slot) }
        }

        mutating func takeOver(in event: LifecycleEvent?) {
            thread = LaneThread(at: Ownership(bits: 0))
            mailboxes.add([slot], of: thread, job: event.map { ModelJob($0) })
        }

        /// Has it go on with what waits for it, by one step: one that is overdue is back then.
        mutating func goOn(answersLater: Bool, failsInRead: Bool) {
            guard mailboxes.isBehind(slot) else { return }
            let isOverdue = mailboxes.isOverdue(slot)
            if isOverdue, !isOut { returned() }
            switch mailboxes.next(for: slot, on: isOverdue ? thread : nil) {
            case .event(let event):
                tell(event)
                if isOverdue {
                    if answersLater { _ = mailboxes.leaveOpen(slot, on: thread) }
                } else if answersLater {
                    if !mailboxes.open(slot, event) { broken.append("not open again") }
                } else {
                    mailboxes.answered(slot)
                    returned()
                }
            case .read where !isOverdue: takeOver(in: nil)
            case .read(let place):
                if failsInRead { fail() }
                let found = events.first { $0.position.map { $0 >= place } == true }
                if let event = mailboxes.take(found?.entry, found, for: slot, on: thread) {
                    tell(event)
                }
            case .deferred, .dropped: broken.append("work without an owner")
            case .open, .rejoined, nil: break
            }
        }

        mutating func answer() {
            mailboxes.answered(slot)
            returned()
        }

        mutating func giveBack() {
            if let current { again.insert(current) }
            current = nil
            mailboxes.giveBack(slot)
        }

        mutating func fail() {
            if let current { again.insert(current) }
            note("fails")
            let entry = current.flatMap { events[$0].entry }
            mailboxes.fail(slot, in: mailboxes.isBehind(slot) ? nil : entry)
            current = nil
            slot.status.store(.unlisted, ordering: .relaxed)
            mailboxes.noteGone(slot)
            mailboxes.noteUndelivered(slot)
        }

        /// Makes it again, in a slot of its own or in the one that it had.
        mutating func makeAgain(inNewSlot isNew: Bool) {
            // The thread of the former one ends.
            if mailboxes.isOverdue(slot) { _ = mailboxes.next(for: slot, on: thread) }
            if isNew {
                let new = Self.slot(slot.number + 1)
                _ = mailboxes.passOn(from: slot, to: new)
                slot = new
            } else {
                slot.status.store(.listed, ordering: .relaxed)
                if mailboxes.waiting(for: slot) == nil { mailboxes.release(slot) }
            }
            if isToCatchUp { takeOver(in: nil) }
        }

        mutating func check() {
            let first = owed.min().flatMap { events[$0].position }
            let known = mailboxes.undelivered.map(\.position).min()
            if known != first, known.map({ found in first.map { found > $0 } ?? false }) ?? true {
                broken.append(
                    "owed \(String(describing: first)), known \(String(describing: known))")
            }
            let noted = notes.places.withLock { $0[slot.number] }
            if noted != known { broken.append("noted \(String(describing: noted))") }
        }
    }

    @Test("whatever happens to it, in any order", arguments: 0..<2000)
    func walk(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        func toss() -> Bool { .random(using: &random) }
        var life = Life()
        for _ in 0..<60 where life.broken.isEmpty {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4 where !life.isToCatchUp:
                let (isDurable, isClaimed) = (toss(), toss() && toss())
                try life.send(
                    durable: isDurable, claimed: isClaimed, foreign: toss() && toss(),
                    answersLater: toss(), isStuck: toss(), fails: toss() && toss() && toss())
                life.note(
                    "\(isDurable ? "durable" : "event")\(isClaimed ? " for another" : "")")
            case 4, 5:
                life.goOn(answersLater: toss(), failsInRead: toss() && toss() && toss())
                life.note("goes on")
            case 6 where life.isOut, 7 where life.isOut:
                life.answer()
                life.note("answers")
            case 8 where life.mailboxes.isOpen(life.slot):
                life.takeOver(in: nil)
                life.note("is late")
            case 9 where life.isOut:
                life.giveBack()
                life.note("gives back")
            case 10 where life.status != .unlisted:
                life.fail()
            case 11 where life.status == .unlisted:
                life.makeAgain(inNewSlot: toss())
                life.note("is made again")
            default: continue
            }
            life.check()
        }
        #expect(life.broken == [], "\(life.acts.joined(separator: "; "))")
    }
}
