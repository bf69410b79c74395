import EventStreams
import RedisStreams

/// Takes messages that a group of hosts shares, and gives each to the modules of this host.
///
/// One is finished when the modules have received it, so a host takes no more than it works off. Until then Redis has it for this
/// host, and gives it to another one that is there if this one is silent for a time.
actor SharedWork {
    /// The connections under one name.
    private struct Queue {
        let name: StreamName
        let taker: RedisTaker
        let keeper: RedisKeeper
    }

    nonisolated let topics: TopicFilter
    nonisolated let group: WorkGroup
    private let settings: RedisSettings
    private let own: OwnStream
    private let host: any BridgeHost
    private let window: Int
    private let retry: Duration
    private let beginnings: [StreamName: StreamPosition]
    /// The conditions of taking, of the inbox, and of noting: each ends by its own success.
    private let (taking, accepting, noting): (Condition, Condition, Condition)
    private var queue: Queue
    /// The positions that are taken and not finished.
    private var taken = StreamPositions()
    /// The positions that are finished without Redis knowing it.
    private var finished = StreamPositions()
    /// The positions among ``taken`` that other hosts may have, since no module here has begun them, or one does not get on with them.
    private var shared = StreamPositions()
    private var isFinishing = false
    private var isHolding = false
    private var room: CheckedContinuation<Void, Never>?

    init(
        _ own: OwnStream, _ host: any BridgeHost, _ settings: RedisSettings, _ group: WorkGroup,
        topics: TopicFilter, window: Int, beginnings: [StreamName: StreamPosition], retry: Duration
    ) {
        (self.own, self.host, self.group, self.retry) = (own, host, group, retry)
        (self.settings, self.topics, self.window) = (settings, topics, window)
        self.beginnings = beginnings
        let those = "messages that group '\(group.name)' shares"
        taking = Condition(
            host, consequence: "No \(those) come until that has changed",
            end: "\(those) are received again")
        accepting = Condition(
            host, consequence: "The \(those) wait, and other hosts may take them",
            end: "the inbox accepts \(those) again")
        noting = Condition(
            host, consequence: "The \(those) may be given to another host, too",
            end: "what this host has of the \(those) is noted again")
        queue = Self.queue(own.current.name, settings, group, beginnings)
    }

    private static func queue(
        _ name: StreamName, _ settings: RedisSettings, _ group: WorkGroup,
        _ beginnings: [StreamName: StreamPosition]
    ) -> Queue {
        Queue(
            name: name,
            taker: RedisTaker(settings, group, own: name, beginnings: beginnings),
            keeper: RedisKeeper(settings, group, own: name))
    }

    /// Returns the positions up to which the group needs nothing more, of streams at which it is.
    func finishedPositions(
        of sources: [StreamName]
    ) async throws(StreamError) -> [StreamName: StreamPosition] {
        try await queue.keeper.finished(of: sources)
    }

    /// Takes messages until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            // A connection from before a restart of Redis fails once.
            var hasFailed = false
            while !Task.isCancelled {
                await waitForRoom()
                // A host that begins a new stream has another name in the group.
                let name = own.current.name
                if queue.name != name { queue = Self.queue(name, settings, group, beginnings) }
                do throws(StreamError) {
                    let entries = try await queue.taker.take(
                        window - taken.count, searches: shared.isEmpty)
                    taking.ends()
                    hasFailed = false
                    for entry in entries {
                        await waitForRoom()
                        guard begin(entry) else { continue }
                        tasks.addTask { await self.work(entry) }
                        if !isHolding {
                            isHolding = true
                            tasks.addTask { await self.holdOn() }
                        }
                    }
                } catch {
                    if case .away = error, !hasFailed {
                        hasFailed = true
                        continue
                    }
                    taking.begins(error)
                    await host.wait(retry)
                }
            }
        }
    }

    // MARK: Current work

    private func waitForRoom() async {
        while taken.count >= window, !Task.isCancelled {
            await withCheckedContinuation { room = $0 }
        }
    }

    /// - Returns: False for one that is taken already: Redis gives it again after a connection was lost.
    private func begin(_ entry: StreamEntry) -> Bool {
        !finished.contains(entry) && taken.insert(entry)
    }

    private func end(_ entry: StreamEntry) {
        taken.remove(entry)
        shared.remove(entry)
        room?.resume()
        room = nil
    }

    /// Tells Redis from time to time what is still worked on, as long as there is something.
    private func holdOn() async {
        defer { isHolding = false }
        while !taken.isEmpty, !Task.isCancelled {
            await host.wait(group.claim / 4)
            if Task.isCancelled { return }
            var held = taken
            held.subtract(shared)
            do throws(StreamError) {
                try await queue.keeper.hold(held)
                noting.ends()
            } catch {
                // A server that is away is that of taking, too, which says it.
                if case .away = error { continue }
                noting.begins(error)
            }
        }
    }

    // MARK: Work

    private func work(_ entry: StreamEntry) async {
        switch await outcome(of: entry) {
        case .left:
            // Redis has it for this host still.
            return end(entry)
        case .done: break
        case .dead(let reason):
            guard await bury(entry, reason) else { return end(entry) }
        }
        finished.insert(entry)
        end(entry)
        await finish()
    }

    private enum Outcome {
        case done
        case left
        case dead(String)
    }

    private func outcome(of entry: StreamEntry) async -> Outcome {
        let event: StreamEvent
        do throws(MalformedEntry) { event = try entry.event() } catch {
            return .dead(
                entry.fields.isEmpty
                    ? "it was removed before this host has received it: the group was away for longer than 'trim'"
                    : error.reason)
        }
        guard topics.contains(event.topic), event.group != group.name else { return .done }
        var incoming = IncomingEvent(event, in: entry)
        // What this host has sent itself, before it belonged to the group, its inbox knows by the sender's id.
        if entry.source.hostID == own.current.name.hostID {
            incoming.id = "\(entry.source)/\(entry.position)"
        }
        // The times that a module had yet to receive it when it was asked.
        var waits = 0
        while true {
            switch await host.deliver(incoming) {
            case .delivered:
                accepting.ends()
                return .done
            case .left: return .left
            case .invalid(let reason): return .dead(reason)
            case .unheard(let reason): return .dead("host \(own.current.name): \(reason)")
            case .waiting:
                accepting.ends()
                // The inbox keeps it for the module. After the time of a silent host others may have it, too.
                waits += 1
                if waits > 4 { shared.insert(entry) } else { shared.remove(entry) }
                await host.wait(group.claim / 4)
            case .notNow(let reason):
                shared.insert(entry)
                accepting.begins(
                    "inbox", "the inbox does not accept messages of other hosts: \(reason)")
                await host.wait(retry)
            }
            if Task.isCancelled { return .left }
        }
    }

    /// Keeps an entry as a dead letter, however long that takes.
    ///
    /// - Returns: False if the bridge ends before.
    private func bury(_ entry: StreamEntry, _ reason: String) async -> Bool {
        while !Task.isCancelled {
            do throws(StreamError) {
                try await own.current.engine.dead(entry, reason: reason)
                host.warning(
                    "message \(entry.position) of host \(entry.source) is a dead letter in Redis: \(reason)"
                )
                return true
            } catch {
                noting.begins(error)
                await host.wait(retry)
            }
        }
        return false
    }

    /// Tells Redis what is finished: all that has come while the last answer was waited for.
    private func finish() async {
        guard !isFinishing else { return }
        isFinishing = true
        defer { isFinishing = false }
        while !finished.isEmpty {
            let now = finished
            do throws(StreamError) {
                try await queue.keeper.finish(now)
                noting.ends()
                finished.subtract(now)
            } catch {
                // What Redis does not know comes again, and the inbox knows its id.
                if Task.isCancelled { return }
                noting.begins(error)
                await host.wait(retry)
            }
        }
    }
}
