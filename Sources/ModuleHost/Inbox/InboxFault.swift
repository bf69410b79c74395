internal import AppService

/// The reasons why a line of the inbox is not a valid event.
package struct InboxFault: Error, Hashable, Sendable {
    /// The reasons, in the order of the line; never empty.
    package let reasons: [Reason]

    package enum Reason: Hashable, Sendable {
        // The line as such.

        /// More bytes than a record may have.
        case tooLong(bytes: Int, limit: Int)
        /// No newline at its end, and nothing will be appended there: its writer was cut off.
        case torn
        /// It lies where no position reaches: behind the first 4 GiB of a segment.
        case beyondReach
        /// No JSON: what is wrong, and where.
        case json(String)
        /// Another JSON value than an object; the value in words.
        case notObject(String)

        // Its members.

        /// A member that no record has; `nearest` is the one that its name most resembles.
        case unknownMember(String, nearest: String?)
        case eventMissing
        /// The kind of event is not a string; the value in words.
        case eventNotString(String)
        /// No event has this name; `nearest` is the one that it most resembles.
        case unknownEvent(String, nearest: String?)
        /// An event that does not go through the inbox.
        case notDurable(EventKind)
        /// The event cannot take the payload.
        case event(EventError)
        /// The id is not a string of 1 to 200 bytes; the value in words.
        case id(String)
        /// The time is not an RFC 3339 text; the value in words.
        case time(String)
        /// The modules are not an array with at least one name; the value in words.
        case modules(String)
        /// The name of a module is none.
        case moduleID(ModuleID.Fault)
        /// `retried` is neither true nor false; the value in words.
        case retried(String)
    }

    init(_ reasons: Reason...) { self.reasons = reasons }

    init(_ reasons: [Reason]) { self.reasons = reasons }
}

extension InboxFault: CustomStringConvertible {
    /// One line: all that is wrong, and what would be right.
    package var description: String { reasons.map(\.description).joined(separator: "; ") }
}

extension InboxFault.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let bytes, let limit):
            "a line of \(bytes) bytes; a record has at most \(limit)"
        case .torn:
            "the line has no end: whoever wrote it was cut off"
        case .beyondReach:
            "it stands behind the first 4 GiB of its segment, where no position reaches"
        case .json(let fault):
            "no JSON: \(fault)"
        case .notObject(let found):
            "expected an object such as {\"event\":\"push\",\"payload\":{…}}, found \(found)"
        case .unknownMember(let name, let nearest?):
            "unknown member \(quoted(name)); did you mean \(quoted(nearest))?"
        case .unknownMember(let name, nil):
            "unknown member \(quoted(name))"
        case .eventMissing:
            "'event' is missing: the name of an event, such as \"push\""
        case .eventNotString(let found):
            "'event' is the name of an event, such as \"push\"; found \(found)"
        case .unknownEvent(let name, let nearest?):
            "no event is called \(quoted(name)); did you mean \(quoted(nearest))?"
        case .unknownEvent(let name, nil):
            "no event is called \(quoted(name))"
        case .notDurable(let kind):
            "event '\(kind.rawValue)' has no payload, and so no place in the inbox"
        case .event(let error):
            error.description
        case .id(let found):
            "'id' is a string of 1 to 200 bytes; found \(found)"
        case .time(let found):
            "'time' is a time such as \"2026-03-01T09:41:00Z\"; found \(found)"
        case .modules(let found):
            "'modules' is an array of module ids, at least one; found \(found)"
        case .moduleID(let fault):
            "'modules': \(fault)"
        case .retried(let found):
            "'retried' is true or false; found \(found)"
        }
    }
}
