import Testing

@testable import ModuleHostCore

@Suite("Restart policy")
struct RestartPolicyTests {
    private let began = ContinuousClock.now

    /// What is decided on processes that each live so long, and are started again when that is said.
    private func verdicts(
        lives: [Duration], _ limits: RestartPolicy.Limits = RestartPolicy.Limits(),
        chance: Double = 0.5
    ) -> [RestartPolicy.Verdict] {
        var policy = RestartPolicy(limits)
        var now = began
        var verdicts: [RestartPolicy.Verdict] = []
        for life in lives {
            let start = now
            now += life
            let verdict = policy.died(startedAt: start, at: now, chance: chance)
            verdicts.append(verdict)
            if case .restart(let delay) = verdict { now += delay }
        }
        return verdicts
    }

    @Test("the delay doubles, and the fifth death in half a minute is the last")
    func quickDeaths() {
        #expect(
            verdicts(lives: Array(repeating: .zero, count: 5)) == [
                .restart(after: .milliseconds(100)), .restart(after: .milliseconds(200)),
                .restart(after: .milliseconds(400)), .restart(after: .milliseconds(800)),
                .giveUp(deaths: 5),
            ])
    }

    @Test("deaths that lie further apart are never too many, and the delay has an end")
    func slowDeaths() {
        let delays = verdicts(lives: Array(repeating: .seconds(8), count: 12))
        #expect(
            delays.suffix(4)
                == [.milliseconds(25_600), .seconds(30), .seconds(30), .seconds(30)].map {
                    .restart(after: $0)
                })
    }

    @Test("half a minute of health, and the next delay is the shortest")
    func health() {
        let short = Duration.milliseconds(29_999)
        #expect(
            verdicts(lives: [short, short, .seconds(30), short]) == [
                .restart(after: .milliseconds(100)), .restart(after: .milliseconds(200)),
                .restart(after: .milliseconds(100)), .restart(after: .milliseconds(200)),
            ])
    }

    @Test("a death counts for the whole period, and no longer")
    func period() {
        let limits = RestartPolicy.Limits(intensity: 2, period: .seconds(10))
        let delay = Duration.milliseconds(100)
        #expect(
            verdicts(lives: [.zero, .seconds(10) - delay], limits) == [
                .restart(after: delay), .giveUp(deaths: 2),
            ])
        #expect(
            verdicts(lives: [.zero, .seconds(10)], limits) == [
                .restart(after: delay), .restart(after: .milliseconds(200)),
            ])
    }

    @Test(
        "a delay is spread by a quarter of itself, and never above the longest",
        arguments: [(0.0, 75, 22_500), (0.5, 100, 30_000), (1.0, 125, 30_000)])
    func spread(chance: Double, first: Int, last: Int) {
        let verdicts = verdicts(
            lives: Array(repeating: .seconds(29), count: 12), chance: chance)
        #expect(verdicts.first == .restart(after: .milliseconds(first)))
        #expect(verdicts.last == .restart(after: .milliseconds(last)))
    }
}
