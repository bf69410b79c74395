import AppService

/// The traces of the events and calls that a module's process has received last.
///
/// It names a trace by its text; the host knows the delivery or call, too. From any thread.
final class DeliveredTraces: Sendable {
    /// As many as a process may have to answer.
    private static let limit = OpenWindow.sizes.upperBound
    private let latest = Guarded(Deque<TraceContext>())

    /// Notes the trace of an event or call that is sent to the process.
    func note(_ trace: TraceContext?) {
        guard let trace else { return }
        latest.withLock { latest in
            if latest.count == Self.limit { _ = latest.popFirst() }
            latest.append(trace)
        }
    }

    /// Returns the newest trace with the text of a given one, else that one.
    func known(_ given: TraceContext) -> TraceContext {
        latest.withLock { latest in
            (0..<latest.count).last { latest[$0]?.text == given.text }.flatMap { latest[$0] }
        } ?? given
    }
}
