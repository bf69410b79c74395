/// A message on a topic: a name that sender and receivers agree on, and JSON.
public struct Message: Decodable, Sendable {
    /// The topic, such as `user.signed-in`.
    public var topic: String
    /// The payload, if there is one.
    public var payload: JSONValue?
}

extension Message: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        try Message(payload, of: .message).content()
    }

    /// - Throws: ``EventError`` for an empty topic.
    func content() throws(EventError) -> LifecycleEvent.Content {
        guard !topic.isEmpty else { throw EventError(.message, .topicMissing) }
        return .message(self)
    }
}

/// Returns whether `topic` matches `pattern`.
func isTopic(_ topic: String, wantedBy pattern: String) -> Bool {
    guard pattern.utf8.last == UInt8(ascii: "*") else { return topic == pattern }
    return topic.utf8.starts(with: pattern.utf8.dropLast())
}
