import Foundation
import ModuleHost
import Served
import Synchronization

// Calls whose answers come later, beside calls that are answered at once and bare tasks of Swift: through the
// control socket and on the lane, and the memory of those that have yet to be answered.
//
// `Later lane` leaves the socket out, to be profiled. `Later host FOLDER` is the host whose socket is measured.

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "host", let folder = arguments.last {
    exit(
        HostDaemon.run(
            HostDaemonOptions(
                slatefile: folder + "/slatefile.json", stateDirectory: folder, logLevel: .error)
        ).rawValue)
}
signal(SIGPIPE, SIG_IGN)
if arguments.first != "lane" { try measureSocket() }
try await measureLane()

/// A slatefile with the module that answers, and others.
func slatefile(_ others: String = "") -> String {
    """
    {"slate": 1, "app": "bench", "schemes": ["bench"], "deadlines": {"event": "1h"}, "modules": [
      \(others)
      {"id": "bench.answers", "entry": "Later.AnsweringModule", "main": true}]}
    """
}

func measureSocket() throws {
    let folder = try makeFolder(for: "later")
    defer { try? FileManager.default.removeItem(at: folder) }
    try slatefile().write(
        to: folder.appending(path: "slatefile.json"), atomically: true, encoding: .utf8)
    let server = try Server(
        CommandLine.arguments[0], ["host", folder.path], log: folder.appending(path: "log"))
    defer { server.stop() }
    let socket = folder.appending(path: "control.sock").path
    let ways = try [("`call` of `now`", "now"), ("`call` of `later`", "later")].map {
        title, action in
        try Way(
            title, at: socket,
            sending: #"{"jsonrpc":"2.0","id":1,"method":"call","params":"#
                + #"{"module":"bench.answers","action":"\#(action)"}}"#)
    }
    for number in 0..<Way.rounds {
        for way in ways.turns(inRound: number) { try way.measure() }
    }
    print("| one client | a second, pipelined | lone: p50, µs | lone: p99, µs |")
    print("|---|---:|---:|---:|")
    for way in ways { print(way.row) }
    let lone = Double(ways[1].median) / Double(ways[0].median)
    let pipelined = Double(ways[0].pace) / Double(ways[1].pace)
    print("\nlater of at once: \(ratio(lone)) lone, \(ratio(pipelined)) pipelined (goal 1.1)\n")
}

func measureLane() async throws {
    let rounds = #"{"id": "bench.rounds", "entry": "Later.RoundsModule", "required": true},"#
    let host = try AppHost(slatefile: slatefile(rounds)) { record in
        if record.level >= .error { print(record.message) }
    }
    // The end of a required module ends the app.
    try? await host.run()
    let figures = RoundsModule.figures.withLock(\.self)
    let medians = figures.times.mapValues { $0.sorted()[$0.count / 2] }
    print("| awaited by a module, on the lane | ns |\n|---|---:|")
    for (name, title) in [
        ("now", "call that is answered at once"), ("later", "call of an asynchronous handler"),
        ("task", "bare task on the module's executor"),
    ] {
        print("| \(title) | \(Int(medians[name] ?? 0)) |")
    }
    print(
        "\nlater of a task: \(ratio((medians["later"] ?? 0) / (medians["task"] ?? 1))) (goal 1.3)\n"
    )
    let (call, task) = (figures.bytes["call"] ?? 0, figures.bytes["task"] ?? 0)
    print(
        "\(RoundsModule.outstanding) outstanding: \(call) bytes a call, \(task) a bare task, "
            + "\(call - task) more (goal 1024)")
}

func ratio(_ value: Double) -> String { String(format: "%.2f", value) }
