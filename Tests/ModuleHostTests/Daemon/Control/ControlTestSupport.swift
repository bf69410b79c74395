import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

extension ControlMethods {
    /// Handles the request of a client as a server does.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters, as JSON.
    ///   - account: The account in which the request is in flight, with 1000 bytes; nil for none.
    ///   - deliver: Receives the line of the response.
    func receive(
        _ method: String, _ parameters: String, in account: InFlightAccount? = nil,
        deliver: @escaping @Sendable ([UInt8]) -> Void = { _ in }
    ) {
        let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#
        var session = RPCSession()
        session.receive(Array((line + "\n").utf8)[...])
        _ = session.takeLines(upTo: 1) { request, ticket in
            self[request.method]?(
                Call(
                    peer: SocketPeer(processID: 4711, userID: 1000, groupID: 0),
                    parameters: request.parameters,
                    reply: RPCReply(to: ticket, load: account?.enter(1000)) { deliver($1) }))
        }
    }
}

/// A control server in a folder of its own, whose clock stands still, with methods to test it by.
final class ServedSocket: Sendable {
    let folder: TemporaryFolder
    let directory: StateDirectory
    let server: ControlServer
    let log = LogRecorder()
    let time = ManualTimeSource()
    let tail: TailHub
    /// The calls of `hold` that wait for the test to answer them.
    let held = LockedList<ControlMethods.Call>()
    /// The answers to `about`, as JSON, of which the last counts.
    let about = LockedList<String>()
    private let claim: PidFile

    struct Greeting: Decodable, Sendable {
        let name: String
        let times: Int?
    }

    init(
        limits: ControlServer.Limits = .init(), tailLimits: TailHub.Limits = .init(),
        budget: InFlightBudget = InFlightBudget(), in name: String = "state",
        accepts: @escaping @Sendable (SocketPeer) -> Bool = { ControlServer.isOwnerOrRoot($0) }
    ) throws {
        folder = try TemporaryFolder()
        directory = StateDirectory(path: folder.path(name))
        claim = try PidFile(claiming: directory)
        tail = TailHub(limits: tailLimits)
        var methods = ControlMethods()
        methods.add("greet", Greeting.self) { greeting, call in
            call.reply.succeed { $0.value("hello \(greeting.name)") }
        }
        methods.add("peer") { call in
            call.reply.succeed { json in
                json.array {
                    $0.value(Int(call.peer.processID))
                    $0.value(Int(call.peer.userID))
                    $0.value(Int(call.peer.groupID))
                }
            }
        }
        methods.add("large") { call in
            call.reply.succeed { $0.value(String(repeating: "x", count: 1 << 20)) }
        }
        let held = held
        methods["hold"] = { held.append($0) }
        methods.add("forget") { _ in }
        methods["about"] = { [about] call in
            call.reply.succeed(raw: (about.values.last ?? "{}").utf8)
        }
        methods.add("reload") { $0.reply.succeed { $0.null() } }
        for method in ControlMethods.cancellable { methods[method] = { held.append($0) } }
        for method in ControlMethods.addLoad.subtracting(ControlMethods.cancellable) {
            methods.add(method) { $0.reply.succeed { $0.null() } }
        }
        server = try ControlServer(
            in: directory, methods: methods, tail: tail, log: log.log, budget: budget, time: time,
            limits: limits, accepts: accepts)
        try server.start()
    }

    deinit { server.stop() }

    func client() throws -> SocketClient { try SocketClient(directory.path(of: "control.sock")) }

    /// Waits until the server has taken everything that was sent before, and set its alarms.
    func settle() throws {
        let client = try client()
        // The second answer comes from a turn after the one that took the rest.
        for _ in 0..<2 { #expect(try client.ask("ping") == "\"pong\"") }
    }
}

/// A client that may do what no good client does.
final class SocketClient {
    let number: Int32
    private var input = LineBuffer(limit: .max)
    private var bytes = [UInt8](repeating: 0, count: 1 << 16)

    init(_ path: String) throws {
        number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError.last }
    }

    deinit {
        // A process that another test is about to start may have the socket open, too, until it runs.
        shutdown(number, Int32(SHUT_RDWR))
        close(number)
    }

    /// Sends bytes; those that reach no reader are lost.
    func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a call, or without an id a notification.
    func call(_ method: String, id: Int? = 1, _ parameters: String? = nil) {
        let id = id.map { #""id":\#($0),"# } ?? ""
        let parameters = parameters.map { #","params":\#($0)"# } ?? ""
        send(#"{"jsonrpc":"2.0",\#(id)"method":"\#(method)"\#(parameters)}"# + "\n")
    }

    /// Notifies the other end that no more will be sent.
    func endSending() { shutdown(number, Int32(SHUT_WR)) }

    /// The next line; nil at the end.
    ///
    /// Waits as long as it takes.
    func line() -> String? {
        while true {
            if case .line(let line) = input.next() { return String(decoding: line, as: UTF8.self) }
            let count = recv(number, &bytes, bytes.count, 0)
            if count <= 0 { return nil }
            input.append(bytes[..<count])
        }
    }

    /// All lines up to the end.
    func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Calls a method and returns the text of its result.
    func ask(_ method: String, _ parameters: String? = nil) throws -> String {
        call(method, id: 1, parameters)
        let line = try #require(self.line())
        guard case .single(.response(let response)) = RPCFrame(Array(line.utf8)) else {
            return line
        }
        return try response.result.get().text
    }
}

func errorLine(_ code: Int, _ message: String, _ data: String, id: String = "null") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(code),"message":"\#(message)","data":"\#(data)"}}"#
}

extension TailHub {
    /// Logs a line with a number, at as many seconds.
    func log(_ number: Int, _ text: String = "", level: LogLevel = .info, event: String? = nil) {
        write(
            LogRecord(
                time: WallTime(seconds: number), level: level, event: event, message: text,
                fields: [LogField("n", number)]))
    }
}
