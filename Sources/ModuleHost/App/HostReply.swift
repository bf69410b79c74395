/// The reply to a call from outside the app.
public struct HostReply: Sendable, CustomStringConvertible {
    /// The reply of the route; `null` for a route without one, and for a URL that a module claimed.
    public let json: JSONValue
    /// The module that claimed the URL itself, and gives no reply; nil for the reply of a route.
    public let claimedBy: ModuleID?

    package init(_ reply: AppHost.CallReply) throws(JSONError) {
        switch reply {
        case .json(let text): self.init(json: try JSONValue(parsing: text))
        case .claimed(let module):
            self.init(json: try JSONValue(parsing: "null"), claimedBy: module)
        }
    }

    init(json: JSONValue, claimedBy: ModuleID? = nil) {
        self.json = json
        self.claimedBy = claimedBy
    }

    /// The reply as JSON text, such as `{"name":"Mia"}`.
    public var text: String { json.text }

    /// The reply as JSON text, or the module that claimed the URL.
    public var description: String { claimedBy.map { "claimed by \($0)" } ?? text }

    /// Returns the reply, decoded as a `T`.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` with the place of everything that is missing, unknown or of the wrong type.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(JSONError) -> T {
        try json.decode(type)
    }
}
