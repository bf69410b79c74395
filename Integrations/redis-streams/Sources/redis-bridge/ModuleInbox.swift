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

    /// An event whose delivery is waited for.
    struct Work: Sendable {
        let event: IncomingEvent
        fileprivate let number: Int
    }

    enum Request: Sendable {
        case batch(Batch)
        case work(Work)
    }

    private struct State {
        var requests: [Request] = []
        var reader: CheckedContinuation<Request?, Never>?
        /// The events whose delivery is waited for.
        var works: [Int: CheckedContinuation<WorkOutcome, Never>] = [:]
        var lastWork = 0
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
            if !add({ _ in .batch(batch) }) { batch.answerThatItEnds() }
        }
    }

    func deliver(_ event: IncomingEvent) async -> WorkOutcome {
        await withCheckedContinuation { continuation in
            let isAdded = add { state in
                state.lastWork += 1
                state.works[state.lastWork] = continuation
                return .work(Work(event: event, number: state.lastWork))
            }
            if !isAdded { continuation.resume(returning: .left) }
        }
    }

    /// Answers an event whose delivery is waited for, unless the bridge has ended meanwhile.
    func answer(_ work: Work, _ outcome: WorkOutcome) {
        state.withLock { $0.works.removeValue(forKey: work.number) }?.resume(returning: outcome)
    }

    /// - Returns: False if the bridge ends.
    private func add(_ make: (inout State) -> Request) -> Bool {
        let (request, reader) = state.withLock {
            state -> (Request?, CheckedContinuation<Request?, Never>?) in
            guard !state.isClosed else { return (nil, nil) }
            let request = make(&state)
            if state.reader == nil { state.requests.append(request) }
            defer { state.reader = nil }
            return (request, state.reader)
        }
        reader?.resume(returning: request)
        return request != nil
    }

    /// Returns the next request when there is one; nil when the bridge ends.
    ///
    /// One caller at a time.
    func next() async -> Request? {
        await withCheckedContinuation { continuation in
            let (request, isClosed) = state.withLock { state -> (Request?, Bool) in
                if state.isClosed { return (nil, true) }
                if !state.requests.isEmpty { return (state.requests.removeFirst(), false) }
                state.reader = continuation
                return (nil, false)
            }
            if request != nil || isClosed { continuation.resume(returning: request) }
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
        for case .batch(let batch) in former.requests { batch.answerThatItEnds() }
        for work in former.works.values { work.resume(returning: .left) }
        for pause in former.pauses.values { pause.resume() }
    }
}
