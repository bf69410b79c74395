/// An event in the life of the app, as modules receive it.
public struct LifecycleEvent: Sendable {
    /// Everything that stays the same once the event is created.
    ///
    /// By reference: an event is copied into the job of the lane, each broadcast and the log, and a payload has
    /// many fields.
    private let fixed: Fixed
    /// The number of the event in the host's log of events, from 0, in the order of delivery; it starts over
    /// with each run of the host.
    var sequence: UInt64 = 0
    /// The entry in the inbox; nil for an event that is not durable.
    var entry: InboxEntry?
    /// In a module's process, the number of the request that sent it; 0 for none.
    var request = 0
    /// The modules for whose answers the app does not wait before it goes on.
    var laterAnswers = LaterAnswers.none

    /// The modules that may answer an event later.
    enum LaterAnswers {
        case none
        /// Those in processes of their own: the event is a step of a stop. For an asynchronous handler in the host's process the app
        /// does not wait at all: it is a hold.
        case processes
        case all
    }

    private final class Fixed: Sendable {
        let kind: EventKind
        let origin: Origin
        /// The decoded payload.
        let content: Content
        /// The payload as it came from outside; nil where `content` is equivalent.
        let given: JSONValue?
        let trace: TraceContext?

        init(
            _ kind: EventKind, _ origin: Origin, given: JSONValue?, _ content: Content,
            _ trace: TraceContext?
        ) {
            self.kind = kind
            self.origin = origin
            self.given = given
            self.content = content
            self.trace = trace
        }
    }

    /// The payload as a typed value.
    enum Content: Sendable {
        case none
        case launch(Launch)
        case push(RemoteNotification)
        case deviceToken(DeviceToken)
        case registrationFailure(RegistrationFailure)
        case notificationSettings(NotificationSettings)
        case localNotification(LocalNotification)
        /// The URL without its token, which is passed beside it to the check of access.
        case url(RouteURL, RouteToken?)
        case activity(UserActivity)
        case shortcut(Shortcut)
        case configuration(ConfigurationReload)
        case message(Message)
    }

    private init(
        _ kind: EventKind, _ origin: Origin, given: JSONValue? = nil, _ content: Content,
        trace: TraceContext? = nil
    ) {
        fixed = Fixed(kind, origin, given: given, content, trace)
    }

    /// The kind of event.
    public var kind: EventKind { fixed.kind }
    /// The origin of the event.
    public var origin: Origin { fixed.origin }
    /// The decoded payload.
    var content: Content { fixed.content }
    /// The topic of a message; nil for other events.
    public var topic: String? {
        if case .message(let message) = content { message.topic } else { nil }
    }
    /// The trace that the event is a part of; nil for none.
    package var trace: TraceContext? { fixed.trace }

    /// Creates an event from outside.
    ///
    /// - Parameters:
    ///   - kind: The kind of event. `launch` and `configuration-changed` are the host's own.
    ///   - payload: The payload, if the event takes one.
    ///   - origin: The origin of the event.
    /// - Throws: ``EventError`` if the event cannot come from outside, takes no payload, lacks its
    ///   payload, or cannot take this one.
    public init(
        _ kind: EventKind, payload: JSONValue? = nil, origin: Origin
    ) throws(EventError) {
        guard !kind.isHostsOwn else { throw EventError(kind, .hostsOwn) }
        guard let type = kind.payloadType else {
            guard payload == nil else { throw EventError(kind, .takesNoPayload) }
            self.init(kind, origin, .none)
            return
        }
        guard let payload else { throw EventError(kind, .payloadMissing) }
        let content = try type.content(from: payload)
        // Modules receive neither the token nor a payload that contains it.
        if case .url(_, .some) = content {
            self.init(kind, origin, content)
        } else {
            self.init(kind, origin, given: payload, content)
        }
    }

    static func launch(_ launch: Launch) -> LifecycleEvent {
        LifecycleEvent(.launch, launch.origin, .launch(launch))
    }

    static func reload(_ reload: ConfigurationReload, origin: Origin) -> LifecycleEvent {
        LifecycleEvent(.configurationChanged, origin, .configuration(reload))
    }

    /// Returns an event of the state machine: it has no payload.
    static func state(_ kind: EventKind, origin: Origin) -> LifecycleEvent {
        LifecycleEvent(kind, origin, .none)
    }

    /// Returns a request to open a URL.
    ///
    /// - Parameter token: The caller's token, which takes precedence over one in the URL.
    /// - Throws: ``RouteURLError`` if the text is not a URL.
    static func openURL(
        _ text: String, token: RouteToken? = nil, origin: Origin
    ) throws(RouteURLError) -> LifecycleEvent {
        let (url, own) = try RouteURL(text).separatingToken()
        return LifecycleEvent(.openURL, origin, .url(url, token ?? own))
    }

    /// Returns a message on a topic.
    ///
    /// - Throws: ``EventError`` for an empty topic.
    static func message(
        topic: String, payload: JSONValue?, origin: Origin
    ) throws(EventError) -> LifecycleEvent {
        let message = Message(topic: topic, payload: payload)
        return LifecycleEvent(.message, origin, try message.content())
    }

    /// Returns the same event from another origin.
    func from(_ origin: Origin) -> LifecycleEvent {
        LifecycleEvent(kind, origin, given: fixed.given, content, trace: trace)
    }

    /// Returns the same event as a part of a trace.
    func traced(by trace: TraceContext?) -> LifecycleEvent {
        guard let trace else { return self }
        var event = LifecycleEvent(kind, origin, given: fixed.given, content, trace: trace)
        (event.sequence, event.entry, event.laterAnswers) = (sequence, entry, laterAnswers)
        event.request = request
        return event
    }
}

extension LifecycleEvent {
    /// The place of the event in a distributed trace: the `traceparent` of W3C Trace Context that its sender gave it, or that
    /// the module was a part of which sent it; nil for none.
    public var traceparent: String? { trace?.text }

    /// The payload as JSON: as received, except a URL's token.
    ///
    /// May contain users' secrets: log the kind of the event instead.
    public var payload: JSONValue? {
        if let given = fixed.given { return given }
        return content.payloadWriter.flatMap(JSONValue.init(writing:))
    }

    /// Returns the error of a handler with its place in the payload, instead of the place in the request or record with
    /// which the payload came.
    func placed(_ error: any Error) -> any Error {
        guard let error = error as? JSONError else { return error }
        if let given = fixed.given { return error.placed(in: given) }
        guard case .message(let message) = content, let payload = message.payload else {
            return error
        }
        return error.placed(in: payload, at: "/payload")
    }

    /// Writes the payload as a member; nothing where there is none.
    func writePayload(as key: String, to json: inout JSONWriter) {
        if let given = fixed.given { return json.member(key, raw: given.textBytes) }
        if let write = content.payloadWriter { json.member(key, write) }
    }

    /// The bytes of memory that the payload keeps.
    var footprint: Int { fixed.given?.footprint ?? content.footprint }
}

extension LifecycleEvent.Content {
    /// Writes a payload that was not given as JSON; nil where there is none.
    fileprivate var payloadWriter: ((inout JSONWriter) -> Void)? {
        switch self {
        case .url(let url, _):
            { $0.object { $0.member("url", url.text) } }
        case .message(let message):
            {
                $0.object {
                    $0.member("topic", message.topic)
                    if let payload = message.payload {
                        $0.member("payload", raw: payload.textBytes)
                    }
                }
            }
        case .none, .launch, .push, .deviceToken, .registrationFailure, .notificationSettings,
            .localNotification, .activity, .shortcut, .configuration:
            nil
        }
    }

    fileprivate var footprint: Int {
        switch self {
        case .url(let url, _): url.text.utf8.count
        case .message(let message):
            message.topic.utf8.count + (message.payload?.footprint ?? 0)
        case .none, .launch, .push, .deviceToken, .registrationFailure, .notificationSettings,
            .localNotification, .activity, .shortcut, .configuration:
            0
        }
    }
}
