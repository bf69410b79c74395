/// The proof that a stream belongs to one host, and not to a copy of its state directory.
///
/// Each start of a host makes a new mark, and puts it in the place of the former one. So a host whose engine has a mark that it never
/// made is a copy, or the one that was copied: either way it must not write there.
public struct StreamOwner: Hashable, Sendable {
    /// The stream.
    public let name: StreamName
    /// The mark of this start: 32 hexadecimal digits.
    public let mark: String
    /// The marks that the engine may have from earlier starts.
    public let formerMarks: [String]

    /// Creates the proof of one start.
    ///
    /// - Parameters:
    ///   - name: The stream.
    ///   - mark: A new mark, which is on the disk of the host.
    ///   - formerMarks: The earlier ones that the engine may have.
    public init(name: StreamName, mark: String, formerMarks: [String] = []) {
        self.name = name
        self.mark = mark
        self.formerMarks = formerMarks
    }

    /// Returns a mark that no other start makes.
    public static func newMark() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    /// Returns whether a mark of the engine is one of this host.
    package func isMine(_ other: String) -> Bool { other == mark || formerMarks.contains(other) }

    /// The error if it is not.
    package func ownedElsewhere(at place: String) -> StreamError {
        .owned(
            "stream \(name) of \(place) belongs to another host with the same host id: a state directory "
                + "was copied or restored. This host must begin a new stream")
    }

    /// The error if the stream has, or had, another event.
    package func diverged(at position: StreamPosition, isMissing: Bool) -> StreamError {
        .diverged(
            position,
            "stream \(name) is beyond event \(position), and "
                + (isMissing ? "does not have it" : "has another event there")
                + ": the state directory of this host went back in time, or is a copy. This host must "
                + "begin a new stream")
    }
}
