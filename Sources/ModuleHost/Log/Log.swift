/// The log of a module or of the host: one line for one event.
///
/// ```swift
/// log.info("badge count is \(count)")
/// ```
///
/// The host gives each module a log that bears its id. Lines go to the host's stderr, in the order in which
/// they are written, as text, as JSON, or marked for the journal of systemd. The content of a message cannot
/// break or forge a line: control characters are escaped.
///
/// - Thread: Any, at any time.
/// - Blocking: Never, except for the disk if stderr is a file. If the lines are not read, up to 1 MiB of them
///   is kept; further lines are dropped, and
///   the log reports how many.
/// - Cost: A few microseconds for a line that is written; next to nothing for one below the threshold, whose
///   message is not even built.
public struct Log: Sendable {
    /// The id of the module that the log belongs to; nil for the host.
    package let module: String?
    /// The least levels that are written.
    package let levels: LogLevels
    private let sink: any LogSink

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - sink: The destination of the records.
    ///   - module: The id of the module that the log belongs to; nil for the host.
    ///   - threshold: The least level that is written; nil for that of the slatefile, and `info` without one.
    package init(to sink: any LogSink, module: String? = nil, threshold: LogLevel? = nil) {
        self.init(to: sink, module: module, levels: LogLevels(start: threshold))
    }

    /// Creates a log with levels that its sink knows, too.
    package init(to sink: any LogSink, module: String? = nil, levels: LogLevels) {
        self.sink = sink
        self.module = module
        self.levels = levels
    }

    /// Returns the same log for another module.
    package func of(module: String) -> Log { Log(to: sink, module: module, levels: levels) }

    /// Returns whether lines of this level are written, or shown to a follower.
    public func isEnabled(_ level: LogLevel) -> Bool { levels.isEnabled(level, for: module) }

    /// Writes a line for debugging.
    public func debug(_ message: @autoclosure () -> String) { write(.debug, message()) }

    /// Writes a line about a normal event.
    public func info(_ message: @autoclosure () -> String) { write(.info, message()) }

    /// Writes a line about a normal event that is worth finding again.
    public func notice(_ message: @autoclosure () -> String) { write(.notice, message()) }

    /// Writes a line about a problem without harm so far, or an imminent one.
    public func warning(_ message: @autoclosure () -> String) { write(.warning, message()) }

    /// Writes a line about an error.
    public func error(_ message: @autoclosure () -> String) { write(.error, message()) }

    /// Writes a line with fields that a reader may filter by.
    ///
    /// As text they follow the message, `count=3`; in JSON they are members of the line. Of a module in a process of its
    /// own they are a part of the message.
    ///
    /// - Parameters:
    ///   - level: The level of the line.
    ///   - message: The message.
    ///   - fields: The fields, in this order, each with another name.
    public func write(
        _ level: LogLevel, _ message: @autoclosure () -> String,
        fields: @autoclosure () -> [LogField]
    ) {
        guard isEnabled(level) else { return }
        send(level, message(), nil, nil, fields())
    }

    /// Writes a line with the parts that a reader may want to filter by.
    ///
    /// - Parameters:
    ///   - level: The level of the line.
    ///   - message: The message.
    ///   - event: The event that it belongs to, by its external name.
    ///   - duration: How long it took.
    ///   - fields: Further fields, in this order.
    package func write(
        _ level: LogLevel, _ message: @autoclosure () -> String, event: String? = nil,
        duration: @autoclosure () -> Duration? = nil,
        fields: @autoclosure () -> [LogField] = []
    ) {
        guard isEnabled(level) else { return }
        send(level, message(), event, duration(), fields())
    }

    /// Writes a record.
    ///
    /// Not inlined: a copy stood at each of a hundred places that log.
    @inline(never)
    private func send(
        _ level: LogLevel, _ message: String, _ event: String?, _ duration: Duration?,
        _ fields: [LogField]
    ) {
        sink.write(
            LogRecord(
                time: .now(), level: level, module: module, event: event, duration: duration,
                message: message, fields: fields))
    }
}
