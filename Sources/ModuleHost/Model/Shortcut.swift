/// A shortcut chosen on the app's icon.
public struct Shortcut: Decodable, Sendable {
    /// The type of the shortcut.
    public var type: String
    /// The title of the shortcut.
    public var title: String?
    /// The data of the shortcut: an object.
    public var userInfo: JSONValue?
}

extension Shortcut: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        .shortcut(try Shortcut(payload, of: .shortcut))
    }
}
