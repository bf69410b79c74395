package import EventStreams

/// The connection by which a host says what it has finished of the messages that a group shares.
package actor RedisKeeper {
    private let settings: RedisSettings
    private let group: WorkGroup
    private let own: StreamName
    private let executor = BlockingExecutor("RedisKeeper")
    private var link: RedisLink

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// - Parameter own: The stream of this host, whose name it has in the group.
    package init(_ settings: RedisSettings, _ group: WorkGroup, own: StreamName) {
        (self.settings, self.group, self.own) = (settings, group, own)
        link = RedisLink(settings)
    }

    /// Notes that entries are finished: no host is given them again.
    package func finish(_ entries: StreamPositions) throws(StreamError) {
        try send(entries, "note what is finished") { key, positions in
            ["XACK", key, group.name] + positions
        }
    }

    /// Notes that entries are still worked on, so that no other host is given them.
    package func hold(_ entries: StreamPositions) throws(StreamError) {
        try send(entries, "keep what is worked on") { key, positions in
            ["XCLAIM", key, group.name, own.text, "0"] + positions + ["JUSTID"]
        }
    }

    private func send(
        _ entries: StreamPositions, _ action: String,
        _ words: (String, [String]) -> [String]
    ) throws(StreamError) {
        let commands = entries.sorted.map { source, positions in
            RedisCommand(
                words(settings.key(source), positions.map(\.description))
                    .map { Array($0.utf8) })
        }
        guard !commands.isEmpty else { return }
        try link.connected { connection throws(StreamError) in
            for reply in try connection.send(commands) {
                try reply.check(action, at: settings.address)
            }
        }
    }

    /// Returns the positions up to which the group needs nothing more, of streams at which it is.
    package func finished(
        of sources: [StreamName]
    ) throws(StreamError) -> [StreamName: StreamPosition] {
        let action = "ask how far group '\(group.name)' is"
        return try link.connected { connection throws(StreamError) in
            // First the last one that was given, then what is not finished: one that is given in between counts as not given.
            let replies = try connection.send(
                sources.map { RedisCommand("XINFO", "GROUPS", settings.key($0)) }
                    + sources.map { RedisCommand("XPENDING", settings.key($0), group.name) })
            var positions: [StreamName: StreamPosition] = [:]
            for (index, source) in sources.enumerated() {
                let (groups, pending) = (replies[index], replies[sources.count + index])
                if groups.isMissing || pending.isMissing { continue }
                guard let all = groups.elements, let parts = pending.elements, parts.count == 4
                else {
                    throw (groups.elements == nil ? groups : pending)
                        .notExpected(action, at: settings.address)
                }
                let mine = all.lazy.compactMap(\.pairs).first { $0["name"]?.text == group.name }
                guard let last = mine?["last-delivered-id"]?.text.flatMap({ StreamPosition($0) })
                else { continue }
                let oldest = parts[1].text.flatMap { StreamPosition($0) }
                positions[source] = min(last, oldest?.predecessor ?? last)
            }
            return positions
        }
    }
}

extension RedisReply {
    /// Whether there is no such stream, or the group is not there.
    fileprivate var isMissing: Bool {
        guard let text = errorText else { return false }
        return text.hasPrefix("ERR no such key") || text.hasPrefix("NOGROUP")
    }
}
