import EventStreams

/// The connection that reads the streams of all hosts.
///
/// `XREAD` with a cursor of the caller's own: Redis keeps nothing of what was read, so a reply that is lost is read again.
actor RedisReader {
    private let settings: RedisSettings
    private let executor = BlockingExecutor("RedisReader")
    private var link: RedisLink

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ settings: RedisSettings) {
        self.settings = settings
        link = RedisLink(settings)
    }

    func read(
        after cursors: [StreamName: StreamPosition], limit: Int
    ) throws(StreamError) -> [StreamEntry] {
        var (sources, count) = (Array(cursors.keys), max(limit, 1))
        while true {
            do throws(StreamError) {
                return try read(count, of: sources, after: cursors)
            } catch {
                // Nothing is lost by a reply that was too large: the same entries are asked for again, fewer at a time.
                guard link.isReplyTooLarge, count > 1 || sources.count > 1 else { throw error }
                if count > 1 {
                    count /= 2
                } else {
                    // By chance, so that no source is left out for good.
                    sources = Array(sources.shuffled().prefix(sources.count / 2))
                }
            }
        }
    }

    private func read(
        _ count: Int, of sources: [StreamName], after cursors: [StreamName: StreamPosition]
    ) throws(StreamError) -> [StreamEntry] {
        var words = ["XREAD", "COUNT", String(count)] + settings.blocking + ["STREAMS"]
        // Without sources it waits at a key that no host has.
        words += sources.isEmpty ? ["\(settings.app):none"] : sources.map(settings.key)
        words += sources.isEmpty ? ["0"] : sources.map { (cursors[$0] ?? .start).description }
        let action = "read the streams of \(sources.count) hosts"
        let reply = try link.connected { connection throws(StreamError) in
            try connection.one(RedisCommand(words.map { Array($0.utf8) }), action)
        }
        guard reply != .null else { return [] }
        guard let streams = reply.elements else {
            throw reply.notExpected(action, at: settings.address)
        }
        var entries: [StreamEntry] = []
        for stream in streams { entries += try read(stream, cursors, action) }
        return entries
    }

    /// The entries of one stream, which must be those that were asked for, in their order.
    private func read(
        _ stream: RedisReply, _ cursors: [StreamName: StreamPosition], _ action: String
    ) throws(StreamError) -> [StreamEntry] {
        guard let parts = stream.elements, parts.count == 2, let key = parts[0].text,
            let source = cursors.keys.first(where: { settings.key($0) == key }),
            let entries = parts[1].elements, var last = cursors[source]
        else { throw stream.notExpected(action, at: settings.address) }
        var read: [StreamEntry] = []
        for entry in entries {
            let entry = try StreamEntry(entry, of: source, action, at: settings.address)
            guard entry.position > last else {
                throw .unexpected(
                    "\(settings.address) gave entry \(entry.position) of stream \(source) behind \(last): is it a Redis server?"
                )
            }
            last = entry.position
            read.append(entry)
        }
        return read
    }

    func hosts() throws(StreamError) -> [StreamName: StreamPosition] {
        try link.connected { connection throws(StreamError) in
            let names = try connection.names(settings)
            let replies = try connection.send(
                names.map { RedisCommand("XINFO", "STREAM", settings.key($0)) })
            var hosts: [StreamName: StreamPosition] = [:]
            for (name, reply) in zip(names, replies) {
                hosts[name] = try reply.lastPosition(of: name, at: settings.address)
            }
            return hosts
        }
    }

    func dead(_ entry: StreamEntry, reason: String) throws(StreamError) {
        let heading = [
            "XADD", settings.deadKey, "MAXLEN", "~", String(StreamLimits.deadLetters), "*",
            "source", entry.source.text, "position", entry.position.description,
            "reason", String(reason.prefix(StreamLimits.reason)),
        ]
        // The names of the entry's own fields may be the same.
        let fields = entry.fields.enumerated().map { index, word in
            index.isMultiple(of: 2) ? Array("entry.".utf8) + word : word
        }
        let even = fields.count.isMultiple(of: 2) ? fields : fields + [[]]
        try link.connected { connection throws(StreamError) in
            _ = try connection.one(
                RedisCommand(heading.map { Array($0.utf8) } + even), "keep a dead letter")
        }
    }
}
