import AppService
import Glibc
import Synchronization
import TestSupport

@testable import ModuleHostCore

/// Tries schedule after schedule, two at a time.
final class ModelRun: Sendable {
    struct Failure: CustomStringConvertible {
        let seed: UInt64
        let diagnostics: [String]
        let schedule: Schedule
        /// What is left of it when all is left out without which it fails, too.
        let small: Schedule

        var description: String {
            """
            seed \(seed): \(diagnostics.joined(separator: "\n    "))
            again: MODEL_SEED=\(seed) MODEL_SCHEDULES=1 swift test --filter DeliveryModelTests
            \(schedule)
            in short:
            \(small)
            """
        }
    }

    private static let workers = 2
    /// One error is mostly found by many schedules.
    private static let enough = 3

    private let next: Atomic<UInt64>
    private let end: UInt64
    private let deadline: ContinuousClock.Instant?
    private let found = Guarded<[Failure]>([])
    private let tried = Atomic(0)
    private let counted = Guarded(DeliveryModel.Tally())

    init(seeds first: UInt64, count: Int, seconds: Int?) {
        next = Atomic(first)
        end = first + UInt64(count)
        deadline = seconds.map { ContinuousClock.now + .seconds($0) }
    }

    static func number(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }

    var tally: DeliveryModel.Tally { counted.withLock { $0 } }
    var done: Int { tried.load(ordering: .relaxed) }

    func failures() async throws -> [Failure] {
        let workers = try (0..<Self.workers).map { worker in
            let slatefile = try ModelSlatefile(worker: worker)
            let done = Promise<Void>()
            try NativeThread.start(name: "model") { [self] in
                while let seed = nextSeed() { attempt(seed, with: slatefile) }
                done.keep(())
            }
            return done
        }
        for done in workers { await done.value }
        return found.withLock { $0 }
    }

    private func nextSeed() -> UInt64? {
        let seed = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard seed < end, found.withLock({ $0.count < Self.enough }) else { return nil }
        if let deadline, ContinuousClock.now > deadline { return nil }
        return seed
    }

    private func attempt(_ seed: UInt64, with slatefile: ModelSlatefile) {
        let schedule = ScheduleGenerator.schedule(seed)
        let outcome = ModelTrial.outcome(of: schedule, with: slatefile)
        tried.wrappingAdd(1, ordering: .relaxed)
        guard !outcome.diagnostics.isEmpty else {
            return counted.withLock { $0.add(outcome.tally) }
        }
        let failure = Failure(
            seed: seed, diagnostics: outcome.diagnostics, schedule: schedule,
            small: small(schedule, with: slatefile))
        found.withLock { $0.append(failure) }
    }

    /// A smaller schedule that fails, too.
    private func small(_ schedule: Schedule, with slatefile: ModelSlatefile) -> Schedule {
        let deadline = ContinuousClock.now + .seconds(30)
        return schedule.shrunk { candidate in
            for _ in 0..<10 where ContinuousClock.now < deadline {
                let outcome = ModelTrial.outcome(
                    of: candidate, with: slatefile, limit: .seconds(3))
                if !outcome.diagnostics.isEmpty { return true }
            }
            return false
        }
    }
}
