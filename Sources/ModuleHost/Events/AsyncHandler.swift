/// The asynchronous handler of a module for one kind of event.
struct AsyncHandler {
    /// Returns the topics of the messages that it receives.
    var topics: () -> [String] = { [] }
    /// Handles an event, as code of the module.
    let run: Run

    typealias Run = @Sendable (LifecycleEvent, isolated any Actor) async throws -> EventReply
}

/// A module as a receiver of one kind of event through its asynchronous handler.
final class AsyncListener: WildcardResponder {
    private let handler: AsyncHandler
    /// Nil for an object that is only asked what it receives.
    private let handlers: OpenHandlers?

    init(_ handler: AsyncHandler, of handlers: OpenHandlers?) {
        (self.handler, self.handlers) = (handler, handlers)
    }

    func receives(_: EventKind) -> Bool { true }

    var topics: [String] { handler.topics() }

    func hear(_ event: LifecycleEvent) throws -> EventReply {
        try handlers?.hear(event, handler) ?? .notConcerned
    }
}

extension AsyncHandler {
    /// Returns errors for a class that has both a handler and an asynchronous one for the same event.
    ///
    /// - Parameter entry: The name of the class.
    static func conflicts(in type: any Module.Type, named entry: String) -> [String] {
        let both = [
            (
                "BackgroundResponder", type is any BackgroundResponder.Type,
                type is any AsyncBackgroundResponder.Type
            ),
            (
                "TerminationResponder", type is any TerminationResponder.Type,
                type is any AsyncTerminationResponder.Type
            ),
            (
                "MessageResponder", type is any MessageResponder.Type,
                type is any AsyncMessageResponder.Type
            ),
            (
                "RemoteNotificationResponder", type is any RemoteNotificationResponder.Type,
                type is any AsyncRemoteNotificationResponder.Type
            ),
            (
                "LocalNotificationResponder", type is any LocalNotificationResponder.Type,
                type is any AsyncLocalNotificationResponder.Type
            ),
        ]
        return both.filter { $0.1 && $0.2 }.map { name, _, _ in
            "'\(entry)' is a \(name) and an Async\(name), and one of them would never be called: "
                + "leave one out"
        }
    }
}
