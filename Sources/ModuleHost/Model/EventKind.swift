/// The kinds of event an app's life is made of, by their external names: the ones that the
/// slatefile, the command line and the journal use.
@nonexhaustive public enum EventKind: String, Hashable, Sendable, CaseIterable {
    /// The app has launched. Only the host itself gives this one.
    case launch
    /// The app becomes active.
    case activate
    /// The app is about to stop being active.
    case resignActive = "resign-active"
    /// The app goes to the background.
    case background
    /// The app comes back from the background.
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
    /// The user changed what notifications may do.
    case notificationSettings = "notification-settings"
    /// A local notification fired.
    case localNotification = "local-notification"
    /// The app is asked to open a URL.
    case openURL = "open-url"
    /// An activity begun elsewhere is to go on here.
    case userActivity = "user-activity"
    /// A home-screen shortcut was chosen.
    case shortcut
    /// The slatefile was read again. Only the host itself gives this one.
    case configurationChanged = "configuration-changed"
    /// A message on a topic.
    case message
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
    /// Whether the event is durable: those that come with data, which no later event says again.
    package var isDurable: Bool { payloadType != nil }

    /// Whether the first module that claims the event ends the search.
    var isClaimed: Bool { self == .openURL || self == .userActivity || self == .shortcut }

    /// Whether the modules' replies are joined into one.
    var wantsFetchResult: Bool { self == .push }

    /// Whether only the host itself gives this event.
    package var isHostsOwn: Bool { self == .launch || self == .configurationChanged }
}
