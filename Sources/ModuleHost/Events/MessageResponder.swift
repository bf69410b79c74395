/// A module that receives messages on topics.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported, and the other modules still receive the message.
public protocol MessageResponder: Module {
    /// The topics to receive: each an exact name, or a prefix such as `user.*` (every topic that begins with
    /// `user.`), or `*` (every topic). Read once, when the first message arrives.
    var topics: [String] { get }

    /// Delivers a message on one of the module's topics.
    ///
    /// - Parameter message: The message.
    /// - Throws: Any error; it is reported under the module's name.
    func receive(_ message: Message) throws
}

extension MessageResponder where Self: TopicListener {
    /// The topics that the class declares.
    public var topics: [String] { Self.topics }
}

enum MessageEvent: EventDefinition {
    static let facts = EventFacts(
        payload: Message.self, code: 26,
        handler: "receive(_ message: Message)",
        example: #"{"topic": "tea", "payload": 1}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any MessageResponder.Type
    }

    static func content(of event: LifecycleEvent) -> Message? {
        if case .message(let message) = event.content { message } else { nil }
    }

    static func concerns(
        _ listener: EventListener<any MessageResponder>, _ member: Member,
        _ message: Message
    ) -> Bool {
        member.wants(message.topic) { listener.call(direct: \.topics, wildcard: \.topics) }
    }

    /// Returns the topics of the messages that an object receives; none if it receives no messages.
    static func topics(of object: AnyObject) -> [String] {
        EventListener<any MessageResponder>(object, of: .message)?
            .call(direct: \.topics, wildcard: \.topics) ?? []
    }

    static func notify(
        _ module: any MessageResponder, _ message: Message, as _: Member
    ) throws -> EventReply {
        try module.receive(message)
        return .received
    }
}
