/// The circumstances of a request to open a URL.
public struct OpenURLOptions: Hashable, Sendable {
    /// The origin of the request.
    public var origin: Origin

    /// Creates options.
    public init(origin: Origin) { self.origin = origin }
}

/// A request to open a URL, as an event's payload.
struct OpenURLRequest: Decodable, Hashable, Sendable {
    /// The URL, as it was written, its token included.
    var url: String
}

extension OpenURLRequest: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        let text = try OpenURLRequest(payload, of: .openURL).url
        do throws(RouteURLError) {
            let (url, token) = try RouteURL(text).separatingToken()
            return .url(url, token)
        } catch {
            throw EventError(.openURL, .url(error))
        }
    }
}
