/// An event for the log, before it is formatted as a line.
package struct LogRecord: Hashable, Sendable {
    package var time: WallTime
    package var level: LogLevel
    /// The id of the module that it comes from; nil for the host.
    package var module: String?
    /// The event that it belongs to, by its external name.
    package var event: String?
    /// The duration.
    package var duration: Duration?
    package var message: String
    /// Further fields.
    package var fields: [LogField]

    package init(
        time: WallTime, level: LogLevel, module: String? = nil, event: String? = nil,
        duration: Duration? = nil, message: String, fields: [LogField] = []
    ) {
        self.time = time
        self.level = level
        self.module = module
        self.event = event
        self.duration = duration
        self.message = message
        self.fields = fields
    }
}

/// A named value of a log record.
///
/// In JSON it stands beside `time`, `level`, `module`, `event`, `ms` and `message`, so its name must be
/// different from these.
package struct LogField: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case string(String)
        case integer(Int)
        case bool(Bool)
    }

    package let name: String
    package let value: Value

    package init(_ name: String, _ value: String) {
        (self.name, self.value) = (name, .string(value))
    }
    package init(_ name: String, _ value: Int) { (self.name, self.value) = (name, .integer(value)) }
    package init(_ name: String, _ value: Bool) { (self.name, self.value) = (name, .bool(value)) }
}

/// A destination of log records.
///
/// May be called by any thread, and must not block.
package protocol LogSink: Sendable {
    func write(_ record: LogRecord)
}
