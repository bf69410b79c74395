import Testing

@testable import ModuleHostCore

@Suite("Durable delivery against the model", .timeLimit(.minutes(10)))
struct DurableModelTests {
    @Test("the next host delivers what a module has not handled, and only repeats what was current")
    func schedules() async {
        let first = UInt64(ModelRun.number("MODEL_SEED") ?? 1)
        let count = ModelRun.number("MODEL_DURABLE") ?? 40
        var tally = DurableTrial.Tally()
        let limit = ModelRun.number("MODEL_LIMIT") ?? 300
        var failed = 0
        for seed in first..<(first + UInt64(count)) where failed < 3 {
            let (errors, seen) = await DurableTrial.run(seed: seed, limit: .seconds(limit))
            tally += seen
            if !errors.isEmpty { failed += 1 }
            #expect(errors == [])
        }
        print(
            "durable model: \(count) schedules, \(failed) failed; \(tally.events) events, "
                + "\(tally.unanswered) times without an answer, "
                + "\(tally.overdue) times overdue, \(tally.crashes) crashes looked at, "
                + "\(tally.repeated) events to be repeated, \(tally.left) left by stops")
        #expect(tally.overdue > 0 && tally.unanswered > 0 && tally.left > 0)
    }
}
