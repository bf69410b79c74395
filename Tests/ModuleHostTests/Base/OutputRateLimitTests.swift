import Testing

@testable import ModuleHostCore

@Suite("Rate limit of output")
struct OutputRateLimitTests {
    private let began = ContinuousClock.now

    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let limits: TokenBucket.Limits
        /// When a line comes, in milliseconds, and what becomes of it.
        let lines: [(at: Int, OutputRateLimit.Verdict)]
    }

    private static let small = TokenBucket.Limits(burst: 3, perSecond: 2)
    private static let show = OutputRateLimit.Verdict.show(afterDropping: 0)

    static let rows = [
        Row(
            testDescription: "so many at once",
            limits: small,
            lines: [(0, show), (0, show), (0, show), (0, .dropFirst), (0, .drop), (0, .drop)]),
        Row(
            testDescription: "each at its time",
            limits: small,
            lines: [
                (0, show), (0, show), (0, show), (500, show), (1000, show), (1499, .dropFirst),
            ]),
        Row(
            testDescription: "after a drop none before there is room for a second's",
            limits: small,
            lines: [
                (0, show), (0, show), (0, show), (0, .dropFirst), (500, .drop), (999, .drop),
                (1000, .show(afterDropping: 3)), (1000, show), (1000, .dropFirst),
            ]),
        Row(
            testDescription: "a long silence gives no more than the first time",
            limits: small,
            lines: [
                (0, show), (3_600_000, show), (3_600_000, show), (3_600_000, show),
                (3_600_000, .dropFirst),
            ]),
        Row(
            testDescription: "a second's are not waited for where fewer may come at once",
            limits: TokenBucket.Limits(burst: 1, perSecond: 100),
            lines: [
                (0, show), (0, .dropFirst), (9, .drop), (10, .show(afterDropping: 2)),
                (10, .dropFirst), (20, .show(afterDropping: 1)),
            ]),
    ]

    @Test("what becomes of lines", arguments: rows)
    func verdicts(row: Row) {
        var rateLimit = OutputRateLimit(row.limits, at: began)
        for (index, (time, verdict)) in row.lines.enumerated() {
            let now = began + .milliseconds(time)
            #expect(rateLimit.take(at: now) == verdict, "line \(index)")
        }
    }

    @Test("a thousand at once, and a hundred in each second after that")
    func defaults() {
        var rateLimit = OutputRateLimit(at: began)
        func shown(_ lines: Int, after time: Duration) -> Int {
            (0..<lines).count { _ in
                if case .show = rateLimit.take(at: began + time) { true } else { false }
            }
        }
        #expect(shown(3000, after: .zero) == 1000)
        #expect(shown(3000, after: .milliseconds(999)) == 0)
        #expect(shown(3000, after: .seconds(1)) == 100)
        #expect(shown(3000, after: .seconds(2)) == 100)
    }

    @Test("what was left out is reported once")
    func dropped() {
        var rateLimit = OutputRateLimit(
            TokenBucket.Limits(burst: 1, perSecond: 1), at: began)
        #expect(rateLimit.takeDropped() == 0)
        let verdicts = (0..<3).map { _ in rateLimit.take(at: began) }
        #expect(verdicts == [Self.show, .dropFirst, .drop])
        #expect(rateLimit.takeDropped() == 2)
        #expect(rateLimit.takeDropped() == 0)
        #expect(rateLimit.take(at: began) == .dropFirst)
    }
}
