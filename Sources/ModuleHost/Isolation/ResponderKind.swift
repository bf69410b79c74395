/// The events of a responder protocol.
struct ResponderKind: Sendable {
    let kinds: Set<EventKind>
    private let type: ObjectIdentifier
    private let conforms: @Sendable (AnyObject) -> Bool

    private init<Responder>(_ type: Responder.Type, _ kinds: EventKind...) {
        self.type = ObjectIdentifier(type)
        self.kinds = Set(kinds)
        conforms = { $0 is Responder }
    }

    private static let all = [
        ResponderKind((any LaunchResponder).self, .launch),
        ResponderKind((any ActivationResponder).self, .activate, .resignActive),
        ResponderKind((any BackgroundResponder).self, .background, .foreground),
        ResponderKind((any TerminationResponder).self, .terminate),
        ResponderKind((any MemoryWarningResponder).self, .memoryWarning),
        ResponderKind(
            (any RemoteNotificationResponder).self, .push, .pushRegistered,
            .pushRegistrationFailed),
        ResponderKind((any NotificationSettingsResponder).self, .notificationSettings),
        ResponderKind((any LocalNotificationResponder).self, .localNotification),
        ResponderKind((any URLResponder).self, .openURL),
        ResponderKind((any UserActivityResponder).self, .userActivity),
        ResponderKind((any ShortcutResponder).self, .shortcut),
        ResponderKind((any ConfigurationResponder).self, .configurationChanged),
        ResponderKind((any MessageResponder).self, .message),
    ]

    /// The events that an object hears by the protocols it conforms to.
    static func events(heardBy object: AnyObject) -> Set<EventKind> {
        all.filter { $0.conforms(object) }.reduce(into: []) { $0.formUnion($1.kinds) }
    }

    /// The events of a protocol; none of one that is about no event.
    static func events(of responder: Any.Type) -> Set<EventKind> {
        all.first { $0.type == ObjectIdentifier(responder) }?.kinds ?? []
    }
}
