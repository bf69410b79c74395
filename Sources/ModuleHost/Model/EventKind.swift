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
    var payloadType: (any EventPayload.Type)? { facts.payload }

    /// A payload of the event as JSON, for a test; nil if the event takes none.
    package var examplePayload: String? { facts.example }

    /// The declaration of the event's handler, without `func`, `throws` and the result.
    package var handler: String { facts.handler }

    /// Whether the event is durable: events with a payload are, since no later event repeats their data.
    package var isDurable: Bool { facts.payload != nil }

    /// Whether the first module that claims the event ends the search.
    package var isClaimed: Bool { facts.reply == .claim }

    /// Whether the modules' replies are joined into one.
    package var wantsFetchResult: Bool { facts.reply == .fetchResult }

    /// Whether the event makes lazy modules that declare that they receive it: an event with a payload.
    ///
    /// Events of the app's state do not.
    package var makesModules: Bool { isDurable }

    /// Whether only the host itself sends this event.
    package var isHostsOwn: Bool { facts.isHostsOwn }

    /// The change of state that this event requests, where it is a state event.
    var stateChange: LifecycleState.Change? { facts.change }
}
