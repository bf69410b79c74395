import AppService
package import ModuleHostCore

/// A log sink that keeps every record, and lets a test await the one that it is about.
package final class LogRecorder: LogSink {
    private struct Waiter {
        let matches: @Sendable (LogRecord) -> Bool
        let body: @Sendable (LogRecord) -> Void
    }

    private struct State {
        var records: [LogRecord] = []
        var waiters: [Waiter] = []
    }

    private let state = Guarded(State())

    package init() {}

    /// A log that writes here, every level included.
    package var log: Log { Log(to: self, threshold: .debug) }

    /// All records so far, in order.
    package var records: [LogRecord] { state.withLock { $0.records } }

    /// The messages of all records so far, in order.
    package var messages: [String] { records.map(\.message) }

    package func write(_ record: LogRecord) {
        let woken = state.withLock { state in
            state.records.append(record)
            let woken = state.waiters.filter { $0.matches(record) }
            state.waiters.removeAll { $0.matches(record) }
            return woken
        }
        for waiter in woken { waiter.body(record) }
    }

    /// The last lines, for the error of a test.
    var lastLines: String {
        records.suffix(12).map { record in
            let who = record.module.map { "\($0): " } ?? ""
            let event = record.event.map { " [\($0)]" } ?? ""
            return "\n  \(record.level.rawValue) \(who)\(record.message)\(event)"
        }.joined()
    }

    /// The first record that `matches`, of those already here and those to come.
    ///
    /// Waits as long as it takes: give the test a time limit.
    ///
    /// - Parameters:
    ///   - start: How many of those that are here to pass over.
    ///   - matches: Whether a record is the one.
    /// - Returns: The record.
    package func first(
        from start: Int = 0, where matches: @escaping @Sendable (LogRecord) -> Bool
    ) async -> LogRecord {
        await withCheckedContinuation { continuation in
            first(from: start, where: matches) { continuation.resume(returning: $0) }
        }
    }

    /// Calls a closure with the first record that `matches`, on the thread that logs it.
    func first(
        from start: Int = 0, where matches: @escaping @Sendable (LogRecord) -> Bool,
        _ body: @escaping @Sendable (LogRecord) -> Void
    ) {
        let found = state.withLock { state -> LogRecord? in
            if let record = state.records.dropFirst(start).first(where: matches) { return record }
            state.waiters.append(Waiter(matches: matches, body: body))
            return nil
        }
        if let found { body(found) }
    }

    /// The first record whose message contains `text`.
    package func first(from start: Int = 0, containing text: String) async -> LogRecord {
        await first(from: start) { $0.message.contains(text) }
    }
}
