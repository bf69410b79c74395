import AppService
import Synchronization

/// A host's binary as the process of one of its modules.
///
/// It runs a host of that one module, which is led by the host that has started it: what happens comes down,
/// and what the module asks of others goes up.
enum ModuleChild {
    /// Runs until the host ends, or says that this is the end.
    ///
    /// - Parameters:
    ///   - entry: The module's entry.
    ///   - time: The clock.
    /// - Returns: How the process ends.
    static func run(_ entry: String, time: any TimeSource = SystemTimeSource.shared) -> ExitCode {
        Signals.endAtOnceOnCrash()
        // For a module signals do what they do by default, also where main has held them back.
        Signals.blockExactly(SignalSet())
        Signals.turnIntoErrors()
        CurrentProcess.removeFromEnvironment([LaunchSpec.entryVariable])
        do {
            return try run(entry, over: StandardStreams.take(), time)
        } catch {
            Log(to: PlainErrors()).error("\(error)")
            return .failed
        }
    }

    /// The same over other streams: up to the end of the module, or of the process where the host ends.
    ///
    /// - Throws: Where the first request is not the one of a host.
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
        // It would be that of the link by which the binary was found: "exe".
        NativeThread.nameCurrent(start.module.text)
        let parent = UpstreamHost(of: start.module, over: connection, answering: id)
        let end = BlockingFuture<Host.End>()
        let log = Log(to: ParentLog(connection, of: start.module), threshold: .debug)
        let host = Host(
            slatefile: start.slatefile, stateDirectory: start.stateDirectory,
            processes: ProcessSettings(), tokens: .empty, inbox: nil, log: log, time: time,
            observer: Host.Observer(onEnd: { end.keep($0) }), blackBox: nil, role: parent)
        box.open(host, parent)
        try host.launch()
        connection.waitForEnd()
        // The end of what comes down: the host is no more, unless it has said so.
        guard connection.isEnding.load(ordering: .relaxed) else { CurrentProcess.exitNow(0) }
        _ = end.take()
        return .success
    }
}

/// The process was started as a module's, and not by a host.
private struct NotAModule: Error, CustomStringConvertible {
    var description: String {
        "\(LaunchSpec.entryVariable) is set, which makes this the process of a module: a host sets it, nobody else"
    }
}

/// Has the lane take what comes down.
private final class MailBox: Sendable {
    private let host = Guarded<(Host, UpstreamHost)?>(nil)

    func open(_ host: Host, _ parent: UpstreamHost) { self.host.withLock { $0 = (host, parent) } }

    func announce() {
        guard let (host, parent) = host.withLock({ $0 }) else { return }
        host.onLane { _, thread in parent.takeMail(on: thread) }
    }
}

/// The contents of the first request.
private struct ModuleStart {
    let module: ModuleID
    let stateDirectory: String
    let slatefile: Slatefile

    private struct Parameters: Decodable {
        let `protocol`: Int
        let app: String
        let module: String
        let host: String
        let config: JSONValue
        let appConfig: JSONValue
        let stateDirectory: String
    }

    init(_ parameters: JSONValue, entry: String) throws {
        let parameters = try parameters.decode(Parameters.self)
        module = try ModuleID(parameters.module)
        stateDirectory = parameters.stateDirectory
        var json = JSONWriter()
        json.object {
            $0.member("slate", 1)
            $0.member("app", parameters.app)
            $0.member("config", parameters.appConfig)
            // The host watches over this module, and has less patience.
            $0.member("deadlines") {
                $0.object { json in
                    for step in ["event", "launch", "stop", "stopAll"] { json.member(step, "24h") }
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
        slatefile = try Slatefile.read(json.bytes, path: "initialize", environment: { _ in nil })
    }
}

/// The module's log, which the host writes.
private struct ParentLog: LogSink {
    private let connection: ParentConnection
    private let module: String

    init(_ connection: ParentConnection, of module: ModuleID) {
        self.connection = connection
        self.module = module.text
    }

    func write(_ record: LogRecord) {
        // What this host has to say of itself its own host says, too.
        guard record.module == module || record.level >= .warning else { return }
        connection.notify("log") { json in
            json.object {
                $0.member("level", record.level.rawValue)
                $0.member("message", record.message)
            }
        }
    }
}

/// Standard error, for what there is to say before there is a host.
private struct PlainErrors: LogSink {
    func write(_ record: LogRecord) {
        let line: TerminalText = "\(record.message)\n"
        try? RawOutput.writeAll(line.string.utf8, to: RawOutput.standardError)
    }
}
