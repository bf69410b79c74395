import ModuleHost
import TestSupport
import Testing

/// A host that is nothing but a control socket.
final class StandIn: Sendable {
    let folder: TemporaryFolder
    let directory: StateDirectory
    let tail = TailHub()
    private let server: ControlServer
    private let claim: Claim
    /// The call of `stop`, for the test to answer.
    let stop = Promise<ControlMethods.Call>()
    /// The call of `send`, where that is not answered.
    let send = Promise<ControlMethods.Call>()
    /// The call of `about`, where that is not answered.
    let about = Promise<ControlMethods.Call>()

    /// How it holds its state directory, and what it leaves there.
    private enum Claim: ~Copyable {
        case lettingGo(PidFile)
        case untilKilled(Descriptor)
    }

    /// - Parameters:
    ///   - answers: What is answered to a method; else its parameters.
    ///   - error: What is answered instead.
    ///   - stopTime: What it says that a stop may take, in milliseconds; nil where it says nothing.
    ///   - isKilled: Whether it leaves its state directory like a process that is killed.
    ///   - answersSend: Whether `send` is answered like the others.
    /// - Throws: Where it cannot be started.
    init(
        _ answers: [String: String] = [:], error: RPCError? = nil, stopTime: Int? = 60_000,
        isKilled: Bool = false, answersSend: Bool = true
    ) throws {
        folder = try TemporaryFolder()
        directory = StateDirectory(path: folder.path(".hostd"))
        if isKilled {
            try makeFolders(directory.path)
            let path = directory.path(of: PidFile.name)
            try writeFile("\(CurrentProcess.id)\n".utf8, to: path)
            let file = try Descriptor(lockFile: path)
            #expect(try file.tryLock(.exclusive))
            claim = .untilKilled(file)
        } else {
            claim = .lettingGo(try PidFile(claiming: directory))
        }
        var methods = ControlMethods()
        for method in [
            "status", "modules", "health", "open", "canopen", "call", "post", "routes", "send",
            "reload", "apply", "restart", "unload", "why", "metrics", "wait",
            "startup", "timeline", "config",
        ] {
            methods[method] = { call in
                if let error { return call.reply.fail(error) }
                let parameters = call.parameters?.text ?? "null"
                let isCall = method == "open" || method == "call"
                let answer = answers[method] ?? (isCall ? #"{"reply":\#(parameters)}"# : parameters)
                call.reply.succeed(raw: answer.utf8)
            }
        }
        methods["about"] = { [about] call in
            guard let stopTime else { return about.keep(call) }
            call.reply.succeed { json in json.object { $0.member("stopMs", stopTime) } }
        }
        if !answersSend {
            methods["send"] = { [send] in send.keep($0) }
        }
        methods["stop"] = { [stop] in stop.keep($0) }
        server = try ControlServer(
            in: directory, methods: methods, tail: tail, log: LogRecorder().log)
        try server.start()
    }

    func hostd(_ arguments: String..., environment: [String: String] = [:]) throws
        -> HostProcess.Outcome
    {
        try HostProcess.run(arguments, in: folder.path, environment: environment)
    }

    func end() { server.stop() }

    deinit { server.stop() }
}
