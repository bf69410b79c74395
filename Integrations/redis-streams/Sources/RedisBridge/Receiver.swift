import EventStreams
import RedisStreams

/// Receives the events of all other hosts, and sends them to the inbox of this one.
actor Receiver {
    private let own: OwnStream
    private let host: any BridgeHost
    private let topics: TopicFilter
    private let shared: SharedWork?
    private let beginning: BridgeSettings.Beginning
    private let window: Int
    private let retry: Duration
    private let condition: Condition
    private let executor = BlockingExecutor("RedisBridge")
    /// The bytes that can still be written to the disk of the inbox; nil if that is not known.
    private let room: @Sendable () -> UInt64?
    /// With less room than that, messages are sent one at a time: more than a window has.
    private static let ampleRoom: UInt64 = 32 << 20
    /// Whether the inbox has refused an event of the last window.
    private var wasRefused = false
    private var cursors: Cursors
    /// The turns until the hosts are asked for again.
    private var turnsUntilHosts = 0
    /// The turns until this host notes again what it has received.
    private var turnsUntilSeen = 0
    /// Whether something was received that is not noted.
    private var isUnnoted = false
    private static let busyTurns = 32
    /// As long as `read` waits, that is a minute: a copied state directory is found within the time for which entries stay.
    private static let idleTurns = 30
    /// The stream of the last turn.
    private var lastName: StreamName?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(
        _ own: OwnStream, _ host: any BridgeHost, _ cursors: Cursors, topics: TopicFilter,
        shared: SharedWork?,
        beginning: BridgeSettings.Beginning, window: Int, retry: Duration,
        room: @escaping @Sendable () -> UInt64?
    ) {
        self.own = own
        self.host = host
        self.topics = topics
        self.shared = shared
        self.beginning = beginning
        self.window = window
        self.retry = retry
        self.room = room
        condition = Condition(
            host, consequence: "No events of other hosts come until that has changed",
            end: "events of other hosts are received again")
        self.cursors = cursors
        if cursors.isDamaged {
            host.warning(
                "'redis-cursor.json' cannot be read: all events of other hosts that are still there are received again"
            )
        }
    }

    /// Receives events until the task is cancelled; an engine that is away does not end it.
    func run() async {
        // A connection from before a restart of Redis fails once.
        var hasFailed = false
        while !Task.isCancelled {
            do {
                try await turn()
                condition.ends()
                hasFailed = false
            } catch let error as StreamError {
                turnsUntilHosts = 0
                if case .owned = error, renew(error) { continue }
                if case .away = error, !hasFailed {
                    hasFailed = true
                    continue
                }
                condition.begins(error)
                await host.wait(retry)
            } catch let error as Refusal {
                condition.begins(
                    "inbox", "the inbox does not accept events of other hosts: \(error.reason)")
                await host.wait(retry)
            } catch {
                condition.begins("file", "\(error)")
                await host.wait(retry)
            }
        }
    }

    /// The inbox accepts nothing now.
    private struct Refusal: Error {
        let reason: String
    }

    /// Reads once, and sends what has come.
    func turn() async throws {
        let current = own.current
        // A new stream is noted at once: what this host has not received is not removed from then on.
        if lastName != current.name {
            (lastName, turnsUntilSeen, turnsUntilHosts) = (current.name, 0, 0)
        }
        if turnsUntilSeen <= 0 { try await note(current) }
        if turnsUntilHosts <= 0 { try await lookForHosts(current) }
        var sources = cursors.positions
        sources[current.name] = nil
        let entries = try await current.engine.read(after: sources, limit: window)
        if entries.isEmpty {
            turnsUntilHosts = 0
            let isPublished = own.published.map { $0 != cursors.positions[current.name] } ?? false
            turnsUntilSeen = isUnnoted || isPublished ? 0 : turnsUntilSeen - 1
            return
        }
        turnsUntilHosts -= 1
        turnsUntilSeen = min(turnsUntilSeen, Self.busyTurns) - 1
        var rest = entries[...]
        while !rest.isEmpty {
            try await take(rest.prefix(window), current.engine)
            rest = rest.dropFirst(window)
        }
    }

    private func note(_ current: OwnStream.Current) async throws {
        // First on the disk: what is noted as published may be removed.
        if own.published != nil { try write() }
        var seen = cursors.positions
        if let shared {
            // A stream at which the group is not yet: nothing of it is finished.
            let finished = try await shared.finishedPositions(of: Array(seen.keys))
            for (name, position) in seen { seen[name] = min(position, finished[name] ?? .start) }
        }
        try await current.engine.seen(seen)
        try own.confirm(current.name)
        (isUnnoted, turnsUntilSeen) = (false, Self.idleTurns)
    }

    /// Begins to receive from hosts that were not known.
    private func lookForHosts(_ current: OwnStream.Current) async throws {
        let isFirst = cursors.isNew
        for (name, last) in try await current.engine.hosts() where name != current.name {
            let left = own.left(name)
            if let position = cursors.positions[name] {
                cursors.positions[name] = max(position, left ?? .start)
            } else {
                // A host that came later than this one has nothing that this one missed.
                cursors.positions[name] = left ?? (isFirst && beginning == .now ? last : .start)
            }
        }
        if isFirst { try write() }
        turnsUntilHosts = Self.busyTurns
    }

    /// Sends entries to the inbox, and moves the cursors of those that need no reading any more.
    private func take(_ entries: ArraySlice<StreamEntry>, _ engine: any StreamEngine) async throws {
        var (incoming, events): ([IncomingEvent], [Result<IncomingEvent?, MalformedEntry>]) = (
            [], []
        )
        for entry in entries {
            let event = Result { () throws(MalformedEntry) in try self.incoming(entry) }
            if case .success(let event?) = event { incoming.append(event) }
            events.append(event)
        }
        var outcomes = await send(incoming)[...]
        // An entry behind one that was refused stays, too: it is sent again, and the inbox knows its id.
        var refused: [StreamName: String] = [:]
        for (entry, event) in zip(entries, events) {
            let outcome =
                switch event {
                case .success(nil): IncomingOutcome.accepted
                case .success: outcomes.popFirst() ?? .notNow("it did not answer")
                case .failure(let error): IncomingOutcome.invalid(error.reason)
                }
            guard refused[entry.source] == nil else { continue }
            switch outcome {
            case .accepted: break
            case .notNow(let reason):
                refused[entry.source] = reason
                continue
            case .invalid(let reason):
                try await engine.dead(entry, reason: reason)
                host.warning(
                    "event \(entry.position) of host \(entry.source) is a dead letter in Redis: \(reason)"
                )
            }
            cursors.positions[entry.source] = entry.position
        }
        isUnnoted = true
        wasRefused = !refused.isEmpty
        try write()
        if let reason = refused.values.first { throw Refusal(reason: reason) }
    }

    /// Sends events to the inbox, all at once.
    ///
    /// One at a time if the disk may be full, and none of a source behind one that is refused: else the inbox might accept a later, smaller one.
    ///
    /// - Returns: The outcome of each; those that were not sent have that of the refused one.
    private func send(_ events: [IncomingEvent]) async -> [IncomingOutcome] {
        guard wasRefused || room() ?? .max < Self.ampleRoom else {
            return events.isEmpty ? [] : await host.send(events)
        }
        var outcomes: [IncomingOutcome] = []
        var refused: [String: IncomingOutcome] = [:]
        for event in events {
            if let outcome = refused[event.source] {
                outcomes.append(outcome)
                continue
            }
            let outcome = await host.send([event]).first ?? .notNow("it did not answer")
            if case .notNow = outcome { refused[event.source] = outcome }
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// Returns whether the event comes by way of the group, or is other work.
    ///
    /// Work that this host sent itself under a former name comes here: its inbox may not have it any more.
    private func isShared(_ event: StreamEvent, of source: StreamName) -> Bool {
        guard let shared, shared.topics.contains(event.topic) else { return false }
        return source.hostID != own.current.name.hostID || event.group != shared.group.name
    }

    /// - Returns: Nil if the topic of the entry is not to be received.
    private func incoming(_ entry: StreamEntry) throws(MalformedEntry) -> IncomingEvent? {
        let event = try entry.event()
        guard topics.contains(event.topic), !isShared(event, of: entry.source) else { return nil }
        return IncomingEvent(event, in: entry)
    }

    /// - Returns: Whether a new stream was begun.
    private func renew(_ error: StreamError) -> Bool {
        let name = own.current.name
        host.warning("\(error). It goes on in a new stream; some events may be received twice")
        do throws(DurableFileError) {
            let position = own.published ?? cursors.positions[name] ?? .start
            try own.renew(name, leaving: position)
            return true
        } catch {
            return false
        }
    }

    private func write() throws(DurableFileError) {
        try cursors.write(own: own.published.map { (own.current.name, $0) })
    }
}
