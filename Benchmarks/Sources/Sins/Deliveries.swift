import Foundation
import Served

/// A time in which something was done to the host.
struct Window {
    let begin: Int
    let end: Int

    func contains(_ time: Int) -> Bool { begin <= time && time < end }
}

/// How long events took to the ordinary modules, by what went on when they were sent.
struct Deliveries {
    private var metrics: [String: [Int]] = [:]

    static let calm = "before: 21 modules that behave"
    static let after = "after: the same"
    static let others = "while modules sin, and no module is waited for"
    static let waits = "… behind one that is waited for: at most its deadline, or that of its start"
    static let reloads = "in a reload that exchanges 20 modules"

    mutating func add(_ wait: Int, _ name: String) { metrics[name, default: []].append(wait) }

    func part(_ percent: Int, of name: String) -> Int {
        let sorted = metrics[name, default: []].sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
    }

    func printTable() {
        print(
            "| durable events to modules that behave | deliveries | p50, ms | p99, ms | worst, ms |"
        )
        print("|---|---:|---:|---:|---:|")
        for name in [Self.calm, Self.others, Self.waits, Self.reloads, Self.after] {
            let parts = [50, 99, 100].map { milliseconds(part($0, of: name)) }
            print(
                "| \(name) | \(metrics[name, default: []].count) | \(parts.joined(separator: " | ")) |"
            )
        }
    }
}

/// Nanoseconds as milliseconds with two decimals.
func milliseconds(_ nanoseconds: Int) -> String {
    let hundredths = nanoseconds / 10_000
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}

/// Converts times of the clock that is set to the one that is never set.
struct Clock {
    private let offset = Int(Date().timeIntervalSince1970 * 1e9) - Served.nanoseconds()

    func nanoseconds(_ date: Date) -> Int { Int(date.timeIntervalSince1970 * 1e9) - offset }
}
