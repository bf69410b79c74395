/// An instant in the form of ISO 8601, such as `2026-03-01T09:41:00.123Z` or `2026-03-01T10:41:00+01:00`.
///
/// In parameters and in JSON it is text. Routes read Foundation's `Date` from the same text and write it as
/// such; this type does without Foundation.
public struct DateTime: Hashable, Sendable, Comparable {
    /// Whole seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public let seconds: Int
    /// The rest, 0 to 999 999 999.
    public let nanoseconds: Int

    /// Creates an instant, clamped to the years 1970 to 9999.
    ///
    /// - Parameters:
    ///   - seconds: Whole seconds since 1970-01-01T00:00:00Z.
    ///   - nanoseconds: The rest, 0 to 999 999 999.
    public init(seconds: Int, nanoseconds: Int = 0) {
        self.seconds = min(max(seconds, 0), 253_402_300_799)
        self.nanoseconds = min(max(nanoseconds, 0), 999_999_999)
    }

    /// Reads an instant of the years 1970 to 9999.
    ///
    /// Date, `T`, time of day, and `Z` or an offset; seconds may have a fraction of up to nine digits.
    public init?(_ text: String) {
        // The longest form has nine digits of a fraction and an offset.
        guard text.utf8.count <= 35 else { return nil }
        var reader = DateTimeReader(bytes: Array(text.utf8))
        guard let (seconds, nanoseconds) = reader.read(), 0...253_402_300_799 ~= seconds else {
            return nil
        }
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Returns whether one instant is earlier than the other.
    public static func < (one: DateTime, other: DateTime) -> Bool {
        (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
    }

    /// The seconds since 2001, as Foundation's date counts them.
    var secondsSince2001: Double { Double(seconds - 978_307_200) + Double(nanoseconds) / 1e9 }

    init?(secondsSince2001 seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        let whole = seconds.rounded(.down)
        // A double of this size is exact to less than a microsecond.
        let microseconds = ((seconds - whole) * 1e6).rounded(.down)
        self.init(seconds: Int(whole) + 978_307_200, nanoseconds: Int(microseconds) * 1000)
    }
}

extension DateTime: CustomStringConvertible {
    /// The instant in UTC, with as many fractional digits as it has.
    public var description: String {
        let text = WallTime(seconds: seconds, nanoseconds: nanoseconds).iso8601
        var fraction = "\(1_000_000_000 + nanoseconds)".dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(text.prefix(19))\(fraction.isEmpty ? "" : ".")\(fraction)Z"
    }
}

extension DateTime: Codable {
    /// Reads the instant from text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = DateTime(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a time such as 2026-03-01T09:41:00Z")
        }
        self = time
    }

    /// Writes the instant as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension WallTime {
    /// Reads an instant of the years 1970 to 9999, as ``DateTime`` does.
    package init?(_ text: String) {
        guard let time = DateTime(text) else { return nil }
        self.init(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }
}

private struct DateTimeReader {
    // An array, since a view of a string checks at each step where the string is.
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func digit() -> Int? {
        guard let byte = next, 0x30...0x39 ~= byte else { return nil }
        index += 1
        return Int(byte - 0x30)
    }

    private mutating func number(_ digits: Int) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    mutating func read() -> (seconds: Int, nanoseconds: Int)? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"),
            let day = number(2), skip("T"), let hour = number(2), skip(":"), let minute = number(2),
            skip(":"), let second = number(2), let fraction = fraction(), let offset = offset(),
            next == nil, 1...12 ~= month, 1...Self.days(in: month, of: year) ~= day, hour < 24,
            minute < 60, second < 60
        else { return nil }
        let days = Self.day(year, month, day)
        return (days * 86_400 + hour * 3600 + minute * 60 + second - offset, fraction)
    }

    private mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        var value = 0
        var digits = 0
        while digits < 9, let digit = digit() {
            value = value * 10 + digit
            digits += 1
        }
        guard digits > 0 else { return nil }
        for _ in digits..<9 { value *= 10 }
        return value
    }

    private mutating func offset() -> Int? {
        if skip("Z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours < 24,
            minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970-01-01, counted from March so that the leap day is the last of its year.
    private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * monthFromMarch + 2) / 5
            + day - 1 - 719_468
    }
}
