/// The place of an entry of the record in a trace.
package struct TraceSpan: Hashable, Sendable {
    package let trace: TraceID
    /// The delivery or call; 0 for an entry about a part of one.
    let id: UInt64
    /// The delivery or call in which it happened; 0 where that is not known.
    let parent: UInt64

    init(_ trace: TraceID, id: UInt64 = 0, parent: UInt64 = 0) {
        (self.trace, self.id, self.parent) = (trace, id, parent)
    }

    /// Writes it as members of an object.
    func write(to json: inout JSONWriter) {
        json.member("trace", trace.text)
        if id != 0 { json.member("span", id.hexadecimal) }
        if parent != 0 { json.member("parent", parent.hexadecimal) }
    }
}

extension TraceContext {
    /// The place of the delivery or call that it was given.
    var place: TraceSpan { TraceSpan(id, id: span, parent: parent) }
    /// The place of what happens in that.
    var placeWithin: TraceSpan { TraceSpan(id, parent: span) }
}
