/// The exact value of a number in a JSON text, of any length.
///
/// The value is `0.digits` times the power of ten `exponent + shift`.
struct JSONNumber {
    private let isNegative: Bool
    /// The digits, without zeros at either end; empty for zero.
    private let digits: [UInt8]
    /// The exponent as it is written.
    private let exponent: Exponent
    /// The number of digits before the point, less the zeros at the beginning.
    private let shift: Int

    /// Reads the text of a number, which is valid JSON.
    init(_ text: ArraySlice<UInt8>) {
        let mark = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? text.endIndex
        let isNegative = text.first == UInt8(ascii: "-")
        let written = text[..<mark].dropFirst(isNegative ? 1 : 0)
        let point = written.firstIndex(of: UInt8(ascii: ".")) ?? written.endIndex
        let digits = written[..<point] + written[point...].dropFirst()
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        let end = significant.lastIndex { $0 != UInt8(ascii: "0") }.map { $0 + 1 }
        self.isNegative = isNegative
        self.digits = Array(significant[..<(end ?? significant.startIndex)])
        shift = written[..<point].count - (digits.count - significant.count)
        exponent = Exponent(text[mark...].dropFirst())
    }

    /// A whole number with its sign, of any length.
    private struct Exponent {
        private let sign: Int
        private let digits: ArraySlice<UInt8>

        init(_ text: ArraySlice<UInt8>) {
            sign = text.first == UInt8(ascii: "-") ? -1 : 1
            digits = text.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        }

        /// Returns the signed digit at an index, counted from the end.
        private func digit(at index: Int) -> Int {
            index < digits.count
                ? sign * Int(digits[digits.endIndex - 1 - index] - UInt8(ascii: "0")) : 0
        }

        /// Returns the difference from another one; nil where it is larger than the shifts of two texts
        /// can be.
        func distance(to other: Exponent) -> Int? {
            var distance = 0
            for index in (0..<max(digits.count, other.digits.count)).reversed() {
                distance = distance * 10 + other.digit(at: index) - digit(at: index)
                // Two digits differ by at most 18: from here on it only grows.
                if abs(distance) > 1 << 40 { return nil }
            }
            return distance
        }
    }
}

extension JSONNumber: Equatable {
    static func == (one: JSONNumber, other: JSONNumber) -> Bool {
        guard one.digits == other.digits else { return false }
        if one.digits.isEmpty { return true }
        return one.isNegative == other.isNegative
            && one.exponent.distance(to: other.exponent) == one.shift - other.shift
    }
}
