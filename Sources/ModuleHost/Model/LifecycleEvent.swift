/// One thing that happened in the app's life: what modules hear.
public struct LifecycleEvent: Sendable {
    /// The kind of event.
    public let kind: EventKind
    /// The origin of the event.
    public let origin: Origin
    /// The payload, as it came.
    ///
    /// May hold secrets of the users: log its kind instead.
    public let payload: JSONValue?
    /// Its number in the host's log of events, from 0, in the order of delivery; of one run of the host.
    var sequence: UInt64 = 0
    /// Its entry in the inbox; nil for what is not durable.
    var entry: InboxEntry?

    /// The payload as what it means.
    let content: Content

    enum Content: Sendable {
        case none
        case launch(Launch)
        case push(RemoteNotification)
        case deviceToken(DeviceToken)
        case registrationFailure(RegistrationFailure)
        case notificationSettings(NotificationSettings)
        case localNotification(LocalNotification)
        /// Without its token, which goes beside it to where access is decided.
        case url(RouteURL, RouteToken?)
        case activity(UserActivity)
        case shortcut(Shortcut)
        case configuration(ConfigurationReload)
        case message(Message)
    }

    private init(_ kind: EventKind, _ origin: Origin, _ payload: JSONValue?, _ content: Content) {
        self.kind = kind
        self.origin = origin
        self.payload = payload
        self.content = content
    }

    /// Makes an event from what came from outside.
    ///
    /// - Parameters:
    ///   - kind: What kind of event. `launch` and `configuration-changed` are the host's own.
    ///   - payload: What came along with it.
    ///   - origin: Who caused it.
    /// - Throws: ``EventError`` where the event cannot come from outside, takes no payload, lacks its
    ///   payload, or cannot take this one.
    public init(
        _ kind: EventKind, payload: JSONValue? = nil, origin: Origin
    ) throws(EventError) {
        let content = try Self.content(of: kind, payload)
        if case .url(let url, let token?) = content {
            // What modules hear of it has no token either.
            let payload = Self.payload { $0.member("url", url.text) }
            self.init(kind, origin, payload, .url(url, token))
        } else {
            self.init(kind, origin, payload, content)
        }
    }

    static func launch(_ launch: Launch) -> LifecycleEvent {
        LifecycleEvent(.launch, launch.origin, nil, .launch(launch))
    }

    static func reload(_ reload: ConfigurationReload, origin: Origin) -> LifecycleEvent {
        LifecycleEvent(.configurationChanged, origin, nil, .configuration(reload))
    }

    /// An event of the state machine: it has no payload.
    static func state(_ kind: EventKind, origin: Origin) -> LifecycleEvent {
        LifecycleEvent(kind, origin, nil, .none)
    }

    /// A request to open a URL.
    ///
    /// - Parameters:
    ///   - text: The URL. A token in it is taken out.
    ///   - token: The caller's token, which counts before one of the URL.
    ///   - origin: Who asks.
    /// - Returns: The event.
    /// - Throws: Where the text is no URL.
    static func openURL(
        _ text: String, token: RouteToken? = nil, origin: Origin
    ) throws(URLFault) -> LifecycleEvent {
        let (url, own) = try RouteURL(text).separatingToken()
        let payload = payload { $0.member("url", url.text) }
        return LifecycleEvent(.openURL, origin, payload, .url(url, token ?? own))
    }

    /// A message on a topic.
    static func message(
        topic: String, payload: JSONValue?, origin: Origin
    ) throws(EventError) -> LifecycleEvent {
        if topic.isEmpty { throw EventError(.message, .topicMissing) }
        let whole = Self.payload { object in
            object.member("topic", topic)
            if let payload { object.member("payload", raw: payload.text.utf8) }
        }
        return LifecycleEvent(
            .message, origin, whole, .message(Message(topic: topic, payload: payload)))
    }

    private static func payload(
        _ fill: (inout JSONWriter) -> Void
    ) -> JSONValue? {
        var writer = JSONWriter()
        writer.object(fill)
        return try? JSONValue(parsing: writer.bytes)
    }

    /// The same event from another origin.
    func from(_ origin: Origin) -> LifecycleEvent {
        LifecycleEvent(kind, origin, payload, content)
    }

    private static func content(
        of kind: EventKind, _ payload: JSONValue?
    ) throws(EventError) -> Content {
        guard !kind.isHostsOwn else { throw EventError(kind, .hostsOwn) }
        guard kind.payloadType != nil else {
            guard payload == nil else { throw EventError(kind, .takesNoPayload) }
            return .none
        }
        guard let payload else { throw EventError(kind, .payloadMissing) }
        let url: String?
        let content: Content
        do throws(JSONError) {
            url = kind == .openURL ? try payload.decode(OpenURLRequest.self).url : nil
            content = try Self.content(of: kind, payload: payload)
        } catch {
            throw EventError(kind, .payload(error))
        }
        if let url { return try openURL(url) }
        if case .message(let message) = content, message.topic.isEmpty {
            throw EventError(kind, .topicMissing)
        }
        return content
    }

    private static func openURL(_ text: String) throws(EventError) -> Content {
        do throws(URLFault) {
            let (url, token) = try RouteURL(text).separatingToken()
            return .url(url, token)
        } catch {
            throw EventError(.openURL, .url(error))
        }
    }

    private static func content(
        of kind: EventKind, payload: JSONValue
    ) throws(JSONError) -> Content {
        switch kind {
        case .push:
            var notification = try payload.decode(RemoteNotification.self)
            notification.payload = payload
            return .push(notification)
        case .pushRegistered: return .deviceToken(try payload.decode())
        case .pushRegistrationFailed: return .registrationFailure(try payload.decode())
        case .notificationSettings: return .notificationSettings(try payload.decode())
        case .localNotification: return .localNotification(try payload.decode())
        case .userActivity: return .activity(try payload.decode())
        case .shortcut: return .shortcut(try payload.decode())
        case .message: return .message(try payload.decode())
        case .launch, .activate, .resignActive, .background, .foreground, .terminate,
            .memoryWarning, .configurationChanged, .openURL:
            return .none
        }
    }
}

/// The reason why input from outside is not a valid event.
public struct EventError: Error, Hashable, Sendable {
    /// The event that was asked for.
    public let kind: EventKind
    /// The fault.
    public let fault: Fault

    /// The kinds of fault.
    @nonexhaustive public enum Fault: Hashable, Sendable {
        /// Only the host itself gives this event.
        case hostsOwn
        /// There is a payload, and the event takes none.
        case takesNoPayload
        /// There is no payload, and the event needs one.
        case payloadMissing
        /// The payload is not what the event takes.
        case payload(JSONError)
        /// The URL to open is none.
        case url(URLFault)
        /// A message without a topic.
        case topicMissing
    }

    init(_ kind: EventKind, _ fault: Fault) {
        self.kind = kind
        self.fault = fault
    }
}

extension EventError: CustomStringConvertible {
    /// One line for a log, such as `event 'background' takes no payload`.
    public var description: String {
        switch fault {
        case .hostsOwn: "event '\(kind.rawValue)' is given by the host itself, never from outside"
        case .takesNoPayload: "event '\(kind.rawValue)' takes no payload"
        case .payloadMissing: "event '\(kind.rawValue)' needs a payload"
        case .payload(let error): "event '\(kind.rawValue)' cannot take this payload: \(error)"
        case .url(let fault): "event '\(kind.rawValue)': \(fault)"
        case .topicMissing: "event '\(kind.rawValue)' needs a topic, such as user.signed-in"
        }
    }
}

/// The new settings of each module in a reload of the slatefile.
struct ConfigurationReload: Sendable {
    var appConfig: JSONValue?
    var isAppConfigChanged: Bool
    /// By module: what its configuration is now, and whether it changed.
    ///
    /// A module that was made with these settings is not among them.
    var modules: [ModuleID: (config: JSONValue?, isChanged: Bool)]
    /// The same for whichever module asks.
    private var only: (config: JSONValue?, isChanged: Bool)?

    /// Creates the settings of one module, the only one of its process.
    init(appConfig: JSONValue?, isAppConfigChanged: Bool, own: JSONValue?, isChanged: Bool) {
        self.appConfig = appConfig
        self.isAppConfigChanged = isAppConfigChanged
        modules = [:]
        only = (own, isChanged)
    }

    init(
        appConfig: JSONValue?, isAppConfigChanged: Bool,
        modules: [ModuleID: (config: JSONValue?, isChanged: Bool)]
    ) {
        self.appConfig = appConfig
        self.isAppConfigChanged = isAppConfigChanged
        self.modules = modules
    }

    /// Returns the change for a module; nil if it is not to be notified.
    func change(for id: ModuleID?) -> ConfigurationChange? {
        guard let own = only ?? id.flatMap({ modules[$0] }) else { return nil }
        return ConfigurationChange(
            config: own.config, appConfig: appConfig,
            isChanged: isAppConfigChanged || own.isChanged)
    }
}
