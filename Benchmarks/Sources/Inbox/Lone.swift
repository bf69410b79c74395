import Foundation
import Served

/// One client that sends an event when the last one is accepted, beside the least that this can take: an append and an
/// `fdatasync` of a bare file, and one `ping` of the same host.
func measureLoneEvents(of hostd: String, in folder: URL) throws {
    let (rounds, count) = (21, 100)
    let state = folder.appending(path: "lone")
    let host = try BenchHost(hostd, builtIn, in: state)
    defer { host.server.stop() }
    let client = try Client(state.appending(path: "control.sock").path)
    let file = try BareFile(folder.appending(path: "lone-bare").path)
    let ping = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n").utf8)
    let ways: [(title: String, body: () throws -> Void)] = [
        (
            "durable event over the socket, until it is accepted",
            { try client.ask(Crowd.event) }
        ),
        (
            "append, `fdatasync` and one `ping`",
            {
                try file.produce(Crowd.event)
                try client.ask(ping)
            }
        ),
    ]
    var metrics: [[Int]] = ways.map { _ in [] }
    for number in 0..<rounds {
        for (index, way) in ways.enumerated().turns(inRound: number) {
            let began = nanoseconds()
            for _ in 0..<count { try way.body() }
            metrics[index].append((nanoseconds() - began) / count)
        }
    }
    print("| one client, all built-in modules | µs, alone |\n|---|---:|")
    for (way, metrics) in zip(ways, metrics) {
        print("| \(way.title) | \(tenths(median(metrics), of: 1000)) |")
    }
}

extension Client {
    /// Sends a request, and waits for its result.
    fileprivate func ask(_ request: [UInt8]) throws {
        try send(request)
        let answer = try receiveLine()
        guard answer.withUnsafeBytes({ $0.firstIndex(of: #""error""#) }) == nil else {
            throw Failure("refused: \(String(decoding: answer, as: UTF8.self))")
        }
    }
}
