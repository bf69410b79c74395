/// An event as it stands in the stream of the host that accepted it.
public struct StreamEvent: Hashable, Sendable {
    /// The position in the inbox of that host, and in its stream.
    public let position: StreamPosition
    /// The id that the sender gave to the event, if any.
    public let id: String?
    /// The topic of the message.
    public let topic: String
    /// The payload of the message, as JSON text.
    public let body: String
    /// The group of hosts whose work it is already, since the host that accepted it belongs to that group.
    public let group: String?

    /// Creates an event.
    public init(
        position: StreamPosition, id: String?, topic: String, body: String, group: String? = nil
    ) {
        self.position = position
        self.group = group
        self.id = id
        self.topic = topic
        self.body = body
    }

    private var messageFields: [[UInt8]] {
        let named = [("topic", topic), ("body", body)] + (id.map { [("id", $0)] } ?? [])
        return named.flatMap { [Array($0.utf8), Array($1.utf8)] }
    }

    /// The names and values of the entry, in their order.
    package var fields: [[UInt8]] {
        messageFields + (group.map { [Array("group".utf8), Array($0.utf8)] } ?? [])
    }

    /// Returns whether another event is the same, whatever groups its host belonged to.
    func isSameMessage(as other: StreamEvent) -> Bool {
        position == other.position && messageFields == other.messageFields
    }

    /// The bytes of all names and values.
    package var size: Int { fields.reduce(0) { $0 + $1.count } }
}

/// An entry as an engine gave it, which may have come from any program that can write there.
public struct StreamEntry: Hashable, Sendable {
    /// The stream in which the entry stands.
    public let source: StreamName
    /// Its position there.
    public let position: StreamPosition
    /// Names and values, one after the other.
    package let fields: [[UInt8]]

    package init(source: StreamName, position: StreamPosition, fields: [[UInt8]]) {
        self.source = source
        self.position = position
        self.fields = fields
    }

    /// Returns the event of the entry.
    ///
    /// Unknown fields are ignored: a later version may add some.
    ///
    /// - Throws: ``MalformedEntry`` if it is not an event.
    public func event() throws(MalformedEntry) -> StreamEvent {
        guard fields.count.isMultiple(of: 2) else {
            throw MalformedEntry(reason: "a field has no value")
        }
        return StreamEvent(
            position: position, id: try text("id"), topic: try required("topic"),
            body: try required("body"), group: try text("group"))
    }

    private func required(_ name: String) throws(MalformedEntry) -> String {
        guard let text = try text(name) else {
            throw MalformedEntry(reason: "there is no field '\(name)'")
        }
        return text
    }

    private func text(_ name: String) throws(MalformedEntry) -> String? {
        guard
            let at = stride(from: 0, to: fields.count, by: 2).first(where: {
                fields[$0].elementsEqual(name.utf8)
            })
        else { return nil }
        guard let text = String(validating: fields[at + 1], as: UTF8.self) else {
            throw MalformedEntry(reason: "the field '\(name)' is not UTF-8")
        }
        return text
    }
}

/// The reason why an entry is not an event.
public struct MalformedEntry: Error, Hashable, Sendable {
    /// The reason, in words.
    public let reason: String
}
