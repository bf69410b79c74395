/// A message on a topic: a name that sender and receivers agree on, and JSON.
public struct Message: Decodable, Sendable {
    /// The topic, such as `user.signed-in`.
    public var topic: String
    /// The payload, if there is one.
    public var payload: JSONValue?
}

/// The parameters of a request to post a message.
struct PostRequest: Decodable, Sendable {
    let topic: String
    let payload: JSONValue?
    let traceparent: TraceContext?
}

extension Message: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        if let message = Message(payload) { return try message.content() }
        return try Message(payload, of: .message).content()
    }

    /// Reads a message without a decoder, which costs several times as much; nil where the payload has any
    /// other form than ``JSONWriter`` gives it.
    private init?(_ payload: JSONValue) {
        guard let topic = payload["topic"]?.string else { return nil }
        let content = payload["payload"]
        guard payload.count == (content == nil ? 1 : 2) else { return nil }
        self.topic = topic
        self.payload = content.flatMap { $0.isNull ? nil : $0 }
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
