import EventStreams
import Synchronization

/// An event that was not published: the host keeps it, and sends it and all later ones again.
public struct NotNow: Error, Hashable, Sendable {
    /// The time after which the host sends the event again.
    public let after: Duration
}

/// Publishes the events of a host in windows, whose size is the number of events that wait.
///
/// The host gives several events at a time, in their order. The first of them publishes itself together with those that come while
/// another window is on its way, so no task and no thread waits for events.
final class Outbox: Sendable {
    /// The way on for an event that has waited.
    private enum Turn {
        case published
        case notNow(Duration)
        /// It publishes the next window.
        case leads
    }

    private struct Waiting {
        let event: StreamEvent
        let continuation: CheckedContinuation<Turn, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isPublishing = false
        /// The first event that was not published, and the time until which later ones are from before the failure.
        var failed: (position: StreamPosition, until: ContinuousClock.Instant)?
    }

    private let own: OwnStream
    private let host: any BridgeHost
    private let window: Int
    private let retry: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let condition: Condition
    private let state = Mutex(State())
    /// The streams that a host may begin for one window: a second copy may begin one at the same time.
    private static let renewals = 3

    init(
        _ own: OwnStream, _ host: any BridgeHost, window: Int, retry: Duration,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock().now }
    ) {
        (self.own, self.host, self.window, self.retry, self.now) = (own, host, window, retry, now)
        condition = Condition(
            host, consequence: "Events wait in the inbox until they can be published",
            end: "events are published again")
    }

    /// Publishes an event; returns when it is on the disk of the engine.
    ///
    /// - Order: Events are published in the order of these calls, which is that of their positions.
    /// - Throws: ``NotNow`` if the engine does not accept it now. Then no later event is published before this one.
    func publish(_ event: StreamEvent) async throws(NotNow) {
        guard event.size <= StreamLimits.event else { return try await bury(event) }
        let turn = await withCheckedContinuation { continuation in
            // Before anything is waited for: the order of the calls is that of the events.
            if let turn = enter(Waiting(event: event, continuation: continuation)) {
                continuation.resume(returning: turn)
            }
        }
        switch turn {
        case .published: return
        case .notNow(let duration): throw NotNow(after: duration)
        case .leads: try await lead(event)
        }
    }

    /// - Returns: Nil if the event waits for its turn.
    private func enter(_ waiting: Waiting) -> Turn? {
        state.withLock { state in
            if let failed = state.failed {
                let left = now().duration(to: failed.until)
                // Given to this process before the host knew of the failure.
                if waiting.event.position > failed.position, left > .zero { return .notNow(left) }
                state.failed = nil
            }
            if state.isPublishing {
                state.waiting.append(waiting)
                return nil
            }
            state.isPublishing = true
            return .leads
        }
    }

    private func lead(_ event: StreamEvent) async throws(NotNow) {
        let others = state.withLock { state in
            var size = event.size
            let others = state.waiting.prefix(window - 1).prefix {
                size += $0.event.size
                return size <= StreamLimits.windowBytes
            }
            state.waiting.removeFirst(others.count)
            return Array(others)
        }
        let isPublished = await publish([event] + others.map(\.event))
        guard isPublished else {
            let behind = state.withLock { state in
                defer { state.waiting = [] }
                state.isPublishing = false
                state.failed = (event.position, now().advanced(by: retry))
                return state.waiting
            }
            for waiting in others + behind {
                waiting.continuation.resume(returning: .notNow(retry))
            }
            throw NotNow(after: retry)
        }
        for waiting in others { waiting.continuation.resume(returning: .published) }
        let next = state.withLock { state -> Waiting? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isPublishing = false
            return nil
        }
        next?.continuation.resume(returning: .leads)
    }

    /// - Returns: Whether all of the window is on the disk of the engine.
    private func publish(_ window: [StreamEvent]) async -> Bool {
        var hasFailed = false
        for _ in 0...Self.renewals + 1 {
            let current = own.current
            do {
                let end = try await current.engine.publish(window)
                try own.confirm(current.name, published: end)
                condition.ends()
                return true
            } catch let error as StreamError {
                // A connection from before a restart of Redis fails once. Whether the window was published the stream says.
                if case .away = error, !hasFailed {
                    hasFailed = true
                    continue
                }
                guard let first = window.first?.position,
                    let left = error.leaving(otherwise: first)
                else {
                    condition.begins(error)
                    return false
                }
                host.warning(
                    "\(error). It goes on in a new stream; other hosts may receive some events twice"
                )
                do {
                    try own.renew(current.name, leaving: left)
                } catch {
                    condition.begins("file", "\(error)")
                    return false
                }
            } catch {
                condition.begins("file", "\(error)")
                return false
            }
        }
        condition.begins("owned", "each new stream of this host has another owner at once")
        return false
    }

    /// Keeps an event that is too large as a dead letter.
    ///
    /// An inbox accepts none, but its JSON may be written longer here.
    private func bury(_ event: StreamEvent) async throws(NotNow) {
        let current = own.current
        let entry = StreamEntry(
            source: current.name, position: event.position, fields: event.fields)
        do throws(StreamError) {
            let reason =
                "the event has \(event.size) bytes, at most \(StreamLimits.event) are published"
            try await current.engine.dead(entry, reason: reason)
            host.warning("event \(event.position) is a dead letter: \(reason)")
        } catch {
            condition.begins(error)
            throw NotNow(after: retry)
        }
    }
}

extension StreamError {
    /// The position up to which the stream has nothing new, if a new one must be begun.
    fileprivate func leaving(otherwise first: StreamPosition) -> StreamPosition? {
        switch self {
        case .diverged(let position, _): position.predecessor
        case .owned: first.predecessor
        case .away, .full, .refused, .unexpected, .invalid: nil
        }
    }
}
