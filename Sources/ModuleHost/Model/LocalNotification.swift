/// A notification that this app itself has scheduled.
public struct LocalNotification: Decodable, Sendable {
    /// The name under which it was scheduled.
    public var id: String?
    /// Its title.
    public var title: String?
    /// Its text.
    public var body: String?
    /// The data that was scheduled with it: an object.
    public var userInfo: JSONValue?
}

extension LocalNotification: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        .localNotification(try LocalNotification(payload, of: .localNotification))
    }
}
