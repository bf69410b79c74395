/// The level of a line of the log, from least to most important.
@nonexhaustive public enum LogLevel: String, Hashable, Sendable, CaseIterable {
    /// Details for finding a fault. Off by default.
    case debug
    /// Normal events.
    case info
    /// Normal events that are worth finding again, such as a start or a reload.
    case notice
    /// Problems without harm so far.
    case warning
    /// Errors.
    case error
}

extension LogLevel: Comparable {
    /// The place from least to most.
    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warning: 3
        case .error: 4
        }
    }

    /// Returns whether `left` is less important.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// The log of a module or of the host: one line for one event.
///
/// ```swift
/// log.info("badge count is \(count)")
/// ```
///
/// The host gives each module a log that bears its id. Lines go to the host's stderr, in the order
/// in which they are written, as text, as JSON, or marked for the journal of systemd. What a
/// message contains cannot break or forge a line: control characters are escaped.
///
/// - Thread: Any, at any time.
/// - Blocking: Never. If the lines are not taken, 1 MiB of them is kept; beyond that they are
///   dropped, and the log says how many.
/// - Cost: A few microseconds for a line that is written; next to nothing for one below the
///   threshold, whose message is not even made.
public struct Log: Sendable {
    /// The id of the module that speaks; nil for the host.
    package let module: String?
    /// Lines that matter less are not written.
    package let threshold: LogLevel
    private let sink: any LogSink

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - sink: Where the records go.
    ///   - module: The id of the module that speaks; nil for the host.
    ///   - threshold: The least level that is written.
    package init(to sink: any LogSink, module: String? = nil, threshold: LogLevel = .info) {
        self.sink = sink
        self.module = module
        self.threshold = threshold
    }

    /// The same log with another speaker.
    package func of(module: String) -> Log { Log(to: sink, module: module, threshold: threshold) }

    /// Returns whether lines of this level are written.
    public func isEnabled(_ level: LogLevel) -> Bool { level >= threshold }

    /// Writes a line for debugging.
    public func debug(_ message: @autoclosure () -> String) { write(.debug, message()) }

    /// Writes a line on what happened, in the normal course.
    public func info(_ message: @autoclosure () -> String) { write(.info, message()) }

    /// Writes a line on what is normal but worth finding again.
    public func notice(_ message: @autoclosure () -> String) { write(.notice, message()) }

    /// Writes a line on what went wrong without harm so far, or soon will.
    public func warning(_ message: @autoclosure () -> String) { write(.warning, message()) }

    /// Writes a line on what went wrong.
    public func error(_ message: @autoclosure () -> String) { write(.error, message()) }

    /// Writes a line with the parts that a reader may want to filter by.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - message: What happened.
    ///   - event: The event in whose course it happened, by its external name.
    ///   - duration: How long it took.
    ///   - fields: What else there is to say, in this order.
    package func write(
        _ level: LogLevel, _ message: @autoclosure () -> String, event: String? = nil,
        duration: Duration? = nil, fields: @autoclosure () -> [LogField] = []
    ) {
        guard level >= threshold else { return }
        sink.write(
            LogRecord(
                time: .now(), level: level, module: module, event: event, duration: duration,
                message: message(), fields: fields()))
    }
}
