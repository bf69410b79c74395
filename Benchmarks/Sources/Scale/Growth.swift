import Foundation
import Served

/// What one thing costs at growing sizes, in nanoseconds or bytes.
struct Growth {
    let title: String
    let unit: String
    let sizes: [Int]
    let metrics: [Int]

    /// How the cost grows from the last size but one to the last: 1 where it grows as the size does.
    var exponent: Double {
        let count = sizes.count
        return log(Double(metrics[count - 1]) / Double(max(1, metrics[count - 2])))
            / log(Double(sizes[count - 1]) / Double(sizes[count - 2]))
    }

    /// Well above what is linear and noise, and below what is quadratic.
    var isLinear: Bool { exponent < 1.4 }

    /// Returns the least of two measurements at each size: other programs make a time longer, and never shorter.
    func least(_ other: Growth) -> Growth {
        Growth(
            title: title, unit: unit, sizes: sizes,
            metrics: zip(metrics, other.metrics).map { min($0, $1) })
    }

    func printRow() {
        let slots = metrics.map { figure in
            unit == "ms"
                ? String(format: "%.1f", Double(figure) / 1e6) : String(figure >> 10)
        }
        print(
            "| \(title), \(unit) | \(slots.joined(separator: " | ")) "
                + "| \(String(format: "%.2f", exponent)) | \(isLinear ? "yes" : "NO") |")
    }
}
