/// What comes along with a URL that the app is asked to open.
public struct OpenURLOptions: Hashable, Sendable {
    /// Who asks.
    public var origin: Origin

    /// Creates options.
    public init(origin: Origin) { self.origin = origin }
}

/// A request to open a URL, as an event's payload.
public struct OpenURLRequest: Decodable, Hashable, Sendable {
    /// The URL, as it was written, its token included.
    public var url: String
}
