import Foundation
import ModuleHost
import Served

/// How many events are received before the one module hangs, and after the first that is delayed.
let ticks = 2_000

/// A host of ten modules in this process, one of which hangs; and who sends events and looks when they
/// are received.
struct Round {
    private let way: String
    private let folder: URL

    init(_ way: String) throws {
        self.way = way
        folder = try makeFolder(for: "hung")
    }

    /// Prints its metrics, and ends the process: the host, on the main thread, could not.
    func run() throws -> Never {
        let client = try startHost()
        let before = try measureTicks(0..<ticks, client)
        try client.send(message("hang", #""\#(way)""#))
        let first = try measureTicks(ticks..<ticks + 1, client)
        let after = try measureTicks(ticks + 1..<2 * ticks + 1, client)
        let received = (0..<ReceivedTicks.modules).map { ReceivedTicks.count(of: $0) }.reduce(0, +)
        print(
            "first=\(first[0])",
            "before=\(before[before.count / 2])", "slowBefore=\(before[before.count * 99 / 100])",
            "after=\(after[after.count / 2])", "slowAfter=\(after[after.count * 99 / 100])",
            "received=\(received)", "sent=\(ReceivedTicks.modules * (2 * ticks + 1))")
        fflush(nil)
        try? FileManager.default.removeItem(at: folder)
        _exit(0)
    }

    /// Sends an event each millisecond, and measures how long it takes until the last of nine has received it.
    private func measureTicks(_ range: Range<Int>, _ client: Client) throws -> [Int] {
        try range.map { tick in
            let sent = nanoseconds()
            try client.send(message("tick", "\(tick)"))
            let end = sent + 60_000_000_000
            while !ReceivedTicks.byAll(tick) {
                guard nanoseconds() < end else { throw Failure("tick \(tick) was not received") }
                usleep(50)
            }
            let received = ReceivedTicks.last(of: tick) - sent
            usleep(1000)
            return received
        }.sorted()
    }

    private func message(_ topic: String, _ payload: String) -> [UInt8] {
        Array(
            (#"{"jsonrpc":"2.0","method":"post","params":{"topic":"\#(topic)","payload":\#(payload)}}"#
                + "\n").utf8)
    }

    private func startHost() throws -> Client {
        let slatefile = folder.appending(path: "slatefile.json")
        try text.write(to: slatefile, atomically: true, encoding: .utf8)
        let options = HostDaemonOptions(
            slatefile: slatefile.path, stateDirectory: folder.path, logLevel: .error)
        MainThread.run {
            let code = HostDaemon.run(options)
            fatalError("the host ended: \(code)")
        }
        let path = folder.appending(path: "control.sock").path
        while !FileManager.default.fileExists(atPath: path) { usleep(1000) }
        let client = try Client(path)
        // Answered when the app is ready.
        try client.send(
            Array(
                (#"{"jsonrpc":"2.0","id":1,"method":"canopen","params":{"url":"bench://"}}"# + "\n")
                    .utf8))
        _ = try client.receiveLine()
        return client
    }

    /// Nine that listen, and the one that hangs in their middle.
    private var text: String {
        var modules = (0..<ReceivedTicks.modules).map {
            #"{"id": "bench.m\#($0)", "entry": "Hung.ListeningModule", "config": {"number": \#($0)}\#($0 == 0 ? #", "main": true"# : "")}"#
        }
        modules.insert(
            #"{"id": "bench.hanging", "entry": "Hung.HangingModule", "deadline": "1s"}"#,
            at: ReceivedTicks.modules / 2)
        return """
            {"slate": 1, "app": "bench", "schemes": ["bench"], "modules": [\(modules.joined(separator: ",\n"))]}
            """
    }
}
