import AllocationCount
import Benchmark
import Dispatch
import Foundation
import MeasuredModules
import ModuleHost

// One iteration measures every way in turn, over the same modules, so that what else the machine does
// falls on all of them alike. Metrics are picoseconds a delivery.

let benchmarks: @Sendable () -> Void = {
    for count in [10, 100, 1000] {
        Benchmark("Fan-out to \(count)", configuration: .fanOut) { benchmark in
            let peers = FanOutPeers.shared
            var metrics = await lane { center in
                measureOnLane(center, deliveries: deliveries, count: count)
            }
            metrics += await peers.measure(deliveries: deliveries / 10)
            for (way, value) in metrics { benchmark.measurement(way.metric, value) }
        } setup: {
            try MeasuredHost.start(pinged(count))
            let modules = await lane { center in HandedOver(members(of: center)) }
            // The word that each delivery moves is in the mapped file, as in any host.
            precondition(MeasuredHost.hasBlackBox)
            FanOutPeers.shared = FanOutPeers(modules.value)
        }
    }
}

/// Modules to ping, of two classes in turn.
private func pinged(_ count: Int) -> [MeasuredHost.Entry] {
    (0..<count).map { number in
        ("bench.m\(number)", number.isMultiple(of: 2) ? PingModule.self : OtherPingModule.self)
    }
}

/// How many deliveries one figure of one iteration is taken from.
private let deliveries = 100_000

/// A way to notify all modules.
enum Way: String, CaseIterable {
    case plain = "plain loop of witness calls (ps)"
    case host = "host's center, from a handler (ps)"
    case hostOver = "host's center over the plain loop (ps)"
    case own = "a center of one's own (ps)"
    case ownOver = "a center of one's own over the plain loop (ps)"
    case asynchronous = "async requirement, awaited (ps)"
    case queue = "DispatchQueue.sync to each one's queue (ps)"
    case notification = "NotificationCenter.post (ps)"
    case allocations = "allocations in all sends of a round"

    var metric: BenchmarkMetric {
        .custom(rawValue, polarity: .prefersSmaller, useScalingFactor: false)
    }
}

extension Benchmark.Configuration {
    fileprivate static var fanOut: Self {
        let metrics = Way.allCases.map(\.metric)
        return Self(
            metrics: metrics, units: Dictionary(uniqueKeysWithValues: metrics.map { ($0, .count) }),
            warmupIterations: 5, maxDuration: .seconds(5), maxIterations: 200)
    }
}

// MARK: On the lane

/// Runs `body` in a module's handler and hands back what it returns.
private func lane<Result>(
    _ body: @escaping @Sendable (CommunicationCenter) -> Result
) async -> Result {
    await withCheckedContinuation { continuation in
        LaneModule.run { context in
            continuation.resume(returning: HandedOver(body(context.center)))
        }
    }.value
}

/// The modules to ping, in order, as the center finds them.
private func members(of center: CommunicationCenter) -> [any PingResponder] {
    let found = Found()
    center.send(to: (any PingResponder).self) { found.modules.append($0) }
    return found.modules
}

/// `@unchecked Sendable`: filled by the lane alone, while `members(of:)` waits on its own stack.
private final class Found: @unchecked Sendable {
    var modules: [any PingResponder] = []
}

private func measureOnLane(
    _ center: CommunicationCenter, deliveries: Int, count: Int
) -> [(Way, Int)] {
    let modules = members(of: center)
    let own = CommunicationCenter()
    for module in modules { own.add(module) }
    let rounds = deliveries / count
    precondition(modules.count == count && sendAll(own) == count && sendAll(center) == count)

    let plain = picoseconds(of: count, rounds: rounds) { pingAll(modules) }
    let before = allocation_count()
    let host = picoseconds(of: count, rounds: rounds) { sendAll(center) }
    let free = picoseconds(of: count, rounds: rounds) { sendAll(own) }
    let allocations = allocation_count() - before
    return [
        (.plain, plain), (.host, host), (.hostOver, max(0, host - plain)), (.own, free),
        (.ownOver, max(0, free - plain)), (.allocations, Int(allocations)),
    ]
}

@inline(never)
private func pingAll(_ modules: [any PingResponder]) {
    for module in modules {
        do {
            try module.ping()
        } catch {
            print(error)
        }
    }
}

@inline(never)
@discardableResult
private func sendAll(_ center: CommunicationCenter) -> Int {
    center.send(to: (any PingResponder).self) { try $0.ping() }.delivered
}

// MARK: The others

/// Other ways to notify the same modules.
///
/// `@unchecked Sendable`: the lane waits while these are measured.
final class FanOutPeers: @unchecked Sendable {
    nonisolated(unsafe) static var shared = FanOutPeers([])

    private let modules: [any PingResponder]
    private let queued: [(any PingResponder, DispatchQueue)]
    private let center = NotificationCenter()
    private let tokens: [any NSObjectProtocol]

    init(_ modules: [any PingResponder]) {
        self.modules = modules
        queued = modules.map { ($0, DispatchQueue(label: "module")) }
        let center = center
        tokens = modules.map { module in
            let module = HandedOver(module)
            return center.addObserver(forName: .ping, object: nil, queue: nil) { _ in
                try? module.value.ping()
            }
        }
    }

    func measure(deliveries: Int) async -> [(Way, Int)] {
        let rounds = deliveries / modules.count
        let queue = picoseconds(of: modules.count, rounds: rounds, syncAll)
        let notification = picoseconds(of: modules.count, rounds: rounds, postAll)
        let began = ContinuousClock.now
        for _ in 0..<rounds { await awaitAll() }
        let took = (ContinuousClock.now - began) / .nanoseconds(1)
        let asynchronous = Int(took * 1000) / (rounds * modules.count)
        return [(.queue, queue), (.notification, notification), (.asynchronous, asynchronous)]
    }

    @inline(never)
    private func syncAll() {
        for (module, queue) in queued { queue.sync { try? module.ping() } }
    }

    @inline(never)
    private func postAll() { center.post(name: .ping, object: nil) }

    @inline(never)
    private func awaitAll() async {
        for module in modules { try? await module.pingLater() }
    }
}

extension Notification.Name {
    fileprivate static let ping = Notification.Name("ping")
}
