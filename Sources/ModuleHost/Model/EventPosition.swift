/// The position of a durable event in the inbox: the number of its segment, and its offset in that file.
///
/// Positions grow in the order of acceptance, and are never reused. A module that stores the position of an
/// event together with the event's effect, in one transaction, can recognize a repeated one and so acts
/// exactly once:
///
/// ```swift
/// if let position = context.position, position <= store.position { return }   // done before
/// ```
///
/// As text it is `segment:offset`, such as `3:4096`.
public struct EventPosition: Hashable, Comparable, Sendable {
    /// The segment's number, from 1.
    public let segment: UInt32
    /// The offset of the event's first byte in the segment, from 0.
    public let offset: UInt32

    /// Creates a position.
    ///
    /// - Parameters:
    ///   - segment: The segment's number, from 1.
    ///   - offset: The offset in the segment, from 0.
    public init(segment: UInt32, offset: UInt32) {
        self.segment = segment
        self.offset = offset
    }

    /// Returns whether one event was accepted before another.
    public static func < (left: EventPosition, right: EventPosition) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The position in one word; never 0, since segments are counted from 1.
    package var rawValue: UInt64 { UInt64(segment) << 32 | UInt64(offset) }

    /// - Returns: Nil for 0, which stands for no position.
    package init?(rawValue: UInt64) {
        guard rawValue >> 32 > 0 else { return nil }
        segment = UInt32(truncatingIfNeeded: rawValue >> 32)
        offset = UInt32(truncatingIfNeeded: rawValue)
    }
}

extension EventPosition: LosslessStringConvertible {
    /// The position as text, such as `3:4096`.
    public var description: String {
        // Not an interpolation, which takes three times as long: two lines for each durable event have it.
        String(segment) + ":" + String(offset)
    }

    /// Reads a position from its text.
    ///
    /// - Returns: Nil for any other text.
    public init?(_ description: String) {
        let parts = description.utf8.split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, let segment = Self.number(parts[0]),
            let offset = Self.number(parts[1]), segment > 0
        else { return nil }
        self.init(segment: segment, offset: offset)
    }

    /// Reads a number of digits only: no sign, and no zero before another digit, so that each position has
    /// one text.
    private static func number(_ digits: Substring.UTF8View) -> UInt32? {
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return UInt32(String(Substring(digits)))
    }
}

extension EventPosition: Codable {
    /// Reads a position from its text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let position = EventPosition(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a position such as \"3:4096\"")
        }
        self = position
    }

    /// Writes the position as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
