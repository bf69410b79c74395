import Dispatch
import ModuleHostCore
import RedisBridge
import Synchronization

/// The inbox of the host, which only code of the module may use: batches of events wait here for it.
final class ModuleInbox: BridgeHost {
    /// Events that wait for their outcomes.
    struct Batch: Sendable {
        let events: [IncomingEvent]
        fileprivate let continuation: CheckedContinuation<[IncomingOutcome], Never>

        func answer(_ outcomes: [IncomingOutcome]) { continuation.resume(returning: outcomes) }

        fileprivate func answerThatItEnds() {
            answer(events.map { _ in .notNow("the bridge ends") })
        }
    }

    private struct State {
        var batches: [Batch] = []
        var reader: CheckedContinuation<Batch?, Never>?
        var pauses: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastPause = 0
        var isClosed = false
    }

    private let log: Log
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "RedisBridge.pauses")

    init(_ log: Log) { self.log = log }

    func notice(_ message: String) { log.notice(message) }
    func warning(_ message: String) { log.warning(message) }

    func send(_ events: [IncomingEvent]) async -> [IncomingOutcome] {
        await withCheckedContinuation { continuation in
            let batch = Batch(events: events, continuation: continuation)
            let (reader, isClosed) = state.withLock { state in
                if state.isClosed { return (nil as CheckedContinuation<Batch?, Never>?, true) }
                if state.reader == nil { state.batches.append(batch) }
                defer { state.reader = nil }
                return (state.reader, false)
            }
            if isClosed { batch.answerThatItEnds() }
            reader?.resume(returning: batch)
        }
    }

    /// Returns the next batch when there is one; nil when the bridge ends.
    ///
    /// One caller at a time.
    func next() async -> Batch? {
        await withCheckedContinuation { continuation in
            let (batch, isClosed) = state.withLock { state -> (Batch?, Bool) in
                if state.isClosed { return (nil, true) }
                if !state.batches.isEmpty { return (state.batches.removeFirst(), false) }
                state.reader = continuation
                return (nil, false)
            }
            if batch != nil || isClosed { continuation.resume(returning: batch) }
        }
    }

    func wait(_ duration: Duration) async {
        let (seconds, attoseconds) = duration.components
        let end =
            DispatchTime.now() + .seconds(Int(seconds))
            + .nanoseconds(Int(attoseconds / 1_000_000_000))
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                state.lastPause += 1
                state.pauses[state.lastPause] = continuation
                return state.lastPause
            }
            guard let number else { return continuation.resume() }
            queue.asyncAfter(deadline: end) { [self] in
                state.withLock { $0.pauses.removeValue(forKey: number) }?.resume()
            }
        }
    }

    /// Ends all waiting, now and from now on.
    ///
    /// The next start receives the events again that were not sent.
    func close() {
        let former = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state
        }
        former.reader?.resume(returning: nil)
        for batch in former.batches { batch.answerThatItEnds() }
        for pause in former.pauses.values { pause.resume() }
    }
}
