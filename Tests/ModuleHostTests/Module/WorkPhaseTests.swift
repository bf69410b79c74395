import Testing

@testable import ModuleHostCore

/// Every order of what can happen to a piece of work.
@Suite("Phases of work")
struct WorkPhaseTests {
    /// A piece of work, with what its effects have done.
    private struct Situation: Hashable {
        let keepsThread: Bool
        var phase = WorkPhase()
        /// Whether it was begun, and has not returned.
        var isRunning = false
        var hasBegun = false
        var isDeadlineDue = false
        /// The ends that are on the way to the module.
        var ends = 0
        var received = 0
        var replaced = 0
        var uncounted = 0
    }

    private func changes(_ situation: Situation) -> [WorkPhase.Change] {
        var changes: [WorkPhase.Change] = [.holdRanOut, .drop]
        if !situation.hasBegun { changes.append(.begin(keepsThread: situation.keepsThread)) }
        if situation.isRunning { changes.append(.returned) }
        if situation.isDeadlineDue { changes.append(.deadline) }
        if situation.ends > 0 { changes += [.take, .finish] }
        return changes
    }

    private func next(_ change: WorkPhase.Change, after before: Situation) -> Situation {
        var next = before
        let effects = next.phase.apply(change)
        switch change {
        case .begin:
            next.hasBegun = true
            next.isRunning = effects.contains(.run)
            next.isDeadlineDue = next.isRunning
        case .returned: next.isRunning = false
        case .deadline: next.isDeadlineDue = false
        case .finish: next.ends -= 1
        case .holdRanOut, .drop, .take: break
        }
        // The alarm of work that still has its thread rings, also where it was dropped.
        if effects.contains(.cancelAlarm) { next.isDeadlineDue = false }
        if !effects.isDisjoint(with: [.handOver, .fail, .release]) { next.ends += 1 }
        if effects.contains(.receive) { next.received += 1 }
        if effects.contains(.replaceThread) { next.replaced += 1 }
        if effects.contains(.giveThreadBack) { next.replaced -= 1 }
        if effects.contains(.uncount) { next.uncounted += 1 }
        return next
    }

    @Test(
        "its end is received at most once, and its thread and its count are given back exactly once"
    )
    func explored() {
        var seen: Set<Situation> = [Situation(keepsThread: true), Situation(keepsThread: false)]
        var left = Array(seen)
        while let situation = left.popLast() {
            for change in changes(situation) {
                let next = next(change, after: situation)
                if seen.insert(next).inserted { left.append(next) }
            }
        }
        for situation in seen {
            let phase = situation.phase
            #expect(situation.received <= 1 && situation.ends <= 2)
            #expect(situation.replaced == (phase.thread == .replaced ? 1 : 0))
            #expect(phase.thread == .none || situation.isRunning && situation.keepsThread)
            let isDone = phase.step == .over && phase.thread == .none
            #expect(situation.uncounted == (isDone ? 1 : 0))
            // Its end is on the way, or has come, or it has not returned.
            let isPending = phase.step == .waiting || phase.step == .running
            #expect(isPending || situation.ends > 0 || phase.step == .over)
        }
        for step in [WorkPhase.Step.waiting, .running, .returning, .ended, .over] {
            #expect(seen.contains { $0.phase.step == step })
        }
    }
}
