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
    /// The position up to which earlier starts have published, as the disk of the host says.
    ///
    /// Entries up to there may be removed. A host that died gives some of those events again, and they count as published.
    public let published: StreamPosition

    /// Creates the proof of one start.
    ///
    /// - Parameters:
    ///   - name: The stream.
    ///   - mark: A new mark, which is on the disk of the host.
    ///   - formerMarks: The earlier ones that the engine may have.
    ///   - published: The position up to which earlier starts have published.
    public init(
        name: StreamName, mark: String, formerMarks: [String] = [],
        published: StreamPosition = .start
    ) {
        self.name = name
        self.mark = mark
        self.formerMarks = formerMarks
        self.published = published
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

    /// Compares an event with the entry that the stream has at its position.
    ///
    /// - Parameter fields: The names and values of the entry; nil if there is none.
    /// - Throws: ``StreamError/diverged(_:_:)``.
    package func compare(_ event: StreamEvent, with fields: [[UInt8]]?) throws(StreamError) {
        // A host that has joined or left a group since is no other host.
        let entry = fields.map {
            StreamEntry(source: name, position: event.position, fields: $0)
        }
        if let there = try? entry?.event(), there.isSameMessage(as: event) { return }
        if fields == nil, event.position <= published { return }
        throw .diverged(
            event.position,
            "stream \(name) is beyond event \(event.position), and "
                + (fields == nil ? "does not have it" : "has another event there")
                + ": the state directory of this host went back in time, or is a copy. This host must "
                + "begin a new stream")
    }
}
