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
        String(unsafeUninitializedCapacity: 24) { buffer in
            var text = OutputSpan(buffer: buffer, initializedCount: 0)
            appendISO8601(to: &text)
            return text.finalize(for: buffer)
        }
    }

    /// Appends ``iso8601`` as ASCII: 24 bytes.
    public func appendISO8601(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 24) { appendISO8601(to: &$0) }
    }

    private func appendISO8601(to text: inout OutputSpan<UInt8>) {
        let (seconds, nanoseconds) = self.representable
        let (year, month, day) = Self.date(ofDay: seconds / 86_400)
        text.append(twoDigits: year / 100)
        text.append(twoDigits: year % 100)
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: month)
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: day)
        text.append(UInt8(ascii: "T"))
        Self.appendTimeOfDay(seconds % 86_400, nanoseconds, to: &text)
        text.append(UInt8(ascii: "Z"))
    }

    /// Appends the local time of day of this machine, such as `09:41:00.123`: 12 bytes.
    package func appendLocalTimeOfDay(to bytes: inout [UInt8]) {
        var seconds = time_t(self.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let ofDay = Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + Int(parts.tm_sec)
        bytes.append(addingCapacity: 12) { Self.appendTimeOfDay(ofDay, nanoseconds, to: &$0) }
    }

    private static let lastSecond = 253_402_300_799  // 9999-12-31T23:59:59Z

    private var representable: (seconds: Int, nanoseconds: Int) {
        if seconds < 0 { return (0, 0) }
        if seconds > Self.lastSecond { return (Self.lastSecond, 999_999_999) }
        return (seconds, nanoseconds)
    }

    private static func appendTimeOfDay(
        _ seconds: Int, _ nanoseconds: Int, to text: inout OutputSpan<UInt8>
    ) {
        text.append(twoDigits: seconds / 3600)
        text.append(UInt8(ascii: ":"))
        text.append(twoDigits: seconds / 60 % 60)
        text.append(UInt8(ascii: ":"))
        text.append(twoDigits: seconds % 60)
        text.append(UInt8(ascii: "."))
        text.append(digit: UInt8(truncatingIfNeeded: nanoseconds / 100_000_000 % 10))
        text.append(twoDigits: nanoseconds / 1_000_000 % 100)
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

extension OutputSpan<UInt8> {
    /// Appends a decimal digit.
    @inline(__always)
    fileprivate mutating func append(digit: UInt8) { append(UInt8(ascii: "0") &+ digit) }

    /// Appends the two decimal digits of a number from 0 to 99.
    @inline(__always)
    fileprivate mutating func append(twoDigits number: Int) {
        let number = UInt8(truncatingIfNeeded: number)
        append(digit: number / 10)
        append(digit: number % 10)
    }
}

extension WallTime: Comparable {
    /// Returns whether `left` is earlier than `right`.
    public static func < (left: WallTime, right: WallTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}
