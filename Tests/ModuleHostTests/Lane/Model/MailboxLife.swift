import Synchronization
import TestSupport

@testable import ModuleHostCore

private final class ModelJob: LaneJob {
    let event: LifecycleEvent?

    init(_ event: LifecycleEvent) { self.event = event }

    func run(on thread: LaneThread, after slot: UInt16) {}
}

/// The undelivered events that the inbox knows of, by the numbers of the slots.
private final class Notes: Sendable {
    let events = Guarded<[UInt16: UndeliveredEvents]>([:])
}

/// One module, its mailbox, and everything that can happen to it; see ``MailboxModelTests``.
struct MailboxLife {
    /// The acts so far, in words.
    private(set) var acts: [String] = []

    mutating func note(_ act: String) { acts.append(act) }

    private(set) var mailboxes = Mailboxes()
    private(set) var slot: ModuleSlot
    private let window: Int
    /// Whether it has a process: then it may answer the steps of a stop later.
    private let hasProcess: Bool
    private(set) var isStopping = false
    /// The steps of the stop that it was not sent.
    private(set) var steps = [EventKind.resignActive, .background, .terminate]
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
    /// The event that a thread is in it for.
    private var current: Int?
    /// The events that it has yet to answer, in the order in which it was told.
    private(set) var out: [Int] = []
    /// Those of them that it wants again, later.
    private(set) var wanted: Set<Int> = []
    /// Those that it is to be told again now.
    private var due: Set<Int> = []
    /// The events that it was told, from the first that it has not answered on.
    private var told: [Int] = []
    /// The broken rules, in words.
    private(set) var broken: [String] = []

    init(window: Int, hasProcess: Bool) {
        (self.window, self.hasProcess) = (window, hasProcess)
        slot = Self.slot(1, window: window, hasProcess)
        mailboxes.note = { [notes] slot, events in
            notes.events.withLock { $0[slot.number] = events }
        }
    }

    private static func slot(
        _ number: UInt16, window: Int, _ hasProcess: Bool
    ) -> ModuleSlot {
        let slot = ModuleSlot(
            number: number, id: nil,
            limits: ModuleSlot.Limits(backlog: 3, hasProcess: hasProcess))
        slot.window = window
        return slot
    }

    var status: ModuleSlot.Status { slot.status.load(ordering: .relaxed) }
    var isOut: Bool { mailboxes.isOut(slot) }
    /// Whether it can give back what it has not answered: no thread is in it for an event.
    var canGiveBack: Bool { isOut && current == nil }
    /// The events that it can answer now.
    var answerable: [Int] { out.filter { !wanted.contains($0) } }
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
        if !wanted.isEmpty { broken.append("told \(number) in a pause") }
        if due.remove(number) == nil, let other = due.first {
            broken.append("told \(number) before \(other) again")
        }
        if let other = out.first(where: { $0 != number }), !isAmid(event, other),
            !event.kind.isWindowed || !events[other].kind.isWindowed
        {
            broken.append("told \(number) beside \(other)")
        }
        (last, current) = (max(last, number), number)
        guard !isStep(event) else { return }
        if isStopping, !mailboxes.isOverdue(slot) { broken.append("told \(number) in a stop") }
        // Told again it has its place already.
        if !told.contains(number) { told.append(number) }
        if told.count > max(1, window) { broken.append("\(told) are more than \(window)") }
    }

    private func isStep(_ event: LifecycleEvent) -> Bool { event.kind.stateChange != nil }

    /// Returns whether an event is a step of a stop, and the one that it has is none.
    private func isAmid(_ event: LifecycleEvent, _ other: Int) -> Bool {
        isStep(event) && !isStep(events[other])
    }

    private mutating func returned() {
        if let number = current.take() { answered(number) }
    }

    private mutating func answered(_ number: Int) {
        owed.remove(number)
        out.removeAll { $0 == number }
        while let first = told.first, first != current, !out.contains(first),
            !due.contains(first)
        {
            told.removeFirst()
        }
    }

    /// Leaves the current event open.
    private mutating func leaveOpen() {
        guard let number = current.take() else { return }
        out.removeAll { $0 == number }
        out.append(number)
        out.sort()
    }

    /// Gives all up that it was told.
    private mutating func giveUp() {
        again.formUnion(out)
        if let current { again.insert(current) }
        again.formUnion(due)
        (current, out, wanted, told, due) = (nil, [], [], [], [])
        isDue = false
    }

    /// Sends an event, as the lane does.
    ///
    /// - Parameters:
    ///   - isDurable: Whether it is in the inbox.
    ///   - isBarrier: Whether it is told alone.
    ///   - isClaimed: Whether another module claims it before the search reaches this one.
    ///   - isForeign: Whether this one does not listen to it.
    ///   - answersLater: Whether this one answers it later.
    ///   - isStuck: Whether this one does not return from it in time.
    ///   - fails: Whether it fails on its own thread before the delivery reaches it, where it is behind.
    mutating func send(
        durable isDurable: Bool, barrier isBarrier: Bool, claimed isClaimed: Bool,
        foreign isForeign: Bool, answersLater: Bool, isStuck: Bool, fails: Bool
    ) throws {
        let number = UInt32(events.count)
        var event =
            isClaimed
            ? try LifecycleEvent.openURL("a:b", origin: .host)
            : isBarrier
                ? LifecycleEvent.state(.memoryWarning, origin: .host)
                : try LifecycleEvent.message(topic: "t", payload: nil, origin: .host)
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
        pass(event, answersLater: answersLater, isStuck: isStuck)
        // One that answers later is asked to make room.
        while mailboxes.full === slot { _ = mailboxes.removeFirst(of: slot) }
    }

    /// Begins a stop: what it wanted later, and what it was not told, is left to the next host.
    mutating func stop() {
        if status == .open { leaveLater() }
        isStopping = true
        _ = mailboxes.stop()
    }

    private mutating func leaveLater() {
        let later = wanted.union(due)
        again.formUnion(later)
        out.removeAll { later.contains($0) }
        told.removeAll { later.contains($0) }
        (wanted, due, isDue) = ([], [], false)
    }

    /// Sends the next step of the stop: the last one when it has answered the others, or is late.
    mutating func nextStep(answersLater: Bool, isStuck: Bool) {
        guard let kind = steps.first else { return }
        let isOut = out.contains { isStep(events[$0]) }
        guard kind != .terminate || status != .open || !isOut else { return }
        steps.removeFirst()
        var event = LifecycleEvent.state(kind, origin: .host)
        event.laterAnswers = .processes
        mailboxes.accept(&event)
        events.append(event)
        defer { mailboxes.endDelivery(of: event) }
        pass(event, answersLater: answersLater, isStuck: isStuck)
    }

    private mutating func pass(_ event: LifecycleEvent, answersLater: Bool, isStuck: Bool) {
        switch status {
        case .unlisted: return
        case .open where mailboxes.isTold(slot, at: event.sequence, event):
            deliver(event, answersLater: answersLater, isStuck: isStuck)
        case .overdue, .open: mailboxes.put(event, for: slot)
        case .rejoined where event.sequence < mailboxes.told(slot):
            broken.append("\(event.sequence) is skipped")
        case .rejoined, .listed:
            mailboxes.forget(slot)
            slot.status.store(.listed, ordering: .relaxed)
            deliver(event, answersLater: answersLater, isStuck: isStuck)
        }
    }

    /// Returns whether it may answer an event later, if it likes.
    private func mayAnswerLater(_ event: LifecycleEvent) -> Bool {
        guard isStopping, isStep(event) else { return true }
        // Its own thread waits for the answer, unless it has a window.
        return hasProcess && out.isEmpty && (window > 1 || !mailboxes.isOverdue(slot))
    }

    private mutating func deliver(
        _ event: LifecycleEvent, answersLater: Bool, isStuck: Bool
    ) {
        let answersLater = answersLater && mayAnswerLater(event)
        tell(event)
        note(answersLater ? "to answer later" : isStuck ? "stuck" : "returns")
        if answersLater {
            if !mailboxes.open(slot, event) { broken.append("\(event.sequence) is not open") }
            leaveOpen()
        } else if isStuck {
            takeOver(in: event)
        } else {
            returned()
        }
    }

    mutating func takeOver(in event: LifecycleEvent?) {
        thread = LaneThread(at: Ownership(bits: 0))
        mailboxes.add([slot], of: thread, job: event.map { ModelJob($0) })
    }

    /// Has it go on with what waits for it, by one step: one that is overdue is back then.
    mutating func goOn(answersLater: Bool, failsInRead: Bool) {
        guard mailboxes.isBehind(slot) else { return }
        let isOverdue = mailboxes.isOverdue(slot)
        if isOverdue { returned() }
        switch mailboxes.next(for: slot, on: isOverdue ? thread : nil) {
        case .event(let event):
            let answersLater = answersLater && mayAnswerLater(event)
            tell(event)
            if isOverdue {
                leaveOpen(event, answersLater)
            } else if answersLater {
                if !mailboxes.open(slot, event) { broken.append("not open again") }
                leaveOpen()
            } else {
                mailboxes.answered(slot, event)
                returned()
            }
        case .read where !isOverdue:
            note("is to read")
            takeOver(in: nil)
        case .read(let place):
            note("reads at \(place)")
            if failsInRead { fail() }
            let found = events.first { $0.position.map { $0 >= place } == true }
            if let event = mailboxes.take(found?.entry, found, for: slot, on: thread) {
                tell(event)
                leaveOpen(event, answersLater)
            }
        case .deferred, .dropped: broken.append("work without an owner")
        case .open where isStopping: leaveLater()
        case .open, .rejoined, nil: break
        }
    }

    private mutating func leaveOpen(_ event: LifecycleEvent, _ answersLater: Bool) {
        note(answersLater ? "to answer later on its thread" : "on its thread")
        guard answersLater, !foreign.contains(Int(event.sequence)) else { return }
        if !mailboxes.leaveOpen(slot, event, on: thread) { broken.append("not left open") }
        leaveOpen()
    }

    mutating func answer(_ number: Int) {
        mailboxes.answered(slot, events[number])
        answered(number)
    }

    mutating func wantAgain(_ number: Int) {
        if !mailboxes.retry(slot, events[number]) { broken.append("\(number) is not wanted") }
        wanted.insert(number)
        again.insert(number)
        // It begins once more.
        isDue = false
        if isStopping, !mailboxes.isOverdue(slot) { leaveLater() }
    }

    mutating func resume() {
        mailboxes.resume(slot)
        isDue = true
        endPause()
    }

    /// Whether the time of its pause is over.
    private var isDue = false

    mutating func endPause() {
        guard isDue, answerable.isEmpty else { return }
        isDue = false
        out.removeAll { wanted.contains($0) }
        (due, wanted) = (wanted, [])
    }

    mutating func giveBack() {
        giveUp()
        mailboxes.giveBack(slot)
    }

    mutating func fail() {
        note("fails")
        let entry = current.flatMap { events[$0].entry }
        giveUp()
        mailboxes.fail(slot, in: mailboxes.isBehind(slot) ? nil : entry)
        slot.status.store(.unlisted, ordering: .relaxed)
        mailboxes.noteGone(slot)
        mailboxes.noteUndelivered(slot)
    }

    /// Makes it again, in a slot of its own or in the one that it had.
    mutating func makeAgain(inNewSlot isNew: Bool) {
        note(isNew ? "in a new slot" : "in its slot")
        // The thread of the former one ends.
        if mailboxes.isOverdue(slot) { _ = mailboxes.next(for: slot, on: thread) }
        if isNew {
            let new = Self.slot(slot.number + 1, window: window, hasProcess)
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
        let noted = notes.events.withLock { $0[slot.number] }
        if noted?.first != known { broken.append("noted \(String(describing: noted))") }
        // Those that are told, and that the next host is to deliver.
        let repeated = (told + again).filter { owed.contains($0) && events[$0].entry != nil }
        if let last = repeated.max().flatMap({ events[$0].position }),
            noted?.notified.map({ $0 < last }) ?? true
        {
            broken.append("told up to \(last), noted \(String(describing: noted?.notified))")
        }
    }
}
