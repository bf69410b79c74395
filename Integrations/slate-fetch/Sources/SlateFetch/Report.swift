/// A thing that an operator should know about the published slatefile: what, where, why, and what to do.
struct Report: Error, Hashable, Sendable, CustomStringConvertible {
    /// The subject of a report: one with the subject of the last one is not logged again.
    enum Subject: Hashable, Sendable {
        /// The place is not reachable, or has nothing.
        case away, missing
        case unreadable
        case notSigned(version: Int)
        case unknownKey(version: Int)
        case badSignature(version: Int)
        case otherApp(version: Int)
        case old(version: Int)
        case differs(version: Int)
        /// The host's own file.
        case record
        case notTaken(version: Int)
        case rolledBack(version: Int)
        case awaited(version: Int)
        case waits(version: Int, stage: Int)
        case inEffect(version: Int)
    }

    let subject: Subject
    let text: String

    init(_ subject: Subject, _ text: String) { (self.subject, self.text) = (subject, text) }

    /// Whether an operator has to do something.
    var isProblem: Bool {
        switch subject {
        case .awaited, .waits, .inEffect: false
        default: true
        }
    }

    var description: String { text }
}
