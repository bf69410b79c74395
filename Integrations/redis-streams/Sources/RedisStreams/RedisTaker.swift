package import EventStreams

/// The connection by which a host takes messages that a group shares.
///
/// A consumer group of Redis remembers to which host it gave an entry, until ``RedisKeeper`` says that it is finished. An entry whose
/// reply was lost is given again after a new connection, and one that a silent host has not finished is given to another.
package actor RedisTaker {
    private let settings: RedisSettings
    private let group: WorkGroup
    private let own: StreamName
    /// The positions from which on a new group is given what is in some streams.
    private let beginnings: [StreamName: StreamPosition]
    private let executor = BlockingExecutor("RedisTaker")
    private let now: @Sendable () -> ContinuousClock.Instant
    private var link: RedisLink
    /// The streams at which the group was made; nil before it was.
    private var joined: Set<StreamName>?
    /// The places at which the search for what others have left goes on.
    private var claimed: [StreamName: StreamPosition] = [:]
    /// The times of the last search, and of the last look for new hosts.
    private var (searched, looked): (ContinuousClock.Instant?, ContinuousClock.Instant?)
    /// The entries of a stream, and the streams, that a reply can have: fewer after one that was too large.
    private var (mostEntries, mostStreams) = (256, Int.max)
    /// The streams in which the current search has yet to look.
    private var unsearched: [StreamName] = []
    /// The stream after which the next ones are read, if not all are read at a time.
    private var last: StreamName?
    /// Within which a new host is found.
    private static let lookEvery: Duration = .seconds(5)
    /// The entries that are given again to this host at most, of each stream, after a connection was lost.
    private static let mostGivenAgain = 10_000

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - own: The stream of this host, whose name it has in the group.
    ///   - beginnings: The positions up to which this host has received streams: a group that it makes begins there, and with
    ///     all other streams as the group says.
    package init(
        _ settings: RedisSettings, _ group: WorkGroup, own: StreamName,
        beginnings: [StreamName: StreamPosition] = [:],
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock().now }
    ) {
        (self.settings, self.group, self.own, self.now) = (settings, group, own, now)
        self.beginnings = beginnings
        link = RedisLink(settings)
    }

    /// Returns entries, also of this host's own stream; waits for some seconds at most if there are none.
    ///
    /// Some may be in the caller's hands already: those are given again after a connection was lost.
    ///
    /// - Parameters:
    ///   - limit: The number of new entries; in rare cases one or a few more.
    ///   - searches: Whether what other hosts have left is looked for, too; it would be given again to one that has left it itself.
    package func take(
        _ limit: Int, searches: Bool = true
    ) throws(StreamError) -> [StreamEntry] {
        do throws(StreamError) { return try takeSome(max(limit, 1), searches) } catch {
            guard link.isReplyTooLarge else { throw error }
            // Nothing is lost: the same entries are given again, fewer at a time.
            if mostEntries > 1 {
                mostEntries /= 2
            } else {
                mostStreams = max(min(mostStreams, joined?.count ?? 1) / 2, 1)
            }
            throw error
        }
    }

    private func takeSome(
        _ limit: Int, _ searches: Bool
    ) throws(StreamError) -> [StreamEntry] {
        let (isNew, time) = (link.isNew, now())
        return try link.connected { connection throws(StreamError) in
            if isNew || looked.map({ $0.duration(to: time) >= Self.lookEvery }) ?? true {
                try join(connection, isNew: isNew)
                looked = time
            }
            if isNew {
                // Hosts that could not say what they work on while the server was away have their turn first.
                searched = time
                let former = try readGiven(connection)
                if !former.isEmpty { return former }
            }
            if searches, searched.map({ $0.duration(to: time) >= group.claim / 2 }) ?? true {
                if unsearched.isEmpty { unsearched = (joined ?? []).sorted() }
                let left = try claim(Array(unsearched.prefix(limit)), limit, connection)
                // One with more than that is looked at again.
                unsearched.removeAll { claimed[$0] == .start }
                if unsearched.isEmpty { searched = time }
                if !left.isEmpty { return left }
            }
            return try readNew(limit, connection)
        }
    }

    /// Returns the streams to read, no more than entries are wanted: all have their turn.
    private func nextSources(_ limit: Int) -> [StreamName] {
        let all = (joined ?? [own]).sorted()
        let count = min(limit, mostStreams, all.count)
        guard count < all.count else { return all }
        let first = last.flatMap { last in all.firstIndex { $0 > last } } ?? 0
        let chosen = (0..<count).map { all[(first + $0) % all.count] }
        last = chosen.last
        return chosen.sorted()
    }

    // MARK: The group

    /// Makes the group at each stream where it is not, this host's own included.
    private func join(_ connection: RedisConnection, isNew: Bool) throws(StreamError) {
        let names = try Set(connection.names(settings)).union([own])
        guard joined?.isSuperset(of: names) != true || isNew else { return }
        let script = """
            local topics = redis.call('HGET', KEYS[1], ARGV[1])
            if topics and topics ~= ARGV[2] then return topics end
            for i = 2, #KEYS do
              local first = topics and '0' or ARGV[i + 1]
              local made = redis.pcall('XGROUP', 'CREATE', KEYS[i], ARGV[1], first, 'MKSTREAM')
              if made.err and string.sub(made.err, 1, 9) ~= 'BUSYGROUP' then return made end
            end
            if not topics then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
            return 1
            """
        let sorted = names.sorted()
        let topics = group.topics.joined(separator: " ")
        let words =
            ["EVAL", script, String(sorted.count + 1), settings.groupsKey]
            + sorted.map(settings.key) + [group.name, topics]
            + sorted.map { beginnings[$0]?.description ?? (group.beginsAtStart ? "0" : "$") }
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

    /// Returns entries that no host has.
    private func readNew(
        _ limit: Int, _ connection: RedisConnection
    ) throws(StreamError) -> [StreamEntry] {
        let all = (joined ?? [own]).sorted()
        let count = max(min(limit / all.count, mostEntries), 1)
        // Fewer than there are streams: some of these at a time, until all had their turn; the wait is for all of them. A stream that
        // has something then gives one entry.
        let parts = min(limit, mostStreams) < all.count ? all.count : 0
        var done = 0
        while done < parts {
            let some = nextSources(limit)
            let entries = try read(some.map { ($0, ">") }, ["COUNT", String(count)], connection)
            if !entries.isEmpty { return entries }
            done += some.count
        }
        return try read(
            all.map { ($0, ">") }, ["COUNT", String(count)] + settings.blocking, connection)
    }

    /// Returns all entries that this host was given and has not finished.
    private func readGiven(_ connection: RedisConnection) throws(StreamError) -> [StreamEntry] {
        var entries: [StreamEntry] = []
        for source in (joined ?? []).sorted() {
            var (first, count) = (StreamPosition.start, 0)
            while count < Self.mostGivenAgain {
                let page = try read(
                    [(source, first.description)], ["COUNT", String(mostEntries)], connection)
                guard let last = page.last?.position, last > first else { break }
                first = last
                count += page.count
                entries += page
            }
        }
        return entries
    }

    private func read(
        _ sources: [(name: StreamName, first: String)], _ options: [String],
        _ connection: RedisConnection
    ) throws(StreamError) -> [StreamEntry] {
        let words =
            ["XREADGROUP", "GROUP", group.name, own.text] + options + ["STREAMS"]
            + sources.map { settings.key($0.name) } + sources.map(\.first)
        let action = "take messages of \(sources.count) hosts"
        let reply = try connection.one(RedisCommand(words.map { Array($0.utf8) }), action)
        guard reply != .null else { return [] }
        guard let streams = reply.elements else {
            throw reply.notExpected(action, at: settings.address)
        }
        var entries: [StreamEntry] = []
        for stream in streams {
            guard let parts = stream.elements, parts.count == 2, let key = parts[0].text,
                let source = sources.first(where: { settings.key($0.name) == key })?.name
            else { throw stream.notExpected(action, at: settings.address) }
            entries += try parse(parts[1], of: source, action)
        }
        return entries
    }

    /// Takes over what hosts have not finished, and were silent about for a time.
    private func claim(
        _ sources: [StreamName], _ limit: Int, _ connection: RedisConnection
    ) throws(StreamError) -> [StreamEntry] {
        let count = max(min(limit / sources.count, mostEntries), 1)
        let replies = try connection.send(
            sources.map { source in
                RedisCommand(
                    "XAUTOCLAIM", settings.key(source), group.name, own.text,
                    String(group.claimMilliseconds), (claimed[source] ?? .start).description,
                    "COUNT", String(count))
            })
        let action = "take over what other hosts have left"
        var entries: [StreamEntry] = []
        for (source, reply) in zip(sources, replies) {
            guard let parts = reply.elements, parts.count >= 2,
                let next = parts[0].text.flatMap({ StreamPosition($0) })
            else { throw reply.notExpected(action, at: settings.address) }
            claimed[source] = next
            entries += try parse(parts[1], of: source, action)
            // Those that were removed from the stream meanwhile.
            for gone in parts.dropFirst(2).first?.elements ?? [] {
                guard let position = gone.text.flatMap({ StreamPosition($0) }) else { continue }
                entries.append(StreamEntry(source: source, position: position, fields: []))
            }
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
