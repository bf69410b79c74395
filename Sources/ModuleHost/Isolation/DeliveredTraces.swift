import AppService

/// The traces of the events and calls that a module's process has received last.
///
/// It names a trace by its text; the host knows the delivery or call, too. From any thread.
final class DeliveredTraces: Sendable {
    /// As many as a process may have to answer.
    private static let limit = OpenWindow.sizes.upperBound
    private let latest = Guarded(Deque<(trace: TraceContext, isAnswered: Bool)>())

    /// Notes the trace of an event or call that is sent to the process.
    func note(_ trace: TraceContext?) {
        guard let trace else { return }
        latest.withLock { latest in
            if latest.count == Self.limit { _ = latest.popFirst() }
            latest.append((trace, false))
        }
    }

    /// Notes that the process has answered an event or call, or will not.
    func end(_ trace: TraceContext?) {
        guard let trace else { return }
        latest.withLock { latest in
            // A call within an event has the span of that.
            let place = (0..<latest.count).first { index in
                latest[index].map { !$0.isAnswered && $0.trace.span == trace.span } == true
            }
            if let place { latest[place]?.isAnswered = true }
        }
    }

    /// Returns the trace with the text of a given one that the process has to answer, else the last one that it had.
    ///
    /// Several with one text cannot be distinguished: then the delivery or call is not known.
    func known(_ given: TraceContext) -> TraceContext {
        latest.withLock { latest in
            let same = (0..<latest.count).compactMap { latest[$0] }
                .filter { $0.trace.text == given.text }
            let open = Set(same.lazy.filter { !$0.isAnswered }.map(\.trace.span))
            guard open.count <= 1 else { return given }
            return (same.last { !$0.isAnswered } ?? same.last)?.trace ?? given
        }
    }
}
