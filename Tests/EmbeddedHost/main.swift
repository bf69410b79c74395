import Dispatch
import Glibc
import ModuleHostCore
import Modules

// A Swift module with "isolation": "process" is this program, started again.
AppHost.exitIfModuleProcess()

/// The threads, descriptors and signals of a process that a host could leave behind.
struct Belongings {
    let descriptors = (try? namesInFolder("/proc/self/fd"))?.count ?? 0
    let threads = (try? namesInFolder("/proc/self/task"))?.count ?? 0
    /// The signals that are blocked, ignored and caught, as the system shows them.
    let signals: String

    init() {
        let status = (try? readFile(at: "/proc/self/status", limit: 1 << 16)) ?? []
        signals = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("SigBlk") || $0.hasPrefix("SigIgn") || $0.hasPrefix("SigCgt") }
            .joined(separator: " ").replacing("\t", with: "")
    }

    /// Whether there is no more than before.
    func isWithin(_ before: Belongings) -> Bool {
        descriptors <= before.descriptors && threads <= before.threads && signals == before.signals
    }
}

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "answer":
    // SLATEFILE PATH…: prints the answer to each path, as a server would send it.
    let server = try Server(slatefile: arguments[2])
    try await server.run { server in
        for path in arguments.dropFirst(3) { print("answer: \(await server.answer(path))") }
    }
    print("the server has ended")
case "orders":
    // SLATEFILE ORDER…: takes the orders, and goes on when the host was stopped.
    let server: OrderServer
    do { server = try OrderServer(slatefile: arguments[2]) } catch {
        say("\(error)")
        exit(1)
    }
    let run = Task { try await server.host.run() }
    for order in arguments.dropFirst(3) { try await server.accept(order: order) }
    try await server.host.post("begun")
    say("ready")
    try await run.value
    say("the program goes on")
case "uploads":
    // As the `command` of an entry: a Swift module that is a program of its own.
    ModuleProgram.run(UploadsModule.self)
case "rounds":
    // SLATEFILE NUMBER [durable]: whether running the host so many times leaves more than the first time, after which
    // Dispatch has what all parts of a program share.
    let isDurable = arguments.last == "durable"
    let round = {
        if isDurable {
            let server = try OrderServer(slatefile: arguments[2])
            let run = Task { try await server.host.run() }
            try await server.accept(order: "\(ContinuousClock.now)")
            let client = try HostClient(stateDirectory: ".hostd")
            _ = try await client.stop()
            return try await run.value
        }
        let server = try Server(slatefile: arguments[2])
        try await server.run { _ = await $0.answer("nothing") }
    }
    try await round()
    // Dispatch creates a thread and descriptors of its own for its first timer, which it keeps, and whose moment
    // depends on the load.
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "warm").asyncAfter(deadline: .now() + .milliseconds(1)) {
            continuation.resume()
        }
    }
    let before = Belongings()
    for _ in 0..<(Int(arguments[3]) ?? 1) { try await round() }
    // Idle workers of Dispatch end after a while; the test that reads this waits for a minute.
    let end = ContinuousClock.now + .seconds(40)
    while !Belongings().isWithin(before), ContinuousClock.now < end { usleep(10_000) }
    let after = Belongings()
    print(after.isWithin(before) ? "nothing is left" : "left: \(after), before: \(before)")
default: exit(64)
}
