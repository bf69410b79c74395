public import Logging
public import ModuleHostCore

/// A backend of swift-log that writes to the log of a module.
///
/// The lines of a library then have the module's id, its place in the log of the host, and its level: what
/// `hostd log-level` chooses takes effect at the next line.
///
/// - Metadata: Fields of the line, sorted by name: the metadata of the logger, what its provider adds, and that of the line
///   itself, which replaces the others. `label` is that of the logger, `source` the Swift module that logs, and `error`
///   the error of the line.
/// - Levels: `trace` becomes `debug`, and `critical` becomes `error`.
/// - Thread: Any, at any time; it does not block, like ``Log``.
/// - Loops: A line that came from a host, by ``Logging/Logger/write(_:)``, is not written again.
public struct ModuleLogHandler: LogHandler {
    /// The metadata of each line.
    public var metadata: Logger.Metadata = [:]
    /// Adds metadata to each line.
    public var metadataProvider: Logger.MetadataProvider?
    private let log: Log
    private let label: String
    private var ownLevel: Logger.Level?

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - log: The log of the module, `context.log`.
    ///   - label: The label of the logger, a field of each line; empty for none.
    public init(_ log: Log, label: String = "") {
        self.log = log
        self.label = label
    }

    /// The least level that is written.
    ///
    /// That of the module at the moment, `debug` at the lowest. A level that is set here is a further limit: what it lets
    /// through is written only if the module's level does, too. Set to `trace`, it has lines of that level written where
    /// those of `debug` are.
    public var logLevel: Logger.Level {
        get { ownLevel ?? currentLevel }
        set { ownLevel = newValue }
    }

    /// The level of the module at the moment.
    private var currentLevel: Logger.Level {
        if log.isEnabled(.debug) { return .debug }
        if log.isEnabled(.info) { return .info }
        if log.isEnabled(.notice) { return .notice }
        if log.isEnabled(.warning) { return .warning }
        // A log without lines of this level drops them itself.
        return .error
    }

    /// Accesses an item of ``metadata``.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line, unless the host has written it before.
    ///
    /// - Parameter event: The line.
    public func log(event: LogEvent) {
        guard event.source != hostSource else { return }
        log.write(
            LogLevel(event.level), event.message.description, fields: fields(of: event))
    }

    private func fields(of event: LogEvent) -> [LogField] {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        var fields: [LogField] = []
        if !label.isEmpty { fields.append(LogField("label", label)) }
        fields.append(LogField("source", event.source))
        if let error = event.error { fields.append(LogField("error", "\(error)")) }
        for (name, value) in all.sorted(by: { $0.key < $1.key })
        where !fields.contains(where: { $0.name == name }) {
            fields.append(LogField(name, value))
        }
        return fields
    }
}

extension Logger {
    /// Creates a logger that writes to the log of a module.
    ///
    /// ```swift
    /// let client = HTTPClient(logger: Logger(label: "weather", log: context.log))
    /// ```
    ///
    /// - Parameters:
    ///   - label: The label, a field of each line; empty for none.
    ///   - log: The log of the module, `context.log`.
    public init(label: String, log: Log) {
        self.init(label: label) { ModuleLogHandler(log, label: $0) }
    }
}

extension LogField {
    /// Creates a field with a value of metadata; numbers and Boolean values stay what they are.
    fileprivate init(_ name: String, _ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): self.init(name, text)
        case .stringConvertible(let number as Int): self.init(name, number)
        case .stringConvertible(let bool as Bool): self.init(name, bool)
        default: self.init(name, "\(value)")
        }
    }
}

extension LogLevel {
    /// The level of a line.
    fileprivate init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error, .critical: self = .error
        }
    }
}
