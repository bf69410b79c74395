/// The kinds of event in the life of an app, by their external names: the ones that the slatefile, the
/// command line and the journal use.
@nonexhaustive public enum EventKind: String, Hashable, Sendable, CaseIterable {
    /// The app has launched. Only the host itself sends this event.
    case launch
    /// The app becomes active.
    case activate
    /// The app is about to stop being active.
    case resignActive = "resign-active"
    /// The app goes to the background.
    case background
    /// The app returns from the background.
    case foreground
    /// The app is about to end.
    case terminate
    /// Memory runs short.
    case memoryWarning = "memory-warning"
    /// A remote notification arrived.
    case push
    /// The push service accepted this device.
    case pushRegistered = "push-registered"
    /// The push service refused this device.
    case pushRegistrationFailed = "push-registration-failed"
    /// The user changed the settings for notifications.
    case notificationSettings = "notification-settings"
    /// A local notification fired.
    case localNotification = "local-notification"
    /// The app is to open a URL.
    case openURL = "open-url"
    /// An activity begun elsewhere is to go on here.
    case userActivity = "user-activity"
    /// A home-screen shortcut was chosen.
    case shortcut
    /// The slatefile was reloaded. Only the host itself sends this event.
    case configurationChanged = "configuration-changed"
    /// A message on a topic.
    case message
}

extension EventKind {
    /// The place of the kind in ``allCases``: the byte that a case without payload is stored as.
    var place: Int { withUnsafeBytes(of: self) { Int($0[0]) } }

    /// Hashes the case: by default, an enum with texts hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(place) }
}

extension EventKind {
    /// The type of the event's payload; nil if the event takes none.
    var payloadType: (any EventPayload.Type)? {
        switch self {
        case .push: RemoteNotification.self
        case .pushRegistered: DeviceToken.self
        case .pushRegistrationFailed: RegistrationFailure.self
        case .notificationSettings: NotificationSettings.self
        case .localNotification: LocalNotification.self
        case .openURL: OpenURLRequest.self
        case .userActivity: UserActivity.self
        case .shortcut: Shortcut.self
        case .message: Message.self
        case .launch, .activate, .resignActive, .background, .foreground, .terminate,
            .memoryWarning, .configurationChanged:
            nil
        }
    }
}

extension EventKind {
    /// Whether the event is durable: events with a payload are, since no later event repeats their data.
    package var isDurable: Bool { payloadType != nil }

    /// Whether the first module that claims the event ends the search.
    var isClaimed: Bool { self == .openURL || self == .userActivity || self == .shortcut }

    /// Whether the modules' replies are joined into one.
    var wantsFetchResult: Bool { self == .push }

    /// Whether the event makes lazy modules that declare that they receive it: an event with a payload.
    ///
    /// Events of the app's state do not.
    package var makesModules: Bool { payloadType != nil }

    /// Whether only the host itself sends this event.
    package var isHostsOwn: Bool { self == .launch || self == .configurationChanged }
}
