/// The options of `hostd run`.
public struct HostDaemonOptions: Sendable {
    /// The format of the log.
    public enum LogStyle: String, Hashable, Sendable, CaseIterable {
        /// For people, or marked for the journal of systemd where stderr leads there.
        case text
        /// For programs: a JSON object a line.
        case json
    }

    /// The path of the slatefile.
    ///
    /// Default: `slatefile.json`.
    public var slatefile: String
    /// The path of the state directory; nil for `$STATE_DIRECTORY`, or `.hostd` beside the slatefile.
    public var stateDirectory: String?
    /// The format of the log.
    ///
    /// Default: text.
    public var logStyle: LogStyle
    /// The least level that is logged; nil for `logLevel` of the slatefile, and `info` without that.
    ///
    /// Default: nil.
    public var logLevel: LogLevel?
    /// Whether the slatefile is reloaded when its file changes.
    ///
    /// Default: false.
    public var watchesSlatefile = false
    /// Whether this process starts the host as a child, restarts it when it dies, and does nothing else.
    ///
    /// The child is this binary with the same arguments. Default: false.
    public var respawns = false
    /// The size in bytes of the record of what happens, in the state directory: 64 KiB to 256 MiB.
    ///
    /// A record file of a different size is replaced by an empty one. Default: 4 MiB.
    public var recordSize = RecordRing.defaultSize
    package static var recordSizes: ClosedRange<Int> { RecordRing.sizes }
    /// Whether the record keeps every delivery, and every call from outside.
    ///
    /// Else those that take 1 ms or more, those that fail, and those of a trace whose sender records it. Default: false.
    public var recordsAll = false
    /// The observer of deliveries and of calls from outside.
    ///
    /// Default: nil, for none.
    public var observer: (any DeliveryObserver)?
    /// The name and the version of the program, for its messages and its log.
    package var program = ProgramIdentity.hostd
    /// The environment of the host.
    ///
    /// Default: that of the process.
    public var environment: [String: String]

    /// Creates options with their defaults.
    public init(
        slatefile: String = "slatefile.json", stateDirectory: String? = nil,
        logStyle: LogStyle = .text, logLevel: LogLevel? = nil
    ) {
        self.slatefile = slatefile
        self.stateDirectory = stateDirectory
        self.logStyle = logStyle
        self.logLevel = logLevel
        environment = CurrentProcess.environment()
    }
}

extension LogFormat {
    /// Creates the format that suits stderr, by its kind and the environment.
    ///
    /// - Parameters:
    ///   - style: The requested style.
    ///   - environment: The variables, of which `JOURNAL_STREAM`, `NO_COLOR` and `TERM` are read.
    ///   - descriptor: The destination of the log.
    package init(
        _ style: HostDaemonOptions.LogStyle, environment: [String: String],
        descriptor: Int32 = RawOutput.standardError
    ) {
        if style == .json {
            self = .json
        } else if let stream = environment["JOURNAL_STREAM"],
            RawOutput.deviceAndInode(of: descriptor) == stream
        {
            self = .journal
        } else if RawOutput.isTerminal(descriptor) {
            // https://no-color.org: present and not empty.
            let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
            self = .terminal(colors: !isPlain && environment["TERM"] != "dumb")
        } else {
            self = .file
        }
    }
}
