/// The user's settings for notifications.
public struct NotificationSettings: Decodable, Hashable, Sendable {
    /// Whether notifications may show text; nil where the event does not contain it.
    public var alert: Bool?
    /// Whether notifications may put a number on the icon; nil where the event does not contain it.
    public var badge: Bool?
    /// Whether notifications may make a sound; nil where the event does not contain it.
    public var sound: Bool?
}

extension NotificationSettings: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        .notificationSettings(try NotificationSettings(payload, of: .notificationSettings))
    }
}
