internal import AppService

/// The reasons why a line of the inbox is not a valid event.
package struct InboxRecordError: Error, Hashable, Sendable {
    /// The reasons, in the order of the line; never empty.
    package let reasons: [Reason]

    package enum Reason: Hashable, Sendable {
        // The line itself.

        /// The line has more bytes than a record may have.
        case tooLong(bytes: Int, limit: Int)
        /// The line has no newline at its end, and nothing will be appended there: its writer was cut off.
        case torn
        /// The line lies beyond the reach of positions: behind the first 4 GiB of a segment.
        case beyondReach
        /// The line is not JSON: the error, and its place.
        case json(String)
        /// The line is another JSON value than an object; the value in words.
        case notObject(String)

        // The members of the record.

        /// The member is unknown; `nearest` is the most similar member.
        case unknownMember(String, nearest: String?)
        case eventMissing
        /// The kind of event is not a string; the value in words.
        case eventNotString(String)
        /// No event has this name; `nearest` is the most similar name.
        case unknownEvent(String, nearest: String?)
        /// The event is not delivered through the inbox.
        case notDurable(EventKind)
        /// The event cannot take the payload.
        case event(EventError)
        /// The id is not a string of 1 to 200 bytes; the value in words.
        case id(String)
        /// The time is not an RFC 3339 text; the value in words.
        case time(String)
        /// The source is not a string of 1 to 64 bytes; the value in words.
        case source(String)
        case trace(String)
        /// The modules are not an array with at least one name; the value in words.
        case modules(String)
        /// The name of a module is not valid.
        case moduleID(ModuleID.ParsingError)
        /// `retried` is neither true nor false; the value in words.
        case retried(String)
    }

    init(_ reasons: Reason...) { self.reasons = reasons }

    init(_ reasons: [Reason]) { self.reasons = reasons }
}

extension InboxRecordError: CustomStringConvertible {
    /// One line: all problems, with their remedies.
    package var description: String { reasons.map(\.description).joined(separator: "; ") }
}

extension InboxRecordError.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let bytes, let limit):
            "a line of \(bytes) bytes; a record has at most \(limit)"
        case .torn:
            "the line has no end: its writer was interrupted"
        case .beyondReach:
            "it lies beyond the first 4 GiB of its segment, which positions cannot reach"
        case .json(let error):
            "not valid JSON: \(error)"
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
            "unknown event \(quoted(name)); did you mean \(quoted(nearest))?"
        case .unknownEvent(let name, nil):
            "unknown event \(quoted(name))"
        case .notDurable(let kind):
            "event '\(kind.rawValue)' has no payload, and so no place in the inbox"
        case .event(let error):
            error.description
        case .id(let found):
            "'id' is a string of 1 to 200 bytes; found \(found)"
        case .time(let found):
            "'time' is a time such as \"2026-03-01T09:41:00Z\"; found \(found)"
        case .source(let found):
            "'source' is a string of 1 to 64 bytes; found \(found)"
        case .trace(let found):
            "'traceparent' is \(TraceContext.expectation); found \(found)"
        case .modules(let found):
            "'modules' is an array of module ids, at least one; found \(found)"
        case .moduleID(let error):
            "'modules': \(error)"
        case .retried(let found):
            "'retried' is true or false; found \(found)"
        }
    }
}
