import AppService
import Testing

@testable import ModuleHostCore

@Suite("The probation of a slatefile")
struct ProbationTests {
    private typealias Row = TransitionRow<Probation, Probation.Change, Probation.Effect>

    private static let start = ContinuousClock.now
    private static let end = start + .seconds(60)
    private static let phases: [Probation] = [
        .none, .starting(.zero), .starting(.milliseconds(10)), .starting(.seconds(60)),
        .watching(until: end),
    ]
    private static let changes: [Probation.Change] = [
        .request(.seconds(60)), .tookEffect(at: start), .changedNothing, .refused,
        .looked(at: start, worse: []), .looked(at: end - .milliseconds(20), worse: []),
        .looked(at: end, worse: []), .looked(at: start, worse: ["a"]),
        .looked(at: end, worse: ["a", "b"]), .superseded(by: "x"), .stopped,
    ]

    /// Whatever is not in it means nothing.
    private static let table: [Row] = [
        Row(.none, .request(.seconds(60)), .starting(.seconds(60)), [.begin]),

        Row(.starting(.zero), .request(.seconds(60)), .starting(.zero), [.refuse]),
        Row(.starting(.zero), .tookEffect(at: start), .none, [.keep]),
        Row(.starting(.zero), .changedNothing, .none, [.keep]),
        Row(.starting(.zero), .refused, .none),

        Row(
            .starting(.milliseconds(10)), .request(.seconds(60)), .starting(.milliseconds(10)),
            [.refuse]),
        Row(
            .starting(.milliseconds(10)), .tookEffect(at: start),
            .watching(until: start + .milliseconds(10)), [.look(after: .milliseconds(10))]),
        Row(.starting(.milliseconds(10)), .changedNothing, .none, [.keep]),
        Row(.starting(.milliseconds(10)), .refused, .none),

        Row(.starting(.seconds(60)), .request(.seconds(60)), .starting(.seconds(60)), [.refuse]),
        Row(
            .starting(.seconds(60)), .tookEffect(at: start), .watching(until: end),
            [.look(after: .seconds(1))]),
        Row(.starting(.seconds(60)), .changedNothing, .none, [.keep]),
        Row(.starting(.seconds(60)), .refused, .none),

        Row(.watching(until: end), .request(.seconds(60)), .watching(until: end), [.refuse]),
        Row(
            .watching(until: end), .looked(at: start, worse: []), .watching(until: end),
            [.look(after: .seconds(1))]),
        Row(
            .watching(until: end), .looked(at: end - .milliseconds(20), worse: []),
            .watching(until: end), [.look(after: .milliseconds(20))]),
        Row(.watching(until: end), .looked(at: end, worse: []), .none, [.keep]),
        // At once, and also at the end.
        Row(.watching(until: end), .looked(at: start, worse: ["a"]), .none, [.rollBack(["a"])]),
        Row(
            .watching(until: end), .looked(at: end, worse: ["a", "b"]), .none,
            [.rollBack(["a", "b"])]),
        Row(
            .watching(until: end), .superseded(by: "x"), .none, [.respondSuperseded(by: "x")]),
        Row(.watching(until: end), .stopped, .none, [.respondStopped]),
    ]

    @Test("each change does in each phase what the table says, and otherwise nothing")
    func table() {
        expectTable(Self.table, of: Self.phases, Self.changes) { $0.apply($1) }
    }

    // MARK: What is worse

    private static let now = WallTime(seconds: 1000)

    private func worse(
        _ facts: [(String, HostRecord.Fact)], after before: [(String, HostRecord.Fact)] = [],
        failed: [String] = []
    ) throws -> [String] {
        func entries(_ facts: [(String, HostRecord.Fact)]) throws -> [HostRecord] {
            try facts.map {
                HostRecord(time: Self.now, module: try ModuleID($0.0), $0.1)
            }
        }
        let baseline = ProbationBaseline(
            at: Self.now, after: try entries(before), failed: try failed.map { try ModuleID($0) },
            modules: try ["x.a", "x.b"].map { try ModuleID($0) })
        let all = try entries(facts)
        for entry in all { #expect(ProbationBaseline.isMeant(entry), "\(entry.fact)") }
        return baseline.worse(in: all)
    }

    @Test("a module that fails, unless it had failed before; one that has left does not count")
    func failures() throws {
        let failure = HostRecord.Fact.failed(reason: "broken", need: nil)
        #expect(try worse([("x.a", failure)]) == ["module 'x.a' failed: broken"])
        // It was restarted in between.
        #expect(
            try worse([("x.a", failure)], after: [("x.a", failure)])
                == ["module 'x.a' failed: broken"])
        #expect(try worse([("x.a", failure)], failed: ["x.a"]).isEmpty)
        #expect(try worse([("x.gone", failure)]).isEmpty)
        #expect(try worse([]).isEmpty)
    }

    @Test("a module that is unresponsive or restarts more often than before")
    func often() throws {
        let hang = ("x.a", HostRecord.Fact.unresponsive(in: "push"))
        #expect(try worse([hang]) == ["module 'x.a' was unresponsive in 'push'"])
        #expect(try worse([hang], after: [hang]).isEmpty)
        #expect(
            try worse([hang, hang, hang], after: [hang])
                == [
                    "module 'x.a' was unresponsive in 'push', more often than before (once in a time as long)"
                ])
        // Another module, and another problem, are counted apart.
        #expect(
            try worse([hang], after: [("x.b", hang.1)]) == [
                "module 'x.a' was unresponsive in 'push'"
            ])
        let end: [(String, HostRecord.Fact)] = [
            ("x.a", .processEnded("process 7 exited with 3")),
            ("x.a", .restarting(in: .milliseconds(100))),
        ]
        #expect(
            try worse(end, after: [hang])
                == ["module 'x.a' was restarted: process 7 exited with 3"])
        #expect(try worse(end, after: end).isEmpty)
        // What follows is not another reason.
        #expect(
            try worse(end + [hang]) == ["module 'x.a' was restarted: process 7 exited with 3"])
        #expect(try worse([hang] + end) == ["module 'x.a' was unresponsive in 'push'"])
        #expect(
            try worse(end + end + end, after: end + end)
                == [
                    "module 'x.a' was restarted: process 7 exited with 3, more often than before (2 times in a time as long)"
                ])
        // A program that has done its work, and another attempt with a module that has failed.
        #expect(try worse([end[0]]).isEmpty)
        #expect(try worse([end[1]]).isEmpty)
    }

    @Test("at most five reasons are said")
    func many() throws {
        let modules = try (0..<7).map { try ModuleID("x.m\($0)") }
        let baseline = ProbationBaseline(at: Self.now, after: [], failed: [], modules: modules)
        let worse = baseline.worse(
            in: modules.map {
                HostRecord(
                    time: Self.now, module: $0, .failed(reason: "broken", need: nil))
            })
        #expect(worse.count == 6)
        #expect(worse.last == "2 more")
    }
}
