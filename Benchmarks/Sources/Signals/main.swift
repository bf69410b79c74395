import Foundation
import Glibc
import ModuleHost

// Signal to handler: `Signals` alone measures every way, each in a process of its own; `Signals WAY`
// is that process.

if let name = CommandLine.arguments.dropFirst().first {
    guard let way = SignalWay(rawValue: name) else { fatalError("no way to take signals: \(name)") }
    way.receive()
} else {
    let rounds = 5
    // In turn, so that what else the machine does falls on all alike.
    var metrics: [SignalWay: [SignalFigures]] = [:]
    for _ in 0..<rounds {
        for way in SignalWay.allCases { metrics[way, default: []].append(try measure(way)) }
    }
    print("| way | arrived | sent while it takes: ns | found waiting: ns | alone: ns |")
    print("|---|---:|---:|---:|---:|")
    for way in SignalWay.allCases {
        guard let metrics = metrics[way] else { continue }
        let arrived = metrics.map(\.arrived).min() ?? 0
        let medians = [\SignalFigures.live, \.waiting, \.lone].map { figure in
            String(median(metrics.map { $0[keyPath: figure] }))
        }
        print(
            "| \(way.title) | \(arrived) of \(burstCount) | \(medians.joined(separator: " | ")) |")
    }
}

/// A way to take signals.
enum SignalWay: String, CaseIterable {
    case bare, host, crowd, dispatch

    var title: String {
        switch self {
        case .bare: "bare `sigwaitinfo` thread"
        case .host: "ours: signal thread, lane, module"
        case .crowd: "ours, an event that 1000 modules receive"
        case .dispatch: "`DispatchSource`"
        }
    }
}

/// What a signal costs on its way to the handler, in nanoseconds.
struct SignalFigures {
    /// How many of a burst arrived.
    let arrived: Int
    /// For each that arrived of a burst that another process sends meanwhile, as fast as it can: from
    /// the first `sigqueue` to the last handler, shared out.
    let live: Int
    /// For each that arrived of a burst that waits already: from the first handler to the last.
    let waiting: Int
    /// For one that comes alone, from `sigqueue` to the handler; two threads are woken on our way,
    /// one on the others.
    let lone: Int
}

func median(_ values: [Int]) -> Int { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
