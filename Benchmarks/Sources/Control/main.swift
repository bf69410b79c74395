import Foundation
import Glibc
import Served

// The control socket of a whole `hostd`, beside a server that sends back what it reads: calls a second of
// one client that does not wait for answers, and how long a lone call takes.
//
// `Control HOSTD SLATEFILE` measures; `Control echo SOCKET` is that server.

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let first = arguments.first, let second = arguments.last else {
    FileHandle.standardError.write(Data("usage: Control HOSTD SLATEFILE\n".utf8))
    exit(64)
}
// Writing to a server that has gone is an error then, and no signal.
signal(SIGPIPE, SIG_IGN)
if first == "echo" {
    EchoServer.run(at: second)
} else {
    try measureAll(hostd: first, slatefile: second)
}

/// Measures every way and prints the table.
func measureAll(hostd: String, slatefile: String) throws {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "modulehost-control-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let echoSocket = folder.appending(path: "echo.sock").path
    let host = try Server(
        hostd, ["--slatefile", slatefile, "--state-dir", folder.path],
        log: folder.appending(path: "log"))
    defer { host.stop() }
    let echo = try Server(
        CommandLine.arguments[0], ["echo", echoSocket],
        log: folder.appending(path: "echo.log"))
    defer { echo.stop() }
    let hostSocket = folder.appending(path: "control.sock").path
    let ways = try [
        Way("`call` of a public action", at: hostSocket, sending: Line.call),
        Way("`ping`", at: hostSocket, sending: Line.ping),
        Way("echo server, lines of `call`", at: echoSocket, sending: Line.call),
        Way("echo server, lines of `ping`", at: echoSocket, sending: Line.ping),
    ]
    // In turn, so that what else the machine does falls on all alike.
    for number in 0..<Way.rounds {
        for way in ways.turns(inRound: number) { try way.measure() }
    }
    print("| one client | a second, pipelined | lone: p50, µs | lone: p99, µs |")
    print("|---|---:|---:|---:|")
    for way in ways { print(way.row) }
    // The echo server ends with its first client.
    try withExtendedLifetime(ways) {
        try measurePlaced([
            .init("`call` of a public action", host, hostSocket, Line.call),
            .init("`ping`", host, hostSocket, Line.ping),
            .init("echo server, lines of `call`", echo, echoSocket, Line.call),
            .init("echo server, lines of `ping`", echo, echoSocket, Line.ping),
        ])
    }
}
