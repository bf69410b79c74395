import EventStreams
import Foundation
import Synchronization

@testable import RedisStreams

/// A real server in a folder of its own, on a socket there; it ends with the object.
final class RedisServer: Sendable {
    static let durable = ["--appendonly", "yes", "--appendfsync", "always"]

    let folder: String
    private let arguments: [String]
    private let program = Mutex<TestProgram?>(nil)

    private let isStarting = Mutex(false)
    private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

    var socket: String { folder + "/redis.sock" }
    var address: RedisAddress { get throws { try RedisAddress(url: "unix:" + socket) } }

    /// - Parameter data: The folder of the data, if it is another one.
    init(_ arguments: [String] = durable, data: String? = nil) throws {
        folder = try newFolder()
        self.arguments =
            [
                "--port", "0", "--unixsocket", folder + "/redis.sock", "--save", "", "--dir",
                data ?? folder,
            ]
            + arguments
        try start()
    }

    /// Starts the server, and returns when it accepts connections.
    func start() throws {
        let program = try TestProgram(["redis-server"] + arguments)
        try program.waitForOutput("eady to accept connections")
        self.program.withLock { $0 = program }
    }

    /// Ends the server as `kill -9` does.
    func kill() { program.withLock { $0.take() }?.kill() }

    /// Kills the server when it has done some more commands, and starts it again.
    func killAfter(_ commands: Int) async throws {
        let connection = try RedisConnection(to: try address, seconds: 10)
        for _ in 0..<commands {
            _ = try connection.send([RedisCommand("SET", "shop:test", "1")])
            await Task.yield()
        }
        isStarting.withLock { $0 = true }
        defer {
            let waiting = isStarting.withLock { state in
                state = false
                return waiters.withLock { exchange(&$0) }
            }
            for waiter in waiting { waiter.resume() }
        }
        kill()
        try start()
    }

    /// Waits while the server is not running.
    func waitUntilStartedAgain() async {
        await withCheckedContinuation { continuation in
            let isWaiting = isStarting.withLock { isStarting in
                if isStarting { waiters.withLock { $0.append(continuation) } }
                return isStarting
            }
            if !isWaiting { continuation.resume() }
        }
    }

    /// Waits until the server has ended by itself.
    func waitUntilExit() { program.withLock { $0.take() }?.waitUntilExit() }

    /// Does a command on a connection of its own.
    @discardableResult
    func command(_ words: String...) throws -> RedisReply {
        let connection = try RedisConnection(to: try address, seconds: 10)
        return try connection.one(RedisCommand(words.map { Array($0.utf8) }), "test")
    }

    /// Returns the number of entries that were ever added to a stream, whether or not they were removed.
    func added(_ name: String) throws -> Int64? {
        let facts = try command("XINFO", "STREAM", "shop:" + name).pairs
        return if case .integer(let count) = facts?["entries-added"] { count } else { nil }
    }

    /// A number of `INFO`, 0 if it is not there.
    func info(_ section: String, _ name: String) throws -> Int {
        let text = try command("INFO", section).text ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count).prefix { $0.isNumber }) } ?? 0
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }
}

struct ServerError: Error {
    let text: String
}

/// Creates a folder with a short path: that of a socket has 107 bytes at most.
func newFolder() throws -> String {
    var template = Array("/tmp/streams-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ServerError(text: "no folder in /tmp") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

private func exchange<Element>(_ values: inout [Element]) -> [Element] {
    defer { values = [] }
    return values
}
