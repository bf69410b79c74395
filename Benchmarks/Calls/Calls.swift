import Benchmark
import MeasuredModules
import ModuleHost

// One iteration measures every way in turn, so that what else the machine does falls on all alike. Metrics
// are picoseconds a call.

let benchmarks: @Sendable () -> Void = {
    Benchmark("Calls between modules", configuration: .calls) { benchmark in
        for (way, value) in await measured() { benchmark.measurement(way.metric, value) }
    } setup: {
        try MeasuredHost.start([("bench.called", CalledModule.self)])
    }
}

/// How many calls one figure of one iteration is taken from.
private let calls = 50_000

enum Way: String, CaseIterable {
    case plain = "the handler, called through a protocol (ps)"
    case closure = "a closure found in a dictionary by one name (ps)"
    case untyped = "perform without parameters (ps)"
    case untypedOver = "perform without parameters, over the handler (ps)"
    case typed = "perform, two typed parameters, typed reply (ps)"
    case url = "open the same by URL (ps)"
    case service = "services.resolve (ps)"
    case serviceCall = "services.call (ps)"

    var metric: BenchmarkMetric {
        .custom(rawValue, polarity: .prefersSmaller, useScalingFactor: false)
    }
}

extension Benchmark.Configuration {
    fileprivate static var calls: Self {
        let metrics = Way.allCases.map(\.metric)
        return Self(
            metrics: metrics, units: Dictionary(uniqueKeysWithValues: metrics.map { ($0, .count) }),
            warmupIterations: 5, maxDuration: .seconds(5), maxIterations: 100)
    }
}

private func measured() async -> [(Way, Int)] {
    await withCheckedContinuation { continuation in
        LaneModule.run { context in
            do {
                continuation.resume(returning: try measure(context))
            } catch {
                fatalError("a call failed: \(error)")
            }
        }
    }
}

private func measure(_ context: ModuleContext) throws -> [(Way, Int)] {
    let handler: any Counted = PlainHandler()
    let table: [String: (RouteCall) -> any Encodable & Sendable] = [
        "bench.called/count": { handler.count($0) }, "bench.called/sum": { handler.count($0) },
    ]
    let (mediator, router, services) = (context.mediator, context.router, context.services)
    let call = RouteCall(origin: .host)

    let plain = picoseconds(of: 1, rounds: calls) { _ = handler.count(call) }
    let closure = picoseconds(of: 1, rounds: calls) { _ = table["bench.called/count"]?(call) }
    let untyped = try picoseconds(of: 1, rounds: calls) {
        try mediator.perform("bench.called", "count")
    }
    let typed = try picoseconds(of: 1, rounds: calls) {
        let sum = try mediator.perform(
            "bench.called", "sum", ["left": 40, "right": 2], as: Int.self)
        precondition(sum == 42)
    }
    let url = try picoseconds(of: 1, rounds: calls) {
        let sum = try router.value(for: "bench://bench.called/sum?left=40&right=2", as: Int.self)
        precondition(sum == 42)
    }
    let service = try picoseconds(of: 1, rounds: calls) {
        _ = try services.resolve((any Counting).self)
    }
    let serviceCall = try picoseconds(of: 1, rounds: calls) {
        _ = try services.call((any Counting).self) { $0.count(1) }
    }
    return [
        (.plain, plain), (.closure, closure), (.untyped, untyped),
        (.untypedOver, max(0, untyped - plain)), (.typed, typed), (.url, url),
        (.service, service), (.serviceCall, serviceCall),
    ]
}

/// The handler as a protocol's requirement.
private protocol Counted: AnyObject {
    func count(_ call: RouteCall) -> Int
}

private final class PlainHandler: Counted {
    private var calls = 0

    @inline(never)
    func count(_ call: RouteCall) -> Int {
        calls &+= 1
        return calls
    }
}
