/// An event for the log, before it is formatted as a line.
public struct LogRecord: Hashable, Sendable {
    /// The time at which it was logged.
    public package(set) var time: WallTime
    /// The level.
    public package(set) var level: LogLevel
    /// The id of the module that it comes from; nil for the host.
    public package(set) var module: String?
    /// The event that it belongs to, by its external name, such as `push`.
    public package(set) var event: String?
    /// The duration of what it reports, if it reports one.
    public package(set) var duration: Duration?
    /// The message; it may contain control characters.
    public package(set) var message: String
    /// Further fields, in order.
    public package(set) var fields: [LogField]

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

/// A named value of a log record, which a reader may filter by.
///
/// In JSON it stands beside `time`, `level`, `module`, `event`, `ms` and `message`: a field with one of these names
/// gets an underscore at its end.
public struct LogField: Hashable, Sendable {
    /// The type and the value of a field.
    package enum Value: Hashable, Sendable {
        /// A text.
        case string(String)
        /// An integer.
        case integer(Int)
        /// A Boolean value.
        case bool(Bool)
    }

    /// The name.
    public let name: String
    /// The value.
    package let value: Value

    private init(_ name: String, value: Value) {
        self.name =
            switch name {
            case "time", "level", "module", "event", "ms", "message": name + "_"
            default: name
            }
        self.value = value
    }

    /// Creates a field with a text.
    public init(_ name: String, _ value: String) { self.init(name, value: .string(value)) }

    /// Creates a field with an integer, which is a number in JSON.
    public init(_ name: String, _ value: Int) { self.init(name, value: .integer(value)) }

    /// Creates a field with a Boolean value, which is `true` or `false` in JSON.
    public init(_ name: String, _ value: Bool) { self.init(name, value: .bool(value)) }

    /// The value as text; it may contain control characters.
    public var text: String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .bool(let bool): "\(bool)"
        }
    }
}

/// A destination of log records.
package protocol LogSink: Sendable {
    /// Takes a record.
    ///
    /// - Thread: Any, several at a time; records of one thread come in their order.
    /// - Blocking: It must not block: the thread may be the one that runs all modules.
    func write(_ record: LogRecord)
}
