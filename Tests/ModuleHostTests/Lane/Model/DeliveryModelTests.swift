import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// The lane against the model: many schedules, each from a seed.
///
/// `MODEL_SCHEDULES` says how many (CI: 100 000, alone, since it keeps other tests from their turn), `MODEL_SECONDS` for how long at most, and `MODEL_SEED` where to
/// begin. A schedule that fails is shown, and made small before.
@Suite("Delivery against the model", .timeLimit(.minutes(30)))
struct DeliveryModelTests {
    @Test("every schedule keeps the rules")
    func schedules() async throws {
        let count = ModelRun.number("MODEL_SCHEDULES") ?? 5000
        let run = ModelRun(
            seeds: UInt64(ModelRun.number("MODEL_SEED") ?? 1), count: count,
            seconds: ModelRun.number("MODEL_SECONDS"))
        let began = ContinuousClock.now
        let failures = try await run.failures()
        let took = began.duration(to: .now)
        let tally = run.tally
        print(
            """
            model: \(run.done) of \(count) schedules in \(took.briefText), \(failures.count) failed
            modules were entered \(tally.invocations) times, late \(tally.overdue) times, rejoined \
            \(tally.rejoined) times, missed \(tally.missed) events; of \(tally.calls) calls \
            \(tally.callsOfOverdue) were of a late module; \(tally.races) schedules raced the watchdog
            """)
        for failure in failures { Issue.record("\(failure)") }
        if run.done >= 1000 { #expect(tally.all.allSatisfy { $0 > 0 }, "not all was tried") }
    }
}
