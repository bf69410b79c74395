/// A notification that this app itself had scheduled.
public struct LocalNotification: Decodable, Sendable {
    /// The name it was scheduled under.
    public var id: String?
    /// Its title.
    public var title: String?
    /// Its text.
    public var body: String?
    /// The data that was scheduled with it: an object.
    public var userInfo: JSONValue?
}
