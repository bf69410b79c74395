import Foundation
import Glibc
import ModuleHost
import Served

// Signal to handler: `Signals BARE` measures every way, each in a process of its own; BARE is the limit in C. `Signals WAY` and
// `Signals loop` are such processes.

private let rounds = 5
/// The limit in C.
let barePath = CommandLine.arguments.dropFirst().first ?? ""

if let way = SignalWay(rawValue: barePath) {
    way.receive()
} else if barePath == "loop" {
    WitnessLoop.measure()
} else if !barePath.isEmpty {
    try measureAll()
} else {
    FileHandle.standardError.write(Data("usage: Signals BARE\n".utf8))
    exit(64)
}

/// Measures everything, and prints the tables.
func measureAll() throws {
    // In turn, so that what else the machine does falls on all alike.
    var metrics: [SignalWay: [SignalFigures]] = [:]
    var slopes: [Double] = []
    var loops: [Double] = []
    for number in 0..<rounds {
        for way in SignalWay.allCases.turns(inRound: number) {
            metrics[way, default: []].append(try measure(way))
        }
        loops.append(try WitnessLoop.run())
        if let few = metrics[.few]?.last, let crowd = metrics[.crowd]?.last {
            slopes.append(Double(crowd.waiting - few.waiting) / Double(1000 - 100))
        }
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
    print("\n| an event of a waiting burst | ns a delivery |\n|---|---:|")
    for (title, figures) in [
        ("slope from 100 to 1000 modules", slopes),
        ("loop of witness calls over 1000 modules", loops),
    ] {
        print("| \(title) | \(String(format: "%.1f", figures.sorted()[rounds / 2])) |")
    }
    try measurePlaced()
}

/// Measures lone signals where the sender and the receiver share a core, and where each has its own; prints the table.
func measurePlaced() throws {
    let ways: [SignalWay] = [.bare, .host]
    var metrics = Placement.allCases.map { _ in ways.map { _ in [Int]() } }
    for number in 0..<rounds {
        for (place, placement) in Placement.allCases.enumerated() {
            for (index, way) in ways.enumerated().turns(inRound: number) {
                metrics[place][index].append(try measureLone(way, placement))
            }
        }
    }
    let columns = Placement.allCases.map { "alone, \($0.title): ns" }
    print("\n| sender and receiver on | \(columns.joined(separator: " | ")) |\n|---|---:|---:|")
    for (index, way) in ways.enumerated() {
        let medians = metrics.map { String(median($0[index])) }
        print("| \(way.title) | \(medians.joined(separator: " | ")) |")
    }
}

/// A way to take signals.
enum SignalWay: String, CaseIterable {
    case bare, host, few, crowd, dispatch

    var title: String {
        switch self {
        case .bare: "bare `sigwaitinfo` thread"
        case .host: "ours: signal thread, lane, module"
        case .few: "ours, an event that 100 modules receive"
        case .crowd: "ours, an event that 1000 modules receive"
        case .dispatch: "`DispatchSource`"
        }
    }

    /// The time that a burst may take, in microseconds.
    var pause: UInt32 { self == .crowd ? 2_000_000 : 500_000 }
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
