import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A calendar instant, for logs and journals.
///
/// Never for measuring: clocks are set.
public struct WallTime: Hashable, Sendable {
    /// Whole seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public let seconds: Int
    /// The rest, 0 to 999 999 999.
    public let nanoseconds: Int

    /// Creates an instant.
    ///
    /// - Parameters:
    ///   - seconds: Whole seconds since 1970.
    ///   - nanoseconds: The rest, 0 to 999 999 999.
    public init(seconds: Int, nanoseconds: Int = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Returns the current instant.
    public static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// The instant in UTC with milliseconds, such as `2026-03-01T09:41:00.123Z`.
    ///
    /// Milliseconds are cut, not rounded, so that the text is never ahead of the time. Exact for the years
    /// 1970 to 9999; other instants are clamped to them.
    public var iso8601: String {
        var bytes: [UInt8] = []
        appendISO8601(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``iso8601`` as ASCII: 24 bytes.
    public func appendISO8601(to bytes: inout [UInt8]) {
        let (seconds, nanoseconds) = self.representable
        let (year, month, day) = Self.date(ofDay: seconds / 86_400)
        bytes.appendDecimal(year / 100, digits: 2)
        bytes.appendDecimal(year % 100, digits: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendDecimal(month, digits: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendDecimal(day, digits: 2)
        bytes.append(UInt8(ascii: "T"))
        Self.appendTimeOfDay(seconds % 86_400, nanoseconds, to: &bytes)
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Appends the local time of day of this machine, such as `09:41:00.123`: 12 bytes.
    package func appendLocalTimeOfDay(to bytes: inout [UInt8]) {
        var seconds = time_t(self.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let ofDay = Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + Int(parts.tm_sec)
        Self.appendTimeOfDay(ofDay, nanoseconds, to: &bytes)
    }

    private static let lastSecond = 253_402_300_799  // 9999-12-31T23:59:59Z

    private var representable: (seconds: Int, nanoseconds: Int) {
        if seconds < 0 { return (0, 0) }
        if seconds > Self.lastSecond { return (Self.lastSecond, 999_999_999) }
        return (seconds, nanoseconds)
    }

    private static func appendTimeOfDay(
        _ seconds: Int, _ nanoseconds: Int, to bytes: inout [UInt8]
    ) {
        bytes.appendDecimal(seconds / 3600, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.appendDecimal(seconds / 60 % 60, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.appendDecimal(seconds % 60, digits: 2)
        bytes.append(UInt8(ascii: "."))
        bytes.appendDecimal(nanoseconds / 1_000_000, digits: 3)
    }

    /// Returns the Gregorian date of the day that lies `day` days after 1970-01-01.
    ///
    /// Counts from 0000-03-01, so that the leap day is the last of its year: 400 years are then
    /// 146 097 days, and the months' lengths follow one line of slope 153 ÷ 5.
    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let fromMarch = day + 719_468
        let era = fromMarch / 146_097
        let dayOfEra = fromMarch % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfMonth)
    }
}

extension [UInt8] {
    /// Appends the last `digits` decimal digits of a number that is not negative.
    fileprivate mutating func appendDecimal(_ value: Int, digits: Int) {
        if digits == 3 { append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 100 % 10)) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10 % 10))
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }
}
