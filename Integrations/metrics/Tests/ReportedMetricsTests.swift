import Metrics
import MetricsTestKit
import Testing

@testable import ModuleHostMetrics

@Suite("Metrics that are reported")
struct ReportedMetricsTests {
    private let backend = TestMetrics()

    private func report(_ metrics: ReportedMetrics, _ lines: String...) async throws {
        try await metrics.report { Self.types + lines.map { $0 + "\n" }.joined() }
    }

    private static let types = """
        # TYPE hostd_busy gauge
        hostd_busy{app="shop"} 0

        """

    private func events(_ count: Int) -> String {
        """
        # TYPE hostd_events_total counter
        hostd_events_total{app="shop",event="push"} \(count)
        """
    }

    private func state(_ state: String) -> String {
        """
        # TYPE hostd_module_state gauge
        hostd_module_state{app="shop",module="a",state="\(state)"} 1
        """
    }

    private func time(_ seconds: Double) -> String {
        """
        # TYPE hostd_module_process_cpu_seconds_total counter
        hostd_module_process_cpu_seconds_total{app="shop",module="a"} \(seconds)
        """
    }

    @Test("a counter grows by what was added since the last reading, and never falls")
    func counter() async throws {
        let metrics = ReportedMetrics(factory: backend)
        for count in [3, 3, 5, 2, 7] { try await report(metrics, events(count)) }
        let counter = try backend.expectCounter(
            "hostd_events_total", [("app", "shop"), ("event", "push")])
        // The fourth is that of another host in the program.
        #expect(counter.values == [3, 2, 2, 5])
    }

    @Test("seconds keep their fractions")
    func seconds() async throws {
        let kept = KeptSeconds()
        let metrics = ReportedMetrics(factory: kept)
        for seconds in [0.25, 0.5, 0.125] {
            try await report(metrics, state("running"), time(seconds))
        }
        #expect(kept.amounts.withLock { $0 } == [0.25, 0.25, 0.125])
    }

    @Test("a gauge has the value of each reading")
    func gauge() async throws {
        let metrics = ReportedMetrics(factory: backend)
        for value in [4.5, 4.5, 1] {
            try await report(metrics, #"hostd_module_behind{app="shop",module="a"} \#(value)"#)
        }
        let gauge = try backend.expectGauge(
            "hostd_module_behind", [("app", "shop"), ("module", "a")])
        #expect(gauge.values == [4.5, 4.5, 1])
    }

    @Test("a gauge that the host no longer has becomes 0 and is removed")
    func formerState() async throws {
        let metrics = ReportedMetrics(factory: backend)
        try await report(metrics, state("running"))
        let running = try backend.expectGauge(
            "hostd_module_state", [("app", "shop"), ("module", "a"), ("state", "running")])
        try await report(metrics, state("failed"))
        #expect(running.values == [1, 0])
        #expect(backend.recorders.map(\.label).filter { $0 == "hostd_module_state" }.count == 1)
        #expect(metrics.count == 2)
    }

    @Test("a counter stays as long as its module, and goes on with the next process")
    func counterOfModule() async throws {
        let kept = KeptSeconds()
        let metrics = ReportedMetrics(factory: kept)
        try await report(metrics, state("running"), time(2))
        try await report(metrics, state("restarting"))
        try await report(metrics, state("running"), time(1))
        #expect(kept.amounts.withLock { $0 } == [2, 1])
        #expect(kept.removed.withLock { $0 } == 0)
        try await report(metrics)
        #expect(kept.removed.withLock { $0 } == 1)
        #expect(metrics.count == 1)
    }

    @Test("nothing is removed while the host is busy, and leaves the metrics of modules out")
    func busy() async throws {
        let metrics = ReportedMetrics(factory: backend)
        try await report(metrics, state("running"))
        try await metrics.report { #"hostd_busy{app="shop"} 1"# }
        let running = try backend.expectGauge(
            "hostd_module_state", [("app", "shop"), ("module", "a"), ("state", "running")])
        #expect(running.values == [1])
    }

    @Test("the metrics of another app are left alone")
    func otherApp() async throws {
        let metrics = ReportedMetrics(factory: backend)
        try await report(metrics, state("running"))
        try await metrics.report { #"hostd_busy{app="other"} 0"# }
        #expect(metrics.count == 3)
        let running = try backend.expectGauge(
            "hostd_module_state", [("app", "shop"), ("module", "a"), ("state", "running")])
        #expect(running.values == [1])
    }

    @Test("metrics of the process have a name of their own")
    func process() async throws {
        let metrics = ReportedMetrics(factory: backend)
        try await report(metrics, #"process_resident_memory_bytes{app="shop"} 5"#)
        _ = try backend.expectGauge("hostd_process_resident_memory_bytes", [("app", "shop")])
    }

    @Test("one reading is reported after the other", .timeLimit(.minutes(1)))
    func turns() async throws {
        let metrics = ReportedMetrics(factory: backend)
        let (first, later) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let text = Self.types
        let (former, next) = (text + events(3) + "\n", text + events(5) + "\n")
        async let one: Void = metrics.report {
            later.continuation.finish()
            // It was read early, and comes late.
            for await _ in first.stream {}
            return former
        }
        for await _ in later.stream {}
        async let two: Void = metrics.report { next }
        first.continuation.finish()
        _ = try await (one, two)
        let counter = try backend.expectCounter(
            "hostd_events_total", [("app", "shop"), ("event", "push")])
        #expect(counter.values == [3, 2])
    }

    @Test("a reading that fails gives its turn to the next")
    func fails() async throws {
        struct Failure: Error {}
        let metrics = ReportedMetrics(factory: backend)
        await #expect(throws: Failure.self) { try await metrics.report { throw Failure() } }
        try await report(metrics, events(1))
        _ = try backend.expectCounter("hostd_events_total", [("app", "shop"), ("event", "push")])
    }
}

/// A backend that keeps what is added to counters with fractions.
private final class KeptSeconds: MetricsFactory, Sendable {
    let amounts = Guarded<[Double]>([])
    let removed = Guarded(0)

    private final class Seconds: FloatingPointCounterHandler {
        let kept: KeptSeconds

        init(_ kept: KeptSeconds) { self.kept = kept }

        func increment(by amount: Double) { kept.amounts.withLock { $0.append(amount) } }
        func reset() {}
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { Seconds(self) }
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        NOOPMetricsHandler.instance
    }
    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { NOOPMetricsHandler.instance }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        NOOPMetricsHandler.instance
    }
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        removed.withLock { $0 += 1 }
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
