import Metrics
import MetricsTestKit
import ModuleHostMetrics
import ModuleHostTesting
import Testing

/// A main module that counts messages.
final class CountingModule: RootProvider, MessageResponder {
    let topics = ["news"]
    let root: String? = nil

    init(context: ModuleContext) {}

    func receive(_ message: Message) {}
}

@Suite("The metrics of a host", .timeLimit(.minutes(2)))
struct MetricsExporterTests {
    /// The backend of the tests; each has an app of its own.
    private static let backend: TestMetrics = {
        let backend = TestMetrics()
        MetricsSystem.bootstrap(backend)
        return backend
    }()

    private var backend: TestMetrics { Self.backend }

    private func slatefile(_ app: String, interval: String = "10s") -> String {
        """
        { "slate": 1, "app": "\(app)", "modules": [
          { "id": "x.main", "entry": "ModuleHostMetricsTests.CountingModule", "main": true },
          { "id": "x.metrics", "entry": "ModuleHostMetrics.MetricsExporter", "config": { "interval": "\(interval)" } } ] }
        """
    }

    private func start(_ app: String) async throws -> TestHost {
        // Before the first reading.
        _ = backend
        let host = try await TestHost(slatefile: slatefile(app))
        try await host.logged("reading 1 of the metrics is done", by: "x.metrics")
        return host
    }

    /// The messages that were counted.
    private func messages(_ app: String) throws -> Int64 {
        try backend.expectCounter("hostd_events_total", [("app", app), ("event", "message")])
            .totalValue
    }

    @Test("they are read at the launch, after each interval, and not between")
    func interval() async throws {
        let host = try await start("interval")
        #expect(try messages("interval") == 0)
        try await host.post("news")
        try await host.advance(by: .milliseconds(9_999))
        #expect(try messages("interval") == 0)
        try await host.advance(by: .milliseconds(1))
        try await host.logged("reading 2 of the metrics is done", by: "x.metrics")
        #expect(try messages("interval") == 1)
        try await host.post("news")
        try await host.advance(by: .seconds(10))
        try await host.logged("reading 3 of the metrics is done", by: "x.metrics")
        #expect(try messages("interval") == 2)
        #expect(await host.stop() == .stopped)
    }

    @Test("counters, gauges and labels are those of 'hostd metrics'")
    func families() async throws {
        let host = try await start("families")
        try await host.post("news")
        #expect(await host.stop() == .stopped)
        _ = try backend.expectGauge(
            "hostd_module_state", [("app", "families"), ("module", "x.main"), ("state", "running")])
        let deliveries = try backend.expectCounter(
            "hostd_module_handling_seconds_count", [("app", "families"), ("module", "x.main")])
        #expect(deliveries.totalValue > 0)
        let start = try backend.expectGauge(
            "hostd_process_start_time_seconds", [("app", "families")])
        #expect(try #require(start.lastValue) > 1_000_000_000)
    }

    @Test("they are read at the end, after the last event")
    func end() async throws {
        let host = try await start("end")
        for _ in 0..<3 { try await host.post("news") }
        #expect(await host.stop() == .stopped)
        #expect(try messages("end") == 3)
        let busy = try backend.expectGauge("hostd_busy", [("app", "end")])
        #expect(busy.lastValue == 0)
        #expect(!host.records.contains { $0.level >= .warning })
    }

    @Test("a module that a reload replaces has nothing counted twice")
    func reload() async throws {
        let host = try await start("reload")
        for _ in 0..<3 { try await host.post("news") }
        try await host.reload(slatefile: slatefile("reload", interval: "20s"))
        try await host.logged("is due in 20", by: "x.metrics")
        try await host.advance(by: .seconds(20))
        try await host.logged("reading 2 of the metrics is done", by: "x.metrics")
        #expect(await host.stop() == .stopped)
        #expect(try messages("reload") == 3)
    }

    @Test("with a process of its own it fails, and says why")
    func isolated() async throws {
        let exporter = TestModule(
            entry: "ModuleHostMetrics.MetricsExporter", id: "x.metrics",
            more: #""isolation": "process""#)
        let host = try await TestHost(modules: [exporter], .init(executable: "MeteredShop"))
        try await host.logged("a process of its own cannot read", by: "x.metrics")
        #expect(await host.stop() == .stopped)
    }
}
