import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// Durable events that are not for the module that is behind: it keeps the position of each.
@Suite("Long backlogs")
struct LongBacklogTests {
    private let slot = ModuleSlot(number: 1, id: nil, limits: ModuleSlot.Limits(backlog: 3))
    private let thread = LaneThread(at: Ownership(bits: 0))
    private var mailboxes = Mailboxes()
    private let other: ModuleID
    private let count = 100_000

    init() throws { other = try ModuleID("x.other") }

    private func entry(_ number: Int, only: Set<ModuleID>? = nil) -> InboxEntry {
        InboxEntry(
            position: EventPosition(segment: 1, offset: UInt32(number)),
            end: EventPosition(segment: 1, offset: UInt32(number + 1)), only: only)
    }

    private func event(_ entry: InboxEntry) -> LifecycleEvent {
        LifecycleEvent.state(.memoryWarning, origin: .inbox).standing(at: entry)
    }

    /// Accepts a durable event.
    private mutating func accept(_ entry: InboxEntry) {
        var event = event(entry)
        mailboxes.accept(&event)
        if entry.isFor(slot.id) { mailboxes.put(event, for: slot) }
    }

    @Test(
        "events wait for a failed module in time that grows with their number",
        .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    mutating func failedModule() {
        mailboxes.fail(slot, in: entry(0))
        slot.status.store(.unlisted, ordering: .relaxed)
        for number in 1...count {
            let entry = entry(number, only: number.isMultiple(of: 2) ? [other] : nil)
            accept(entry)
            if number % 4 == 1 { mailboxes.noteClaimed(entry) }
        }
        let wanted = 1 + (1...count).count { $0 % 4 == 3 }
        #expect(mailboxes.waiting(for: slot)?.count == wanted)
        #expect(mailboxes.waiting(for: slot)?.first == entry(0).position)
    }

    @Test(
        "a module takes what waits in memory in time that grows with the number of events",
        .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"),
        arguments: [true, false])
    mutating func inMemory(isOverdue: Bool) throws {
        let slot = ModuleSlot(
            number: 1, id: nil, limits: ModuleSlot.Limits(backlog: count, hasProcess: !isOverdue))
        var event = LifecycleEvent.state(.memoryWarning, origin: .host)
        mailboxes.accept(&event)
        if isOverdue {
            mailboxes.add([slot], of: thread, job: nil)
        } else {
            _ = mailboxes.open(slot, event)
        }
        for number in 0..<count {
            var event = LifecycleEvent.state(.memoryWarning, origin: .host)
            if number.isMultiple(of: 2) { event = self.event(entry(number)) }
            mailboxes.accept(&event)
            mailboxes.put(event, for: slot)
            if isOverdue { _ = mailboxes.defer(for: slot, DeferredWork {}) }
        }
        var taken = 0
        while true {
            if !isOverdue, let event = mailboxes[slot]?.mail.open.events.first {
                mailboxes.answered(slot, event)
            }
            guard let step = mailboxes.next(for: slot, on: isOverdue ? thread : nil) else { break }
            guard case .event(let event) = step else { continue }
            taken += 1
            if !isOverdue { _ = mailboxes.open(slot, event) }
        }
        #expect(taken == count)
    }

    @Test(
        "an overdue module falls behind in time that grows with the number of events",
        .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    mutating func overdueModule() {
        mailboxes.add([slot], of: thread, job: nil)
        accept(entry(0))
        for number in 1...count { accept(entry(number, only: [other])) }
        #expect(mailboxes.behind(slot) == 1)
        #expect(mailboxes.undelivered.map(\.position) == [entry(0).position])
    }
}
