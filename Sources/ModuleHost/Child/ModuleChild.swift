import AppService
import Synchronization

/// The process of one module, which runs a host's binary.
///
/// It runs a host of that one module, controlled by the host that has started it: events are sent down, and
/// the module's calls to others are sent up.
enum ModuleChild {
    /// Runs until the host ends, or requests the end.
    static func run(_ entry: String, time: any TimeSource = SystemTimeSource.shared) -> ExitCode {
        guard !RawOutput.isTerminal(RawInput.standardInput) else {
            let name = CommandLine.arguments.first?.split(separator: "/").last ?? "program"
            Log(to: PlainErrors()).error(
                "\(name) is a module, which a host runs: name it in a slatefile, as "
                    + "\"command\": [\"./\(name)\"]")
            return .usage
        }
        Signals.endAtOnceOnCrash()
        // In a module's process, signals have their default actions, even if main has blocked them.
        Signals.blockExactly(SignalSet())
        Signals.turnIntoErrors()
        LargeMemory.shareHeapIfLimited()
        CurrentProcess.removeFromEnvironment([LaunchSpec.entryVariable])
        do {
            return try run(entry, over: StandardStreams.take(), time)
        } catch {
            Log(to: PlainErrors()).error("\(error)")
            return .failed
        }
    }

    /// Runs over other streams: until the end of the module, or of the process where the host ends.
    ///
    /// - Throws: An error where the first request is not that of a host.
    static func run(
        _ entry: String, over streams: consuming StandardStreams,
        _ time: any TimeSource = SystemTimeSource.shared
    ) throws -> ExitCode {
        let box = MailBox()
        let connection = try ParentConnection(over: streams) { box.announce() }
        guard let first = connection.firstLine() else { return .success }
        guard case .single(.request(let request, let id)) = RPCFrame(first),
            request.method == "initialize", let parameters = request.parameters
        else { throw NotAModule() }
        let start = try ModuleStart(parameters, entry: entry)
        // The name would otherwise be that of the link through which the binary was started: "exe".
        NativeThread.nameCurrent(start.module.text)
        let parent = UpstreamHost(
            of: start.module, over: connection, answering: id, hostID: start.hostID)
        let end = BlockingFuture<AppHost.End>()
        let log = Log(to: ParentLog(connection, of: start.module), threshold: .debug)
        let host = AppHost(
            slatefile: start.slatefile, stateDirectory: start.stateDirectory,
            processes: ProcessSettings(), tokens: .empty, inbox: nil, log: log, time: time,
            observer: AppHost.Observer(onEnd: { end.keep($0) }), blackBox: nil, role: parent)
        box.open(host, parent)
        try host.launch()
        connection.waitForEnd()
        // The input has ended: the host has died, unless it has announced the end.
        guard connection.isEnding.load(ordering: .relaxed) else { CurrentProcess.exitNow(0) }
        _ = end.take()
        return .success
    }
}

/// The error of a process that was started as a module's, but not by a host.
private struct NotAModule: Error, CustomStringConvertible {
    var description: String {
        "the first line of standard input is not the 'initialize' of a host: this process is that of a module, which only a host "
            + "may start"
    }
}

/// A mailbox that makes the lane handle messages of the host.
private final class MailBox: Sendable {
    private let host = Guarded<(AppHost, UpstreamHost)?>(nil)

    func open(_ host: AppHost, _ parent: UpstreamHost) {
        self.host.withLock { $0 = (host, parent) }
    }

    func announce() {
        guard let (host, parent) = host.withLock({ $0 }) else { return }
        host.onLane { _, thread in parent.takeMail(on: thread) }
    }
}

/// The contents of the first request.
private struct ModuleStart {
    let module: ModuleID
    let stateDirectory: String
    let hostID: String?
    let slatefile: Slatefile

    private struct Parameters: Decodable {
        let `protocol`: Int
        let app: String
        let module: String
        let host: String
        let config: JSONValue
        let appConfig: JSONValue
        let stateDirectory: String
        let hostId: String?
        let deadlines: JSONValue?
        let providers: [Provider]?

        struct Provider: Decodable {
            let module: String
            let entry: String
        }
    }

    init(_ parameters: JSONValue, entry: String) throws {
        let parameters = try parameters.decode(Parameters.self)
        module = try ModuleID(parameters.module)
        stateDirectory = parameters.stateDirectory
        hostID = parameters.hostId
        var json = JSONWriter()
        json.object {
            $0.member("slate", 1)
            $0.member("app", parameters.app)
            $0.member("config", parameters.appConfig)
            // The host supervises this module, with shorter deadlines, wherever it waits for it.
            $0.member("deadlines") {
                $0.object { json in
                    for step in ["event", "launch", "stop", "stopAll", "call"] {
                        json.member(step, "24h")
                    }
                }
            }
            $0.member("modules") {
                $0.array {
                    $0.object {
                        $0.member("id", parameters.module)
                        $0.member("entry", entry)
                        $0.member("main", true)
                        $0.member("config", parameters.config)
                    }
                }
            }
        }
        var slatefile = try Slatefile.read(
            json.bytes, path: "initialize", environment: { _ in nil })
        if let deadlines = ModuleDeadlines(parameters.deadlines) {
            slatefile.deadlines.apply(deadlines)
        } else {
            slatefile.deadlines.call = Slatefile.Defaults.call
        }
        slatefile.modules[0].facadeProviders = try (parameters.providers ?? []).map {
            Slatefile.FacadeProvider(module: try ModuleID($0.module), entry: $0.entry)
        }
        self.slatefile = slatefile
    }
}

extension Slatefile.Deadlines {
    /// Takes the deadlines that the host has set.
    mutating func apply(_ deadlines: ModuleDeadlines) {
        (event, call) = (deadlines.event, deadlines.call)
    }
}

/// The log of the module, which the host writes.
private struct ParentLog: LogSink {
    private let connection: ParentConnection
    private let module: String

    init(_ connection: ParentConnection, of module: ModuleID) {
        self.connection = connection
        self.module = module.text
    }

    func write(_ record: LogRecord) {
        // Messages about this process's own host are logged by the parent host, too.
        guard record.module == module || record.level >= .warning else { return }
        connection.notify("log") { json in
            json.object {
                $0.member("level", record.level.rawValue)
                $0.member("message", record.messageWithFields)
            }
        }
    }
}

/// A log on standard error, for messages before there is a host.
private struct PlainErrors: LogSink {
    func write(_ record: LogRecord) {
        let line: TerminalText = "\(record.message)\n"
        try? RawOutput.writeAll(line.string.utf8, to: RawOutput.standardError)
    }
}
