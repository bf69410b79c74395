/// An activity of the user, here or on another device.
public struct UserActivity: Decodable, Sendable {
    /// Its kind, a reverse-domain name.
    public var type: String
    /// Its title.
    public var title: String?
    /// The web page of the activity.
    public var url: String?
    /// The data needed to continue it: an object.
    public var userInfo: JSONValue?
}

extension UserActivity: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        .activity(try UserActivity(payload, of: .userActivity))
    }
}
