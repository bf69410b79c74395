/// A thing that an operator should know about the published slatefile: what, where, why, and what to do.
struct Report: Error, Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        /// The place does not answer.
        case away
        /// The place has nothing, or cannot be read.
        case noInput
        /// Something that was found is not valid, not accepted, or did not work.
        case refused
        /// Nothing has to be done.
        case progress
    }

    /// The Unicode scalars of a text, some of which may come from the place.
    static let limit = 1000

    let kind: Kind
    let text: String

    init(_ kind: Kind, _ text: String) {
        (self.kind, self.text) = (kind, excerpt(text, limit: Self.limit))
    }

    /// Whether an operator has to do something.
    var isProblem: Bool { kind != .progress }

    var description: String { text }
}

/// Returns text from elsewhere for a message, cut to a number of Unicode scalars: a character has no limit of its own.
///
/// Control characters are left to the log and ``Terminal``, which escape them.
func excerpt(_ text: String, limit: Int = 60) -> String {
    let scalars = text.unicodeScalars.prefix(limit)
    return scalars.endIndex < text.endIndex ? String(scalars) + "…" : text
}
