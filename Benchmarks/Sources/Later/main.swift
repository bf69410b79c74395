import Foundation
import ModuleHost
import Served

// Calls whose answers come later, beside calls that are answered at once and bare tasks of Swift: through the
// control socket and on the lane, and the memory of those that have yet to be answered.
//
// `Later host FOLDER` is the host whose socket is measured.

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "host", let folder = arguments.last {
    exit(
        HostDaemon.run(
            HostDaemonOptions(
                slatefile: folder + "/slatefile.json", stateDirectory: folder, logLevel: .error)
        ).rawValue)
}
signal(SIGPIPE, SIG_IGN)
try measureSocket()
try measureLane()

func measureSocket() throws {
    let folder = try makeFolder(for: "later")
    defer { try? FileManager.default.removeItem(at: folder) }
    try LaneRounds.slatefile.write(
        to: folder.appending(path: "slatefile.json"), atomically: true, encoding: .utf8)
    let server = try Server(
        CommandLine.arguments[0], ["host", folder.path], log: folder.appending(path: "log"))
    defer { server.stop() }
    let socket = folder.appending(path: "control.sock").path
    let ways = try ["now", "later"].map { action in
        try Way(
            "`call` of `\(action)`", at: socket,
            sending: #"{"jsonrpc":"2.0","id":1,"method":"call","params":"#
                + #"{"module":"bench.answers","action":"\#(action)"}}"#)
    }
    for _ in 0..<Way.rounds { for way in ways { try way.measure() } }
    print("| one client | a second, pipelined | lone: p50, µs | lone: p99, µs |")
    print("|---|---:|---:|---:|")
    for way in ways { print(way.row) }
    let lone = Double(ways[1].median) / Double(ways[0].median)
    let pipelined = Double(ways[0].pace) / Double(ways[1].pace)
    print("\nlater of at once: \(ratio(lone)) lone, \(ratio(pipelined)) pipelined (goal 1.1)\n")
}

func measureLane() throws {
    let lane = try LaneRounds()
    defer { lane.stop() }
    var rows: [String: [Double]] = [:]
    for _ in 0..<7 {
        rows["now", default: []].append(lane.now())
        rows["later", default: []].append(lane.later())
        rows["task", default: []].append(lane.task())
    }
    let medians = rows.mapValues { $0.sorted()[$0.count / 2] }
    print("| on the lane | ns |\n|---|---:|")
    for (name, title) in [
        ("now", "call that is answered at once"), ("later", "call of an asynchronous handler"),
        ("task", "bare task on the module's executor"),
    ] {
        print("| \(title) | \(Int(medians[name] ?? 0)) |")
    }
    print(
        "\nlater of a task: \(ratio((medians["later"] ?? 0) / (medians["task"] ?? 1))) (goal 1.3)\n"
    )
    _ = (lane.callBytes(), lane.taskBytes())
    let (call, task) = (lane.callBytes(), lane.taskBytes())
    print(
        "\(LaneRounds.outstanding) outstanding: \(call) bytes a call, \(task) a bare task, "
            + "\(call - task) more (goal 1024)")
}

func ratio(_ value: Double) -> String { String(format: "%.2f", value) }
