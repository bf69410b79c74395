/// The name of the stream of one host: its host id, such as `7f3c09aa5d21e846`.
///
/// A host whose state directory went back in time begins a new stream, whose name has a suffix: `7f3c09aa5d21e846.9a1b2c3d`.
public struct StreamName: Hashable, Comparable, Sendable {
    /// The name as text.
    public let text: String

    /// The first stream of a host.
    ///
    /// - Parameter hostID: 16 hexadecimal digits; nil is returned for anything else.
    public init?(hostID: String) {
        guard Self.isHexadecimal(hostID.utf8, count: 16) else { return nil }
        text = hostID
    }

    /// The host id in the name.
    public var hostID: String { String(text.prefix(16)) }

    /// Returns another stream of the same host, with a random suffix.
    public func renewed() -> StreamName {
        let digits = String(UInt32.random(in: .min ... .max), radix: 16)
        let zeros = String(repeating: "0", count: 8 - digits.utf8.count)
        return StreamName(validated: "\(hostID).\(zeros)\(digits)")
    }

    private init(validated text: String) { self.text = text }

    /// Returns whether one name is sorted before another.
    public static func < (left: StreamName, right: StreamName) -> Bool { left.text < right.text }

    private static func isHexadecimal(_ text: some Collection<UInt8>, count: Int) -> Bool {
        text.count == count
            && text.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}

extension StreamName: LosslessStringConvertible {
    /// The name as text.
    public var description: String { text }

    /// Reads a name from its text.
    ///
    /// - Parameter description: A host id, and perhaps a period and eight more hexadecimal digits.
    public init?(_ description: String) {
        let parts = description.utf8.split(
            separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count <= 2, Self.isHexadecimal(parts[0], count: 16),
            parts.count == 1 || Self.isHexadecimal(parts[1], count: 8)
        else { return nil }
        text = description
    }
}
