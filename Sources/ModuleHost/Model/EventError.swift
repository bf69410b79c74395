/// The reason why input from outside is not a valid event.
public struct EventError: Error, Hashable, Sendable {
    /// The requested kind of event.
    public let kind: EventKind
    /// The reason.
    package let reason: Reason

    /// The kinds of reason.
    package enum Reason: Hashable, Sendable {
        /// Only the host itself sends this event.
        case hostsOwn
        /// There is a payload, and the event takes none.
        case takesNoPayload
        /// There is no payload, and the event needs one.
        case payloadMissing
        /// The payload does not have the form that the event takes.
        case payload(JSONError)
        /// The URL to open is not valid.
        case url(RouteURLError)
        /// A message has no topic.
        case topicMissing
        /// A module has posted too many events that are not delivered yet; the limit in words.
        case tooManyPosted(String)
    }

    init(_ kind: EventKind, _ reason: Reason) {
        self.kind = kind
        self.reason = reason
    }
}

extension EventError: CustomStringConvertible {
    /// One line for a log, such as `event 'background' takes no payload`.
    public var description: String {
        switch reason {
        case .hostsOwn: "event '\(kind.rawValue)' is given by the host itself, never from outside"
        case .takesNoPayload: "event '\(kind.rawValue)' takes no payload"
        case .payloadMissing: "event '\(kind.rawValue)' needs a payload"
        case .payload(let error): "event '\(kind.rawValue)' cannot take this payload: \(error)"
        case .url(let error): "event '\(kind.rawValue)': \(error)"
        case .topicMissing: "event '\(kind.rawValue)' needs a topic, such as user.signed-in"
        case .tooManyPosted(let limit):
            "event '\(kind.rawValue)' was not posted: \(limit); post the rest after the current event, "
                + "for example from a timer"
        }
    }
}
