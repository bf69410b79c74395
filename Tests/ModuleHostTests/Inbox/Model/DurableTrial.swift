import AppService
import TestSupport

@testable import ModuleHostCore

/// A random schedule of durable events, hanging modules and crashes, run against real hosts.
///
/// Two hosts run on the same inbox, the second on the files that a crash of the first would leave, or that
/// its stop in the middle of events has left. At random moments the trial reads what the next host would: the cursor and the black box. Two rules
/// must hold each time, for each module and each accepted event:
///
/// - **Nothing is lost.** The next host delivers the event to the module, unless the module has handled it.
/// - **Nothing is repeated but the current event.** The next host does not deliver it again, unless it is
///   the last event that the module has handled.
///
/// A third module answers URLs when the trial says so, on any thread and in any order: one without an answer is
/// delivered again, and one with an answer is not.
///
/// Only events of the inbox are in the first rule; others fill the lane's log, so that modules which hang
/// fall out of memory and read on in the inbox.
final class DurableTrial {
    /// What is wrong, in words.
    private(set) var errors: [String] = []
    /// How often each thing happened: what never does is not tried.
    private(set) var tally = Tally()
    private let random: Random
    private let seed: UInt64

    struct Tally {
        var events = 0
        var overdue = 0
        var crashes = 0
        var repeated = 0
        var unanswered = 0
        /// The events that stops have left to the next host.
        var left = 0

        static func += (sum: inout Tally, other: Tally) {
            sum.events += other.events
            sum.overdue += other.overdue
            sum.crashes += other.crashes
            sum.repeated += other.repeated
            sum.unanswered += other.unanswered
            sum.left += other.left
        }
    }

    /// A source of choices that several objects share.
    final class Random {
        private var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

        func chance(_ part: Int, of whole: Int) -> Bool { below(whole) < part }
    }

    private init(seed: UInt64) {
        self.seed = seed
        random = Random(seed: seed)
    }

    /// Runs a schedule.
    ///
    /// - Parameters:
    ///   - seed: The seed of the schedule.
    ///   - limit: The time for a step that never ends, far beyond what any machine needs.
    /// - Returns: What is wrong; nothing if all is as it must be.
    static func run(
        seed: UInt64, limit: Duration = .seconds(300)
    ) async -> (errors: [String], tally: Tally) {
        let outcome = Promise<(errors: [String], tally: Tally)>()
        let alarm = SystemTimeSource.shared.schedule(after: limit) {
            outcome.keep((["hangs"], Tally()))
        }
        Task {
            let trial = DurableTrial(seed: seed)
            do { try await trial.run() } catch { trial.errors.append("\(error)") }
            outcome.keep((trial.errors, trial.tally))
        }
        let (errors, tally) = await outcome.value
        alarm.cancel()
        return (errors.map { "seed \(seed): \($0)" }, tally)
    }

    private func run() async throws {
        let folder = try TemporaryFolder()
        let names = ["a", "b", "c"]
        let backlogs = names.map { _ in random.chance(1, of: 2) ? 2 + random.below(3) : nil }
        let first = try await DurableLife(
            1, of: seed, names, backlogs, in: folder, owing: [:], urls: [:], ids: [:],
            random)
        for _ in 0..<(4 + random.below(12)) { try await first.step() }
        let isStopped = random.chance(1, of: 3)
        if isStopped { try await first.stop() }
        // Otherwise a crash at this moment, whatever the modules are doing.
        let (left, owed, urls, ids) = try first.crash()
        if !isStopped { try await first.end() }
        collect(from: first)
        let second = try await DurableLife(
            2, of: seed, names, backlogs, in: left, owing: owed, urls: urls, ids: ids,
            random)
        for _ in 0..<random.below(8) { try await second.step() }
        try await second.end()
        collect(from: second)
    }

    private func collect(from life: DurableLife) {
        errors += life.errors
        tally += life.tally
    }
}
