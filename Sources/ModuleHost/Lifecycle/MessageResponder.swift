/// A message on a topic: a name that sender and receivers agree on, and JSON.
public struct Message: Decodable, Sendable {
    /// What it is about, such as `user.signed-in`.
    public var topic: String
    /// What it says, if anything.
    public var payload: JSONValue?
}

/// A module that listens to topics.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported and does not keep the message from the other modules.
public protocol MessageResponder: Module {
    /// The topics to hear: each an exact name, or a prefix such as `user.*` (every topic that
    /// begins with `user.`), or `*` (every topic). Asked once, when
    /// the first message comes.
    var topics: [String] { get }

    /// Tells the module of a message on one of its topics.
    ///
    /// - Parameter message: The message.
    /// - Throws: Any error; it is reported under the module's name.
    func receive(_ message: Message) throws
}

/// Whether `topic` is one that `pattern` asks for.
func isTopic(_ topic: String, wantedBy pattern: String) -> Bool {
    guard pattern.utf8.last == UInt8(ascii: "*") else { return topic == pattern }
    return topic.utf8.starts(with: pattern.utf8.dropLast())
}
