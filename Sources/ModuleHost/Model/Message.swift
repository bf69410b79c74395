/// A message on a topic: a name that sender and receivers agree on, and JSON.
public struct Message: Decodable, Sendable {
    /// What it is about, such as `user.signed-in`.
    public var topic: String
    /// What it says, if anything.
    public var payload: JSONValue?
}

/// Whether `topic` is one that `pattern` asks for.
func isTopic(_ topic: String, wantedBy pattern: String) -> Bool {
    guard pattern.utf8.last == UInt8(ascii: "*") else { return topic == pattern }
    return topic.utf8.starts(with: pattern.utf8.dropLast())
}
