import EventStreams

/// The connection that writes the stream of this host.
///
/// Redis watches the owner's mark between two transactions, so a host whose mark was replaced publishes nothing more: its next
/// transaction is not done.
actor RedisPublisher {
    /// A connection on which the mark is watched, and the position up to which the stream has come.
    private struct Session {
        let connection: RedisConnection
        var last: StreamPosition
    }

    private let settings: RedisSettings
    private let owner: StreamOwner
    private let executor = BlockingExecutor("RedisPublisher")
    private var session: Session?
    private var removal: RemovalDelay
    /// The transactions that another host's new mark may break in a row: all of them are in one hash.
    private static let attempts = 50

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ settings: RedisSettings, _ owner: StreamOwner) {
        self.settings = settings
        self.owner = owner
        removal = RemovalDelay(UInt64(max(settings.removalDelay.components.seconds, 0)) * 1000)
    }

    func publish(_ window: [StreamEvent]) throws(StreamError) -> StreamPosition {
        try StreamLimits.check(window)
        return try inSession { session throws(StreamError) in
            let there = window.prefix { $0.position <= session.last }
            if !there.isEmpty { try verify(there, session.connection) }
            let added = window.dropFirst(there.count)
            guard let last = added.last else { return window.last?.position ?? session.last }
            let key = Array(settings.key(owner.name).utf8)
            let commands = added.map { event in
                RedisCommand(
                    [Array("XADD".utf8), key, Array(event.position.description.utf8)] + event.fields
                )
            }
            try transaction(commands, "publish \(added.count) events", session.connection)
            session.last = last.position
            return last.position
        }
    }

    func seen(_ cursors: [StreamName: StreamPosition]) throws(StreamError) {
        try inSession { session throws(StreamError) in
            let replies = try session.connection.send([
                RedisCommand("TIME"), RedisCommand("HGETALL", settings.seenKey),
            ])
            let now = try time(replies[0])
            guard let pairs = replies[1].pairs else {
                throw replies[1].notExpected("read '\(settings.seenKey)'", at: settings.address)
            }
            var records: [StreamName: SeenRecord] = [:]
            for (name, value) in pairs {
                // A name of a later version, or of another program, stands for no host.
                guard let name = StreamName(name) else { continue }
                // A host whose note cannot be read may have seen nothing.
                records[name] =
                    value.text.flatMap { SeenRecord($0) } ?? SeenRecord(time: now, cursors: [:])
            }
            let mine = SeenRecord(time: now, cursors: cursors)
            records[owner.name] = mine
            let done = try session.connection.one(
                script(mine, trimming(records, now)), "note what was seen")
            guard done == .integer(1) else {
                throw owner.ownedElsewhere(at: "\(settings.address)")
            }
        }
    }

    /// The command that notes what this host has seen, and trims streams, if this host is the owner of its stream.
    ///
    /// A script, since Redis does not do HSET, nor anything in a transaction, without memory: entries are removed by what is noted here,
    /// which makes room.
    private func script(
        _ record: SeenRecord, _ trimmed: [(key: String, first: StreamPosition)]
    ) -> RedisCommand {
        let script = """
            #!lua flags=allow-oom
            if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
            redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
            for i = 3, #KEYS do redis.call('XTRIM', KEYS[i], 'MINID', ARGV[i + 1]) end
            return 1
            """
        let keys = [settings.hostsKey, settings.seenKey] + trimmed.map(\.key)
        let words =
            [owner.name.text, owner.mark, record.description] + trimmed.map(\.first.description)
        let all = ["EVAL", script, String(keys.count)] + keys + words
        return RedisCommand(all.map { Array($0.utf8) })
    }

    /// The first entries to keep, in the own stream and in those of absent hosts: what is before them every living host has.
    private func trimming(
        _ records: [StreamName: SeenRecord], _ now: UInt64
    ) -> [(key: String, first: StreamPosition)] {
        let patience = UInt64(max(settings.trim.components.seconds, 0)) * 1000
        let sources = Set(records.values.flatMap(\.cursors.keys)).union([owner.name])
        return sources.sorted().compactMap { source in
            guard
                source == owner.name
                    || records[source]?.isLiving(now: now, patience: patience) != true
            else { return nil }
            let seen = SeenRecord.removable(
                from: source, in: records, now: now, patience: patience)
            let removed = removal.position(seen, of: source, now: now)
            return removed > .start ? (settings.key(source), removed.successor) : nil
        }
    }

    private func time(_ reply: RedisReply) throws(StreamError) -> UInt64 {
        guard let elements = reply.elements, elements.count == 2,
            let seconds = elements[0].text.flatMap({ UInt64($0) }),
            let micro = elements[1].text.flatMap({ UInt64($0) }), seconds < 1 << 40
        else { throw reply.notExpected("read the time", at: settings.address) }
        return seconds * 1000 + micro / 1000
    }

    /// Compares events with those of the stream.
    private func verify(
        _ window: ArraySlice<StreamEvent>, _ connection: RedisConnection
    ) throws(StreamError) {
        let key = settings.key(owner.name)
        let replies = try connection.send(
            window.map {
                RedisCommand("XRANGE", key, $0.position.description, $0.position.description)
            })
        for (event, reply) in zip(window, replies) {
            let action = "compare event \(event.position)"
            guard let entries = reply.elements else {
                throw reply.notExpected(action, at: settings.address)
            }
            var there: StreamEntry?
            if let entry = entries.first {
                there = try StreamEntry(entry, of: owner.name, action, at: settings.address)
            }
            guard there.map({ $0.position == event.position }) != false else {
                throw reply.notExpected(action, at: settings.address)
            }
            try owner.compare(event, with: there?.fields)
        }
    }
}

extension RedisPublisher {
    /// Calls code in a session, which ends if that fails in a way that leaves the connection in doubt.
    private func inSession<Result>(
        _ body: (inout Session) throws(StreamError) -> Result
    ) throws(StreamError) -> Result {
        var current = if let session { session } else { try begin() }
        // Only after success it is used again.
        session = nil
        let result = try body(&current)
        session = current
        return result
    }

    /// Connects, takes the stream, and asks how far it has come.
    private func begin() throws(StreamError) -> Session {
        let connection = try RedisConnection.login(settings)
        if settings.requiresDurability { try connection.checkDurability() }
        if try watch(connection) != owner.mark {
            let commands = [
                RedisCommand("HSET", settings.hostsKey, owner.name.text, owner.mark)
            ]
            try transaction(commands, "take stream \(owner.name)", connection)
        }
        return Session(connection: connection, last: try last(connection))
    }

    private func last(_ connection: RedisConnection) throws(StreamError) -> StreamPosition {
        let reply =
            try connection.send([
                RedisCommand("XINFO", "STREAM", settings.key(owner.name))
            ]).first ?? .null
        return try reply.lastPosition(of: owner.name, at: settings.address)
    }

    /// Watches the mark.
    ///
    /// - Returns: The mark of the server, which is one of this host; nil if there is none.
    /// - Throws: ``StreamError/owned(_:)`` if it is another's.
    private func watch(_ connection: RedisConnection) throws(StreamError) -> String? {
        try mark(in: connection.send(Self.watching(settings, owner))[...])
    }

    private static func watching(_ settings: RedisSettings, _ owner: StreamOwner) -> [RedisCommand]
    {
        [
            RedisCommand("WATCH", settings.hostsKey),
            RedisCommand("HGET", settings.hostsKey, owner.name.text),
        ]
    }

    /// The mark in the replies to the commands of `watching`.
    private func mark(in replies: ArraySlice<RedisReply>) throws(StreamError) -> String? {
        let action = "look for the owner of stream \(owner.name)"
        for reply in replies { try reply.check(action, at: settings.address) }
        guard let last = replies.last, last != .null else { return nil }
        guard let mark = last.text else { throw last.notExpected(action, at: settings.address) }
        guard owner.isMine(mark) else { throw owner.ownedElsewhere(at: "\(settings.address)") }
        return mark
    }

    /// Does commands: all of them, or none; then watches the mark again.
    ///
    /// Nothing is done if the hash of the marks was changed since it was watched. Then the mark is looked at, and if it is still that of this
    /// host the commands are sent again: that none of them was done is what the server has answered.
    private func transaction(
        _ commands: [RedisCommand], _ action: String, _ connection: RedisConnection
    ) throws(StreamError) {
        for _ in 0..<Self.attempts {
            let all =
                [RedisCommand("MULTI")] + commands + [RedisCommand("EXEC")]
                + Self.watching(settings, owner)
            let replies = try connection.send(all)
            // The cause of a transaction that was given up stands at the command that Redis did not queue.
            for reply in replies.prefix(commands.count + 1) {
                try reply.check(action, at: settings.address)
            }
            let done = replies[commands.count + 1]
            if done != .null {
                guard let results = done.elements, results.count == commands.count else {
                    throw done.notExpected(action, at: settings.address)
                }
                for result in results { try result.check(action, at: settings.address) }
                _ = try mark(in: replies.suffix(2))
                return
            }
            _ = try mark(in: replies.suffix(2))
        }
        throw .away(
            "cannot \(action): '\(settings.hostsKey)' of \(settings.address) changed \(Self.attempts) times meanwhile. Do very many hosts start?"
        )
    }
}
