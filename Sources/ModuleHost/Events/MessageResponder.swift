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

/// A module that receives messages on topics, and takes its time for each.
///
/// ```swift
/// final class Indexer: AsyncMessageResponder {
///     let topics = ["document.changed"]
///
///     func receive(_ message: Message, isolation: isolated any Actor) async throws {
///         let text = try await store.text(of: message)    // off the lane
///         index.add(text)                                 // in the module
///     }
/// }
/// ```
///
/// - Order: Slatefile order. The module receives the next event when it has returned from this one; other modules, and calls
///   to this one, do not wait for it. A durable message is done when the last module has returned.
/// - Thread: That of the module: one slice from one suspension to the next, never beside other code of the module.
/// - Deadline: `deadlines.call`, 30 s unless the slatefile says otherwise: then its task is cancelled and it has failed, and a
///   durable message becomes a dead letter of this module. Each slice has `deadlines.event`.
/// - Failure: Throwing is reported, and the other modules still receive the message.
public protocol AsyncMessageResponder: Module {
    /// The topics to receive, as those of a ``MessageResponder``.
    var topics: [String] { get }

    /// Delivers a message on one of the module's topics.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - isolation: The isolation of the module's asynchronous code; see ``RunningModule/run(isolation:)``.
    /// - Throws: Any error; it is reported under the module's name.
    func receive(_ message: Message, isolation: isolated any Actor) async throws
}

extension AsyncMessageResponder where Self: TopicListener {
    /// The topics that the class declares.
    public var topics: [String] { Self.topics }
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
        type is any MessageResponder.Type || type is any AsyncMessageResponder.Type
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

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncMessageResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler(topics: { module.openInModule().topics }) { event, isolation in
                guard case .message(let message) = event.content else { return .notConcerned }
                try await module.openInModule().receive(message, isolation: isolation)
                return .received
            }
        }
    }

    static func notify(
        _ module: any MessageResponder, _ message: Message, as _: Member
    ) throws -> EventReply {
        try module.receive(message)
        return .received
    }
}
