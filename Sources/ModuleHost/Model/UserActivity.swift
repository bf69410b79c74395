/// Something the user was doing, here or on another device.
public struct UserActivity: Decodable, Sendable {
    /// Its kind, a reverse-domain name.
    public var type: String
    /// Its title.
    public var title: String?
    /// Where it can be seen on the web.
    public var url: String?
    /// What is needed to go on with it: an object.
    public var userInfo: JSONValue?
}
