public import Logging
public import ModuleHostCore

extension Logger {
    /// Writes a record of a host's log.
    ///
    /// ```swift
    /// let host = try AppHost(slatefileAt: slatefile) { logger.write($0) }
    /// ```
    ///
    /// The record's module, event, duration in milliseconds and fields are metadata: `module`, `event`, `ms`, and each
    /// field under its name. A line of the host itself has no `module`. Characters that a terminal obeys are shown as
    /// escapes. The source is `ModuleHost`, by which a ``ModuleLogHandler`` recognizes such a line.
    ///
    /// - Thread: Any. The backend of the logger must not block: the thread may be the one that runs all modules.
    /// - Level: Of the host first, which does not pass on lines below, then of the logger.
    /// - Parameter record: The record.
    public func write(_ record: LogRecord) {
        let level = Level(record.level)
        guard logLevel <= level else { return }
        let record = record.escaped
        log(
            level: level, "\(record.message)", metadata: record.metadata, source: hostSource)
    }
}

/// The source of lines that come from the log of a host.
let hostSource = "ModuleHost"

extension LogRecord {
    /// The parts of the record beside level and message.
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for field in fields { metadata[field.name] = .string(field.text) }
        if let module { metadata["module"] = .string(module) }
        if let event { metadata["event"] = .string(event) }
        if let duration { metadata["ms"] = .stringConvertible(duration / .milliseconds(1)) }
        return metadata
    }
}

extension Logger.Level {
    /// The level of a record.
    fileprivate init(_ level: LogLevel) {
        switch level {
        case .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error: self = .error
        @unknown default: self = .error
        }
    }
}
