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

extension RedisConnection {
    /// Returns the streams of all hosts.
    func names(_ settings: RedisSettings) throws(StreamError) -> [StreamName] {
        let action = "read '\(settings.hostsKey)'"
        let reply = try one(RedisCommand("HKEYS", settings.hostsKey), action)
        guard let elements = reply.elements, elements.allSatisfy({ $0.value != nil }) else {
            throw reply.notExpected(action, at: settings.address)
        }
        // A name of a later version, or of another program, stands for no host.
        return elements.compactMap { $0.text.flatMap { StreamName($0) } }
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
