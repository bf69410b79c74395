import Foundation
import Served

/// Many clients, each of which sends its next event when the last one is accepted: of hosts, and of a server in C that does no
/// more than it has to.
func measureClients(of hostd: String, beside server: String, in folder: URL) throws {
    let (rounds, count, clients) = (7, 20_000, 60)
    let socket = relative(folder.appending(path: "sync.sock"))
    let limit = try Server(
        server, [socket, relative(folder.appending(path: "sync"))],
        log: folder.appending(path: "sync.log"))
    defer { limit.stop() }
    var ways = [
        Clients(
            title: "C server that receives, writes and syncs once a turn", server: limit,
            crowd: try Crowd(of: clients, at: socket), delivers: false)
    ]
    defer { for way in ways.dropFirst() { way.server.stop() } }
    for (title, entries, level) in [
        ("ours: no module receives it, `--log-level notice`", ["Main"], "notice"),
        ("ours: all built-in modules, `--log-level notice`", builtIn, "notice"),
        ("ours: all built-in modules, a line of the log for each", builtIn, "info"),
    ] {
        let state = folder.appending(path: "clients-\(entries.count)-\(level)")
        let host = try BenchHost(hostd, entries, in: state, level: level)
        let crowd = try Crowd(of: clients, at: state.appending(path: "control.sock").path)
        ways.append(Clients(title: title, server: host.server, crowd: crowd, delivers: true))
    }
    for way in ways { try way.crowd.send(count / 2) }
    for number in 0..<rounds {
        for index in ways.indices.turns(inRound: number) { try ways[index].measure(count) }
    }
    print("| \(clients) clients | µs an event, \(clients) clients | delivered |")
    print("|---|---:|---:|")
    for way in ways {
        let delivered = way.delivers ? tenths(median(way.delivered), of: 1000) : "–"
        print("| \(way.title) | \(tenths(median(way.accepted), of: 1000)) | \(delivered) |")
    }
}

/// The clients of one server, and what their events took in each round.
private struct Clients {
    let title: String
    let server: Server
    let crowd: Crowd
    /// Whether the server says when an event was delivered.
    let delivers: Bool
    var accepted: [Int] = []
    var delivered: [Int] = []

    mutating func measure(_ count: Int) throws {
        let began = nanoseconds()
        try crowd.send(count)
        accepted.append((nanoseconds() - began) / count)
        guard delivers else { return }
        try crowd.sendAndWait()
        delivered.append((nanoseconds() - began) / count)
    }
}

/// The path from the working folder: that of a socket must be short.
func relative(_ file: URL) -> String {
    let prefix = FileManager.default.currentDirectoryPath + "/"
    return file.path.hasPrefix(prefix) ? String(file.path.dropFirst(prefix.count)) : file.path
}

let builtIn = ["Main", "Journal", "Metrics", "Push", "Browser"]

/// A host of built-in modules, and its folder.
struct BenchHost {
    let server: Server

    init(_ hostd: String, _ entries: [String], in state: URL, level: String = "info") throws {
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        let slatefile = state.appending(path: "slatefile.json")
        try writeSlatefile(entries, to: slatefile)
        server = try Server(
            hostd,
            [
                "run", "--slatefile", slatefile.path, "--state-dir", state.path,
                "--log-level", level,
            ], log: state.appending(path: "log"))
    }
}

/// Clients that one thread serves.
final class Crowd {
    static let event = request(#""event":"push","payload":{"aps":{"badge":3}}"#)
    private static let waited = request(
        #""event":"push","payload":{"aps":{"badge":3}},"wait":true"#)

    private let clients: [Client]
    private var polled: [pollfd]

    init(of count: Int, at path: String) throws {
        clients = try (0..<count).map { _ in try Client(path) }
        polled = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    }

    /// Sends so many events, and returns when all are accepted.
    func send(_ count: Int) throws {
        var (sent, accepted) = (0, 0)
        for client in clients where sent < count {
            try client.send(Self.event)
            sent += 1
        }
        while accepted < count {
            guard poll(&polled, nfds_t(polled.count), 10_000) > 0 else {
                throw Failure("the host does not answer")
            }
            for (index, entry) in polled.enumerated() where entry.revents != 0 {
                let answer = try clients[index].read()
                guard answer.last == UInt8(ascii: "\n"), answer.firstIndex(of: #""error""#) == nil
                else {
                    throw Failure("refused: \(String(decoding: answer, as: UTF8.self))")
                }
                accepted += 1
                guard sent < count else { continue }
                try clients[index].send(Self.event)
                sent += 1
            }
        }
    }

    /// Sends one event more, and returns when it was delivered, and so all before it.
    func sendAndWait() throws {
        try clients[0].send(Self.waited)
        let answer = try clients[0].receiveLine()
        guard String(decoding: answer, as: UTF8.self).contains(#""outcome""#) else {
            throw Failure("not delivered: \(String(decoding: answer, as: UTF8.self))")
        }
    }

    private static func request(_ parameters: String) -> [UInt8] {
        Array(
            (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{\#(parameters)}}"# + "\n").utf8)
    }
}
