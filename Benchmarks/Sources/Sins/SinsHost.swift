import Foundation
import ModuleHost
import Served
import Synchronization

/// The host of this process, and what is asked of it over its control socket.
final class SinsHost {
    /// A module of the slatefile that has a program.
    struct Entry {
        let id: String
        let command: [String]
        /// More of its entry.
        var more = ""
    }

    struct Reload: Decodable {
        let outcome: String
        let summary: String?
        let text: String?
    }

    struct Module: Decodable {
        struct Process: Decodable {
            let pid: Int32?
            let restarts: Int
            let lastEnd: String?
        }
        let id: String
        let state: String
        let behind: Int?
        let process: Process?
    }

    let folder: URL
    private let slatefile: URL
    private let client: Client
    private static let end = Mutex<String?>(nil)

    /// Starts it on the main thread, and waits until it is ready.
    ///
    /// - Parameters:
    ///   - entries: The modules between the two ordinary ones.
    ///   - folder: Where its files are.
    /// - Throws: Where it does not get ready.
    init(_ entries: [Entry], in folder: URL) throws {
        self.folder = folder
        slatefile = folder.appending(path: "slatefile.json")
        try Self.text(entries).write(to: slatefile, atomically: true, encoding: .utf8)
        let log = open(
            folder.appending(path: "log").path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0, dup2(log, STDERR_FILENO) >= 0 else { throw Failure.system("log") }
        close(log)
        let options = HostDaemonOptions(
            slatefile: slatefile.path, stateDirectory: folder.path, logStyle: .json,
            logLevel: .warning)
        MainThread.run {
            let code = HostDaemon.run(options)
            Self.end.withLock { $0 = "\(code)" }
        }
        let path = folder.appending(path: "control.sock").path
        while !FileManager.default.fileExists(atPath: path) {
            if let end = Self.end.withLock({ $0 }) { throw Failure("the host ended: \(end)") }
            usleep(1000)
        }
        client = try Client(path)
        // Answered when the app is ready.
        _ = try ask("canopen", #"{"url":"bench://"}"#, as: Bool.self)
    }

    /// What the host ended with; nil while it runs.
    var end: String? { Self.end.withLock { $0 } }

    var socket: String { folder.appending(path: "control.sock").path }

    /// Puts other modules between the two ordinary ones.
    func reload(_ entries: [Entry]) throws -> Reload {
        try Self.text(entries).write(to: slatefile, atomically: true, encoding: .utf8)
        return try ask("reload", "{}", as: Reload.self)
    }

    func modules() throws -> [Module] { try ask("modules", "{}", as: [Module].self) }

    /// Calls an action; what it answers does not matter.
    func call(_ module: String, _ action: String) throws {
        try client.send(
            Self.line(
                "call",
                #"{"module":"\#(module)","action":"\#(action)","parameters":{"text":"a"}}"#))
        _ = try receive()
    }

    /// Has the host stop.
    ///
    /// - Returns: How it ended.
    func stop() throws -> String {
        try client.send(Self.line("stop", "{}"))
        _ = try receive()
        let deadline = nanoseconds() + 60_000_000_000
        while nanoseconds() < deadline {
            if let end { return end }
            usleep(1000)
        }
        return "it did not end"
    }

    private struct Answer<Result: Decodable>: Decodable {
        struct TestError: Decodable { let message: String }
        let result: Result?
        let error: TestError?
    }

    private func ask<Result: Decodable>(
        _ method: String, _ parameters: String, as: Result.Type
    ) throws -> Result {
        try client.send(Self.line(method, parameters))
        let answer = try JSONDecoder().decode(Answer<Result>.self, from: Data(try receive()))
        guard let result = answer.result else {
            throw Failure("\(method): \(answer.error?.message ?? "no result")")
        }
        return result
    }

    private func receive() throws -> [UInt8] {
        var entry = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 60_000) > 0 else { throw Failure("the host does not answer") }
        return try client.receiveLine()
    }

    private static func line(_ method: String, _ parameters: String) -> [UInt8] {
        Array(
            (#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"# + "\n").utf8
        )
    }

    private static func text(_ entries: [Entry]) -> String {
        let listening = (0..<ReceivedTicks.places).map { place in
            #"{"id": "bench.listening\#(place)", "entry": "Sins.ListeningModule", "config": {"place": \#(place)}\#(place == 0 ? #", "main": true"# : "")}"#
        }
        let modules = entries.map { entry in
            let words = entry.command.map { #""\#($0)""# }.joined(separator: ", ")
            return #"{"id": "\#(entry.id)", "command": [\#(words)]\#(entry.more)}"#
        }
        let all = [listening[0]] + modules + [listening[1]]
        return """
            {"slate": 1, "app": "sins", "schemes": ["bench"],
             "deadlines": {"launch": "1s", "stop": "250ms"},
             "modules": [\(all.joined(separator: ",\n"))]}
            """
    }
}
