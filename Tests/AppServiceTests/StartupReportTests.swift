import AppService
import TestSupport
import Testing

@Suite("Start-up report")
struct StartupReportTests {
    /// Width 1 and a clock that only the tasks move: every figure is exact.
    private func launch() async throws -> StartupReport {
        let time = ManualTimeSource()
        let queue = StartupQueue(width: 1, time: time)
        func task(
            _ name: String, _ priority: StartupPriority, _ milliseconds: Int, after: [String] = []
        ) -> StartupTask {
            StartupTask(name, priority: priority, after: after) {
                time.advance(by: .milliseconds(milliseconds))
            }
        }
        try queue.register([
            task("settings", .high, 12),
            task("database", .default, 350, after: ["settings"]),
            task("thumbnails", .low, 40, after: ["database"]),
            task("log in", .default, 20, after: ["settings"]),
            StartupTask("feed", after: ["log in"]) {
                time.advance(by: .milliseconds(5))
                throw Boom()
            },
            task("badges", .low, 1, after: ["feed"]),
        ])
        return try await queue.run()
    }

    @Test("each task: waited for whom, ready, started, ended, worker, outcome")
    func entries() async throws {
        let report = try await launch()
        let thumbnails = try #require(report["thumbnails"])
        #expect(thumbnails.priority == .low)
        #expect(thumbnails.after == ["database"])
        #expect(thumbnails.releasedBy == "database")
        #expect(thumbnails.registered == .zero)
        #expect(thumbnails.ready == .milliseconds(387), "when low was admitted")
        #expect(thumbnails.started == .milliseconds(387))
        #expect(thumbnails.ended == .milliseconds(427))
        #expect(thumbnails.duration == .milliseconds(40))
        #expect(thumbnails.worker == 1)
        #expect(thumbnails.outcome == .succeeded)

        let login = try #require(report["log in"])
        #expect(login.ready == .milliseconds(12))
        #expect(
            login.started == .milliseconds(12), "a longer chain waits for it than for the database")
    }

    @Test("blame: slowest first")
    func blame() async throws {
        #expect(
            try await launch().blameText == """
                350ms database
                 40ms thumbnails
                 20ms log in
                 12ms settings
                  5ms feed (failed: boom)

                """)
    }

    @Test("critical chain: from the last to end, back through who released whom")
    func chain() async throws {
        let report = try await launch()
        #expect(report.makespan == .milliseconds(427))
        #expect(report.criticalChain.map(\.name) == ["settings", "database", "thumbnails"])
        #expect(
            report.criticalChainText == """
                thumbnails @387ms +40ms
                └─database @32ms +350ms
                  └─settings @0ns +12ms

                """)
    }

    @Test("the picture")
    func picture() async throws {
        #expect(
            try await launch().picture(columns: 40) == """
                settings   1 █
                log in     1  █
                database   1  ·█████████████████████████████████
                feed       1   ·································█ (failed: boom)
                thumbnails 1                                     ████
                badges: skipped: it runs after 'feed', which failed: boom

                """)
    }

    @Test("a report taken on the way says what has not happened yet")
    func onTheWay() async throws {
        let (began, gate) = (Door(), Door())
        let time = ManualTimeSource()
        let queue = StartupQueue(width: 1, time: time)
        try queue.register([
            .blocking("a", began, until: gate),
            StartupTask("b", after: ["a"]) {},
        ])
        #expect(queue.report().makespan == .zero)
        #expect(queue.report().picture(columns: 0) == "a: has not begun\nb: has not begun\n")
        try queue.admit(.low)
        await began.wait()
        time.advance(by: .seconds(1))
        try queue.register(StartupTask("late", priority: .low) {})
        let report = queue.report()
        #expect(report["late"]?.registered == .seconds(1))
        #expect(report["a"]?.started == .zero)
        #expect(report["a"]?.ended == nil)
        #expect(report["b"]?.ready == nil)
        #expect(report.blameText == "")
        #expect(report.criticalChainText == "")
        gate.open()
        await queue.done(.low)
    }

    @Test("a task that comes after an empty queue has begun was registered then")
    func afterEmpty() async throws {
        let time = ManualTimeSource()
        let queue = StartupQueue(width: 1, time: time)
        time.advance(by: .seconds(1))
        try queue.admit(.low)
        time.advance(by: .seconds(2))
        try queue.register(StartupTask("late") {})
        await queue.done(.low)
        #expect(queue.report()["late"]?.registered == .seconds(2))
    }

    @Test("an empty queue has an empty report")
    func empty() async throws {
        let report = try await StartupQueue().run()
        #expect(report.tasks.isEmpty)
        #expect(report.makespan == .zero)
        #expect(report.blameText + report.criticalChainText + report.picture() == "")
    }

    @Test("events report each task, in order")
    func events() async throws {
        let (record, time) = (Record(), ManualTimeSource())
        let queue = StartupQueue(width: 1, time: time) { event in
            switch event {
            case .started(let task, let worker): record.add("\(task) started on \(worker)")
            case .ended(let task, let outcome, let after):
                record.add("\(task) \(outcome) after \(after)")
            case .endedLate: record.add("late")
            }
        }
        try queue.register([
            StartupTask("a") { time.advance(by: .seconds(1)) },
            StartupTask("b", after: ["a"]) { throw Boom() },
            StartupTask("c", after: ["b"]) {},
        ])
        _ = try await queue.run()
        #expect(
            record.all == [
                "a started on 1", "a succeeded after 1.0 seconds", "b started on 1",
                "b failed: boom after 0.0 seconds",
                "c skipped: it runs after 'b', which failed: boom after 0.0 seconds",
            ])
    }
}
