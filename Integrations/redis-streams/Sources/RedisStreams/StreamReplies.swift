import EventStreams

extension StreamEntry {
    /// Reads an entry of a reply: its id, and its names and values.
    init(
        _ reply: RedisReply, of source: StreamName, _ action: String, at address: RedisAddress
    ) throws(StreamError) {
        guard let parts = reply.elements, parts.count == 2,
            let position = parts[0].text.flatMap({ StreamPosition($0) }),
            let words = parts[1].elements
        else { throw reply.notExpected(action, at: address) }
        var fields: [[UInt8]] = []
        for word in words {
            guard let value = word.value else { throw word.notExpected(action, at: address) }
            fields.append(value)
        }
        self.init(source: source, position: position, fields: fields)
    }
}

extension RedisReply {
    /// The position of the last event that a stream ever had, in the facts of `XINFO STREAM`.
    func lastPosition(
        of name: StreamName, at address: RedisAddress
    ) throws(StreamError) -> StreamPosition {
        if errorText?.hasPrefix("ERR no such key") == true { return .start }
        let last = pairs?["last-generated-id"]?.text.flatMap { StreamPosition($0) }
        guard let last else { throw notExpected("look at stream \(name)", at: address) }
        return last
    }
}
