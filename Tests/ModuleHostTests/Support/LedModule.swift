import AppService
import Glibc
import TestSupport

@testable import ModuleHostCore

/// What runs in the process of a Swift module, on a thread of the test's own: the test is its host.
///
/// To be ended: one whose host is gone ends its process, which is the test's.
final class LedModule {
    private let down: TestPipe
    private let up: TestPipe
    private var said: [UInt8] = []
    private var lastID = 1
    /// The declaration of the module.
    private(set) var declaration = JSONValue.emptyObject
    /// The methods of its notifications so far.
    private(set) var notifications: [String] = []
    private let hasEnded = Promise<Void>()

    /// Starts a module of a class of this target, and waits until it is made.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - probe: What it reports to.
    ///   - providers: The modules whose services it uses, as JSON.
    ///   - deadlines: Its deadlines, as JSON.
    ///   - time: Its clock.
    /// - Throws: What it says where it cannot be made.
    init(
        _ type: String = "ProbeModule", probe: Probe, providers: String = "[]",
        deadlines: String = "null", time: any TimeSource = SystemTimeSource.shared
    ) throws {
        down = try TestPipe()
        up = try TestPipe()
        let ends = (
            fcntl(down.readEnd, F_DUPFD_CLOEXEC, 3), fcntl(up.writeEnd, F_DUPFD_CLOEXEC, 3)
        )
        down.closeReadEnd()
        up.closeWriteEnd()
        try NativeThread.start(name: "led module") { [hasEnded] in
            let streams = StandardStreams(
                input: Descriptor(owning: ends.0), output: Descriptor(owning: ends.1))
            _ = try? ModuleChild.run("ModuleHostTests.\(type)", over: streams, time)
            hasEnded.keep(())
        }
        let name = String(decoding: try JSONEncoding.bytes(probe.name), as: UTF8.self)
        do {
            declaration = try ask(
                "initialize",
                """
                {"protocol":2,"host":"0","app":"test","module":"x.a","config":{"probe":\(name)},\
                "appConfig":{},"stateDirectory":"/nonexistent","deadlines":\(deadlines),\
                "providers":\(providers)}
                """)
        } catch {
            // It still runs, and would take the end of its input for the end of its host.
            try end()
            throw error
        }
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: What is asked.
    ///   - parameters: As JSON.
    /// - Returns: The result.
    /// - Throws: The error that it answers with.
    @discardableResult
    func ask(_ method: String, _ parameters: String) throws -> JSONValue {
        try answer(to: try request(method, parameters))
    }

    /// Sends a request, and does not wait for its response.
    ///
    /// - Returns: Its number.
    func request(_ method: String, _ parameters: String) throws -> Int {
        lastID += 1
        try send(#""id":\#(lastID),"method":"\#(method)","params":\#(parameters)"#)
        return lastID
    }

    /// Sends the members of a message.
    func send(_ members: String) throws {
        try RawOutput.writeAll((#"{"jsonrpc":"2.0",\#(members)}"# + "\n").utf8, to: down.writeEnd)
    }

    /// Waits for the response to a request; what it logs meanwhile is no response.
    func answer(to number: Int) throws -> JSONValue {
        while true {
            switch RPCFrame(try nextLine()) {
            case .single(.response(let answer)) where answer.id.text == "\(number)":
                return try answer.result.get()
            case .single(.request(let request, nil)): notifications.append(request.method)
            default: continue
            }
        }
    }

    /// Waits for a request of the module.
    func nextRequest() throws -> (RPCRequest, RPCID) {
        while true {
            if case .single(.request(let request, let id?)) = RPCFrame(try nextLine()) {
                return (request, id)
            }
        }
    }

    /// Waits for a notification of the module.
    func awaitNotification(_ method: String) throws {
        while notifications.last != method {
            if case .single(.request(let request, nil)) = RPCFrame(try nextLine()) {
                notifications.append(request.method)
            }
        }
    }

    /// Notifies it of an event.
    ///
    /// - Returns: What it says where its handler threw; else nothing.
    func notify(_ event: EventKind, _ payload: String? = nil) throws -> String? {
        let payload = payload.map { #","payload":\#($0)"# } ?? ""
        do {
            try ask("event", #"{"event":"\#(event.rawValue)","from":{"kind":"host"}\#(payload)}"#)
            return nil
        } catch let error as RPCError {
            return error.message
        }
    }

    /// Releases it, and waits until it is gone.
    func end() throws {
        try ask("shutdown", "{}")
        down.closeWriteEnd()
        hasEnded.wait()
    }

    private func nextLine() throws -> [UInt8] {
        while true {
            if let end = said.firstIndex(of: UInt8(ascii: "\n")) {
                defer { said.removeFirst(end + 1) }
                return Array(said[..<end])
            }
            let more = up.read()
            if more.isEmpty { throw TestError(description: "the module has ended") }
            said += more
        }
    }
}
