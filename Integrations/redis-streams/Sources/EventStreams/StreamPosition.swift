/// The position of an event in the stream of its host: that in the inbox in which it was accepted.
///
/// Positions grow in a stream, and are unique in it. The text of one is `3-4096`, as Redis writes the ids of entries.
public struct StreamPosition: Hashable, Comparable, Sendable {
    /// The number of the inbox's segment.
    public let segment: UInt64
    /// The offset in the segment.
    public let offset: UInt64

    /// Creates a position.
    public init(segment: UInt64, offset: UInt64) {
        self.segment = segment
        self.offset = offset
    }

    /// The position before every event.
    public static let start = StreamPosition(segment: 0, offset: 0)

    /// Returns whether one event was accepted before another.
    public static func < (left: StreamPosition, right: StreamPosition) -> Bool {
        (left.segment, left.offset) < (right.segment, right.offset)
    }

    /// The greatest position that is less; ``start`` has none, and is its own.
    public var predecessor: StreamPosition {
        if offset > 0 { return StreamPosition(segment: segment, offset: offset - 1) }
        return segment > 0 ? StreamPosition(segment: segment - 1, offset: .max) : self
    }

    /// The least position that is greater; the greatest has none, and is its own.
    public var successor: StreamPosition {
        if offset < .max { return StreamPosition(segment: segment, offset: offset + 1) }
        return segment < .max ? StreamPosition(segment: segment + 1, offset: 0) : self
    }
}

extension StreamPosition: LosslessStringConvertible {
    /// The position as text, such as `3-4096`.
    public var description: String { "\(segment)-\(offset)" }

    /// Reads a position from its text.
    ///
    /// - Parameter description: Two numbers, as in `3-4096`, or as an inbox writes them, `3:4096`.
    public init?(_ description: String) {
        let parts = description.split(
            maxSplits: 2, omittingEmptySubsequences: false,
            whereSeparator: { $0 == "-" || $0 == ":" })
        guard parts.count == 2, let segment = Self.number(parts[0]),
            let offset = Self.number(parts[1])
        else { return nil }
        self.init(segment: segment, offset: offset)
    }

    /// Digits only: a sign is not a part of a position.
    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            ? UInt64(text) : nil
    }
}
