import AppService

/// The reader of durations in the form of the slatefile: `"250ms"`, `"2s"`, `"1m"`, `"1h"`.
///
/// A whole number and a unit, with nothing between them; more than zero, and a day at most.
enum DurationReader {
    /// The longest valid duration.
    static let limit = Duration.seconds(24 * 60 * 60)

    /// The regular expression of the JSON Schema, which leaves the limit to this type.
    static let pattern = "^0*[1-9][0-9]*(ms|s|m|h)$"

    /// Reads `text`.
    static func read(_ text: String) throws(DurationError) -> Duration {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let unsigned = isNegative ? text.utf8.dropFirst() : text.utf8[...]
        let digits = unsigned.prefix { 0x30..<0x3A ~= $0 }
        let unit = String(Substring(unsigned.dropFirst(digits.count)))
        guard !digits.isEmpty else { throw .malformed(text) }
        if unit.hasPrefix(".") || unit.hasPrefix(",") { throw .fractional(text) }
        guard let scale = milliseconds(of: unit) else {
            if unit.isEmpty, !isNegative { throw .unitless(excerpt(text)) }
            if unit.isEmpty { throw .negative(text) }
            throw unit.allSatisfy(\.isLetter) ? .unknownUnit(unit, of: text) : .malformed(text)
        }
        if isNegative { throw .negative(text) }
        // More digits than an Int holds are more than a day in any unit.
        guard let number = Int(Substring(digits)),
            number <= 24 * 60 * 60 * 1000 / scale
        else { throw .tooLong(text) }
        guard number > 0 else { throw .zero(text) }
        return .milliseconds(number * scale)
    }

    /// Returns a duration in the form of the slatefile, in the largest unit that gives it exactly.
    static func text(of duration: Duration) -> String {
        let milliseconds = duration.wholeNanoseconds / 1_000_000
        for unit in ["h", "m", "s"] {
            if let scale = Self.milliseconds(of: unit), milliseconds % scale == 0 {
                return "\(milliseconds / scale)\(unit)"
            }
        }
        return "\(milliseconds)ms"
    }

    private static func milliseconds(of unit: String) -> Int? {
        switch unit {
        case "ms": 1
        case "s": 1_000
        case "m": 60_000
        case "h": 3_600_000
        default: nil
        }
    }
}

extension Duration {
    /// Reads a duration as the slatefile writes it, such as `250ms` or `2s`.
    package init(reading text: String) throws(DurationError) {
        self = try DurationReader.read(text)
    }
}

/// The reason why a text is not a valid duration.
package enum DurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No unit follows the number; `number` is as it was written.
    case unitless(String)
    /// The unit is not one of the four.
    case unknownUnit(String, of: String)
    /// The number has a fraction.
    case fractional(String)
    /// The number is below zero.
    case negative(String)
    /// The duration is zero.
    case zero(String)
    /// The duration is longer than a day.
    case tooLong(String)
    /// The text does not resemble a duration.
    case malformed(String)

    /// The error in words, with the right form.
    package var description: String {
        switch self {
        case .unitless(let text):
            "a duration needs its unit: \"\(text)ms\", \"\(text)s\" or \"\(text)m\"?"
        case .unknownUnit(let unit, let text):
            "no unit \(quoted(unit)) in \(quoted(text)); the units are ms, s, m and h"
        case .fractional(let text):
            "a duration is a whole number and a unit, such as \"1500ms\": \(quoted(text))"
        case .negative(let text):
            "a duration cannot be negative: \(quoted(text))"
        case .zero(let text):
            "a duration must be more than nothing: \(quoted(text))"
        case .tooLong(let text):
            "a duration is at most \"24h\": \(quoted(text))"
        case .malformed(let text):
            "expected a duration such as \"250ms\", \"2s\" or \"1m\", found \(quoted(text))"
        }
    }
}
