/// A shortcut chosen on the app's icon.
public struct Shortcut: Decodable, Sendable {
    /// Which one.
    public var type: String
    /// What it said.
    public var title: String?
    /// What was put along with it: an object.
    public var userInfo: JSONValue?
}
