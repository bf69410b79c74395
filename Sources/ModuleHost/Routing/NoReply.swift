/// The request of a route that takes no parameters: nothing is decoded.
@usableFromInline struct NoParameters: Decodable, Sendable {}

/// The reply of a route that has none: `null`.
public struct NoReply: Encodable, Hashable, Sendable {
    @usableFromInline
    package init() {}

    /// Encodes `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}
