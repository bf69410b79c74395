import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// Durable events that are not for the module that is behind: it keeps the position of each.
@Suite("Long backlogs")
struct LongBacklogTests {
    private let slot = ModuleSlot(number: 1, id: nil, limits: ModuleSlot.Limits(backlog: 3))
    private let thread = LaneThread(at: Ownership(bits: 0))
    private var log = EventLog()
    private var overdue = OverdueModules()
    private let other: ModuleID
    private let count = 250_000

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
        log.append(&event, keeping: !overdue.isEmpty)
        overdue.enforceBacklogs(log: &log)
        overdue.noteAccepted(log: log)
    }

    @Test(
        "events wait for a failed module in time that grows with their number",
        .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    mutating func failedModule() {
        overdue.fail(slot, in: entry(0), log: log)
        slot.status.store(.unlisted, ordering: .relaxed)
        for number in 1...count {
            let entry = entry(number, only: number.isMultiple(of: 2) ? [other] : nil)
            overdue.keepForFailed(event(entry), entry)
            if number % 4 == 1 { overdue.noteClaimed(entry) }
        }
        let wanted = 1 + (1...count).count { $0 % 4 == 3 }
        #expect(overdue.waiting(for: slot)?.count == wanted)
        #expect(overdue.waiting(for: slot)?.first == entry(0).position)
    }

    @Test(
        "an overdue module falls behind in time that grows with the number of events",
        .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    mutating func overdueModule() {
        overdue.add([slot], of: thread, job: nil, log: &log)
        accept(entry(0))
        for number in 1...count { accept(entry(number, only: [other])) }
        #expect(log.count == slot.backlog)
        #expect(overdue.undelivered(log: log).map(\.position) == [entry(0).position])
    }
}
