/// The payload of an event from outside.
protocol EventPayload: Decodable, Sendable {
    /// Returns the content of an event with this payload.
    ///
    /// - Throws: ``EventError`` if the event cannot take it.
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content
}

extension EventPayload {
    /// Reads a payload.
    ///
    /// - Throws: ``EventError`` for JSON of another type; it names `kind`.
    init(_ payload: JSONValue, of kind: EventKind) throws(EventError) {
        do throws(JSONError) {
            self = try payload.decode(Self.self)
        } catch {
            throw EventError(kind, .payload(error))
        }
    }
}
