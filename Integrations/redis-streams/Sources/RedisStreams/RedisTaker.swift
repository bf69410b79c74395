package import EventStreams

/// The connection by which a host takes messages that a group shares.
///
/// A consumer group of Redis remembers to which host it gave an entry, until ``RedisKeeper`` says that it is finished. An entry whose
/// reply was lost is given again after a new connection, and one that a silent host has not finished is given to another.
package actor RedisTaker {
    private let settings: RedisSettings
    private let group: WorkGroup
    private let own: StreamName
    private let executor = BlockingExecutor("RedisTaker")
    private let now: @Sendable () -> ContinuousClock.Instant
    private var link: RedisLink
    /// The streams at which the group was made; nil before it was.
    private var joined: Set<StreamName>?
    /// The places at which the search for what others have left goes on.
    private var claimed: [StreamName: StreamPosition] = [:]
    /// The times of the last search, and of the last look for new hosts.
    private var (searched, looked): (ContinuousClock.Instant?, ContinuousClock.Instant?)
    /// Within which a new host is found.
    private static let lookEvery: Duration = .seconds(5)

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// - Parameter own: The stream of this host, whose name it has in the group.
    package init(
        _ settings: RedisSettings, _ group: WorkGroup, own: StreamName,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock().now }
    ) {
        (self.settings, self.group, self.own, self.now) = (settings, group, own, now)
        link = RedisLink(settings)
    }

    /// Returns entries of other hosts; waits for some seconds at most if there are none.
    ///
    /// Some may be in the caller's hands already.
    ///
    /// - Parameter limit: The number of entries, or a few more.
    package func take(_ limit: Int) throws(StreamError) -> [StreamEntry] {
        let (isNew, time) = (link.isNew, now())
        return try link.connected { connection throws(StreamError) in
            if isNew || looked.map({ $0.duration(to: time) >= Self.lookEvery }) ?? true {
                try join(connection, isNew: isNew)
                looked = time
            }
            let sources = (joined ?? []).subtracting([own]).sorted()
            guard !sources.isEmpty else { return try read(">", [], limit, connection) }
            if isNew {
                let former = try read("0", sources, limit, connection)
                if !former.isEmpty { return former }
            }
            let pause = group.claim / 2
            if searched.map({ $0.duration(to: time) >= pause }) ?? true {
                let left = try claim(sources, limit, connection)
                // There may be more.
                if !left.isEmpty { return left }
                searched = time
            }
            return try read(">", sources, limit, connection)
        }
    }

    // MARK: The group

    /// Makes the group at each stream where it is not, this host's own included.
    private func join(_ connection: RedisConnection, isNew: Bool) throws(StreamError) {
        let names = try Set(connection.names(settings)).union([own])
        guard joined?.isSuperset(of: names) != true || isNew else { return }
        let script = """
            local topics = redis.call('HGET', KEYS[1], ARGV[1])
            if topics and topics ~= ARGV[2] then return topics end
            local first = '0'
            if not topics then
              redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
              first = ARGV[3]
            end
            for i = 2, #KEYS do
              local made = redis.pcall('XGROUP', 'CREATE', KEYS[i], ARGV[1], first, 'MKSTREAM')
              if made.err and string.sub(made.err, 1, 9) ~= 'BUSYGROUP' then return made end
            end
            return 1
            """
        let sorted = names.sorted()
        let topics = group.topics.joined(separator: " ")
        let words =
            ["EVAL", script, String(sorted.count + 1), settings.groupsKey]
            + sorted.map(settings.key)
            + [group.name, topics, group.beginsAtStart ? "0" : "$"]
        let action = "join group '\(group.name)'"
        let reply = try connection.one(RedisCommand(words.map { Array($0.utf8) }), action)
        if let others = reply.value {
            throw .refused(
                "group '\(group.name)' of \(settings.address) shares the topics \(quoted(others)), and this host \(quoted(topics)): give "
                    + "all hosts of the group the same 'share'; to change it for all, 'HDEL \(settings.groupsKey) \(group.name)' first"
            )
        }
        guard reply == .integer(1) else { throw reply.notExpected(action, at: settings.address) }
        joined = names
    }

    // MARK: Entries

    /// - Parameter first: `>` for entries that no host has, or 0 for those that this one has.
    private func read(
        _ first: String, _ sources: [StreamName], _ limit: Int, _ connection: RedisConnection
    ) throws(StreamError) -> [StreamEntry] {
        let wait = max(min(settings.waitMilliseconds, settings.answerSeconds * 1000 / 2), 1)
        let count = String(max(limit / max(sources.count, 1), 1))
        var words =
            sources.isEmpty ? ["XREAD"] : ["XREADGROUP", "GROUP", group.name, own.text]
        words += ["COUNT", count]
        if first == ">" { words += ["BLOCK", String(wait)] }
        // Without other hosts it waits at a key that no host has.
        words +=
            ["STREAMS"] + (sources.isEmpty ? ["\(settings.app):none"] : sources.map(settings.key))
        words += sources.isEmpty ? ["0"] : sources.map { _ in first }
        let action = "take messages of \(sources.count) hosts"
        let reply = try connection.one(RedisCommand(words.map { Array($0.utf8) }), action)
        guard reply != .null else { return [] }
        guard let streams = reply.elements else {
            throw reply.notExpected(action, at: settings.address)
        }
        var entries: [StreamEntry] = []
        for stream in streams {
            guard let parts = stream.elements, parts.count == 2, let key = parts[0].text,
                let source = sources.first(where: { settings.key($0) == key })
            else { throw stream.notExpected(action, at: settings.address) }
            entries += try parse(parts[1], of: source, action)
        }
        return entries
    }

    /// Takes over what hosts have not finished, and were silent about for a time.
    private func claim(
        _ sources: [StreamName], _ limit: Int, _ connection: RedisConnection
    ) throws(StreamError) -> [StreamEntry] {
        let replies = try connection.send(
            sources.map { source in
                RedisCommand(
                    "XAUTOCLAIM", settings.key(source), group.name, own.text,
                    String(group.claimMilliseconds), (claimed[source] ?? .start).description,
                    "COUNT", String(max(limit / sources.count, 1)))
            })
        let action = "take over what other hosts have left"
        var entries: [StreamEntry] = []
        for (source, reply) in zip(sources, replies) {
            guard let parts = reply.elements, parts.count >= 2,
                let next = parts[0].text.flatMap({ StreamPosition($0) })
            else { throw reply.notExpected(action, at: settings.address) }
            claimed[source] = next
            entries += try parse(parts[1], of: source, action)
        }
        return entries
    }

    private func parse(
        _ reply: RedisReply, of source: StreamName, _ action: String
    ) throws(StreamError) -> [StreamEntry] {
        guard let all = reply.elements else {
            throw reply.notExpected(action, at: settings.address)
        }
        var entries: [StreamEntry] = []
        for each in all {
            // One that was removed since it was given to this host has no fields any more.
            if let parts = each.elements, parts.count == 2, parts[1] == .null,
                let position = parts[0].text.flatMap({ StreamPosition($0) })
            {
                entries.append(StreamEntry(source: source, position: position, fields: []))
            } else {
                entries.append(try StreamEntry(each, of: source, action, at: settings.address))
            }
        }
        return entries
    }
}
