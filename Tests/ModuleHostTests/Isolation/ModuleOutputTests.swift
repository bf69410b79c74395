import AppService
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// The reader of what a process prints: the thread that waits for an answer, or else the one that reads output.
@Suite("Output of a module's process", .timeLimit(.minutes(10)))
struct ModuleOutputTests {
    /// A process that is a shell script.
    ///
    /// The first request has the number 1, the second one 2.
    private static func start(
        _ script: String, in folder: String? = nil,
        limits: ModuleProcess.Limits = ModuleProcess.Limits(), log: LockedList<String>? = nil,
        level: LogLevel = .debug,
        onMail: @escaping @Sendable (ModuleProcess) -> Void = { _ in }
    ) throws -> ModuleProcess {
        try .start(
            ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], in: folder,
            time: SystemTimeSource.shared, limits: limits,
            notifying: ModuleProcess.Observer(
                onLine: { log?.append("\($0) \($1)") }, onMail: onMail,
                onSend: { _, _, _, _ in false }, isLogged: { $0 >= level }))
    }

    private static func ask(
        _ process: ModuleProcess, serving serve: (RPCRequest, RPCID?) -> Void = { _, _ in },
        stalling: () -> Void = {}, payload: String = ""
    ) throws(ProcessExit) -> Int? {
        let answer = try process.exchange(
            "event", within: .seconds(3600), serving: serve, stalling: stalling
        ) { json in
            json.object { $0.member("payload", payload) }
        }
        return try? answer.get().int
    }

    @Test("one that has ended is done with, also where another process holds its output open")
    func heldOpen() throws {
        let folder = try TemporaryFolder()
        // In a session of its own it is not killed with the group.
        let process = try Self.start(
            "setsid sh -c 'echo $$ >id.new; mv id.new id; exec sleep 1000' & "
                + "while [ ! -e id ]; do :; done; exit 3",
            in: folder.path)
        let end = process.queue.next(until: .now() + .seconds(60))
        let holder = try #require(Int32(try folder.text(of: "id").prefix { $0 != "\n" }))
        #expect(kill(holder, SIGKILL) == 0)
        guard case .end(let end) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(end.exit == .code(3))
    }

    @Test(
        "one that has ended is done with, also where another process floods what it had open",
        arguments: [1, 2])
    func flooded(descriptor: Int) throws {
        let folder = try TemporaryFolder()
        // 64 bytes with its end: whichever page of the pipe a writer gets, no line is torn.
        let line = #"{"jsonrpc":"2.0","method":"said"}"# + String(repeating: " ", count: 30)
        try #require(line.utf8.count == 63)
        try folder.write(
            """
            exec 3>&\(descriptor)
            for n in 1 2 3 4 5 6 7 8; do yes '\(line)' >&3 & done
            echo $$ >id.new; mv id.new id; wait
            """, to: "flood")
        let process = try Self.start(
            "setsid sh flood & while [ ! -e id ]; do :; done; exit 3", in: folder.path)
        let deadline = DispatchTime.now() + .seconds(60)
        var next = process.queue.next(until: deadline)
        while case .message = next, .now() < deadline { next = process.queue.next(until: deadline) }
        let holder = try #require(Int32(try folder.text(of: "id").prefix { $0 != "\n" }))
        #expect(kill(-holder, SIGKILL) == 0)
        guard case .end(let end) = next else {
            Issue.record("\(next)")
            return
        }
        #expect(end.exit == .code(3))
    }

    @Test("what comes unasked, beside answers and between them, is received once and in order")
    func unasked() throws {
        let process = try Self.start(
            #"""
            n=0
            while [ $n -lt 3000 ]; do
                n=$((n+1)); echo '{"jsonrpc":"2.0","method":"said","params":{"n":'$n'}}'
            done &
            n=0
            while read -r line; do
                n=$((n+1)); echo '{"jsonrpc":"2.0","id":'$n',"result":'$n'}'
            done
            """#)
        var received: [Int?] = []
        func receive(_ request: RPCRequest) { received.append(request.parameters?["n"]?.int) }
        for number in 1...500 {
            let answer = try Self.ask(process, serving: { request, _ in receive(request) })
            try #require(answer == number)
            // Now and then the test takes what came when no thread waited.
            guard number.isMultiple(of: 7) else { continue }
            while case .message(.request(let request, _)) = process.queue.next(until: nil) {
                receive(request)
            }
        }
        while received.count < 3000 {
            guard
                case .message(.request(let request, _)) = process.queue.next(
                    until: .distantFuture)
            else { break }
            receive(request)
        }
        #expect(received == Array(1...3000))
        process.kill(because: .demand)
    }

    @Test("after an exchange that took long, the thread that reads does so again")
    func afterLongExchange() async throws {
        let mail = Promise<Bool>()
        let process = try Self.start(
            #"""
            read -r line; sleep 0.05
            echo '{"jsonrpc":"2.0","id":1,"result":1}'; sleep 0.05
            echo '{"jsonrpc":"2.0","method":"said"}'
            read -r line
            """#, onMail: { _ in mail.keep(true) })
        #expect(try Self.ask(process) == 1)
        #expect(await mail.value)
        process.kill(because: .demand)
    }

    @Test("when no more is asked, the thread that reads does so at once")
    func rest() async throws {
        var limits = ModuleProcess.Limits()
        limits.lull = .seconds(3600)
        let mail = Promise<Bool>()
        let process = try Self.start(
            #"""
            for id in 1 2 3; do read -r line; echo '{"jsonrpc":"2.0","id":'$id',"result":1}'; done
            read -r line; echo '{"jsonrpc":"2.0","method":"said"}'; read -r line
            """#, limits: limits, onMail: { _ in mail.keep(true) })
        for _ in 0..<3 { #expect(try Self.ask(process) == 1) }
        process.output.rest()
        process.send(Array("go on".utf8), within: .seconds(60))
        #expect(await mail.value)
        process.kill(because: .demand)
    }

    @Test("a process that ends is waited for no longer, though others have its output open")
    func outputLeftOpen() throws {
        let folder = try TemporaryFolder()
        let process = try Self.start(
            """
            mkfifo fifo; exec 3<>fifo
            setsid sh -c 'read -r word <fifo' &
            read -r line; exit 3
            """, in: folder.path)
        #expect {
            _ = try Self.ask(process)
        } throws: {
            ($0 as? ProcessExit)?.exit == .code(3)
        }
        // Without waiting: the reader may have ended with the process.
        let fifo = open(folder.path("fifo"), O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard fifo >= 0 else { return }
        defer { close(fifo) }
        #expect(write(fifo, "end\n", 4) == 4)
    }

    @Test("what it prints is read while it takes nothing in")
    func bothWays() throws {
        let log = LockedList<String>()
        let process = try Self.start(
            #"""
            yes '{"jsonrpc":"2.0","method":"log","params":{"message":"a line"}}' | head -n 5000
            read -r line
            echo '{"jsonrpc":"2.0","id":1,"result":1}'
            read -r line
            """#, log: log)
        #expect(try Self.ask(process, payload: String(repeating: "x", count: 1 << 20)) == 1)
        #expect(log.values.contains("info a line"))
        process.kill(because: .demand)
    }

    @Test("lines below the level of the log take no room of those that are logged")
    func belowTheLevel() throws {
        let log = LockedList<String>()
        let process = try Self.start(
            #"""
            yes '{"jsonrpc":"2.0","method":"log","params":{"level":"debug","message":"a detail"}}' |
                head -n 5000
            echo '{"jsonrpc":"2.0","method":"log","params":{"message":"a line"}}'
            read -r line
            echo '{"jsonrpc":"2.0","id":1,"result":1}'
            read -r line
            """#, log: log, level: .info)
        #expect(try Self.ask(process) == 1)
        #expect(log.values == ["info a line"])
        process.kill(because: .demand)
    }

    /// What keeps a process from answering for a while, and what shows that this is so.
    private static let delays: [(name: String, script: String)] = [
        ("a crash that is being written down", "printf '*** Signal 4: Backtracing from' >&2"),
        ("a flood on standard error", "yes flood | head -n 10000 >&2"),
        (
            "a flood on standard output",
            #"yes '{"jsonrpc":"2.0","method":"log"}' | head -n 100"#
        ),
    ]

    @Test("a waiting caller is notified that the answer takes long", arguments: delays)
    func stalls(_ stall: (name: String, script: String)) throws {
        var limits = ModuleProcess.Limits()
        limits.reading = TokenBucket.Limits(burst: 10, perSecond: 100)
        limits.errorBytes = TokenBucket.Limits(burst: 1000, perSecond: 100_000)
        let process = try Self.start(
            """
            read -r line; \(stall.script); read -r line
            echo '{"jsonrpc":"2.0","id":1,"result":1}'
            read -r line
            """, limits: limits)
        var count = 0
        let answer = try Self.ask(
            process,
            stalling: {
                count += 1
                process.send(Array("go on".utf8), within: .seconds(60))
            })
        #expect(answer == 1)
        #expect(count == 1)
        process.kill(because: .demand)
    }

    @Test("a flood is reported once, however often it is paused for")
    func floodOnce() throws {
        let log = LockedList<String>()
        var limits = ModuleProcess.Limits()
        limits.errorBytes = TokenBucket.Limits(burst: 1000, perSecond: 500_000)
        let process = try Self.start(
            """
            read -r line; yes flood | head -c 200000 >&2
            echo '{"jsonrpc":"2.0","id":1,"result":1}'
            read -r line
            """, limits: limits, log: log)
        _ = try Self.ask(process)
        let line = "it sends more than the host can process: its output is read more slowly"
        #expect(log.values.count { $0 == "warning \(line)" } == 1)
        process.kill(because: .demand)
    }

    @Test("short lines are a flood sooner than long ones", arguments: [(6, true), (100, false)])
    func shortLines(_ line: (bytes: Int, isFlood: Bool)) throws {
        var limits = ModuleProcess.Limits()
        // More than the long lines count, and hardly any more on a slow machine.
        limits.errorBytes = TokenBucket.Limits(burst: 300_000, perSecond: 1000)
        let text = String(repeating: "x", count: line.bytes - 1)
        let process = try Self.start(
            """
            read -r line; yes \(text) | head -c 200000 >&2
            echo '{"jsonrpc":"2.0","id":1,"result":1}'
            read -r line
            """, limits: limits)
        var isFlood = false
        let answer = try? Self.ask(
            process,
            stalling: {
                isFlood = true
                process.kill(because: .demand)
            })
        #expect(isFlood == line.isFlood)
        #expect(answer == (isFlood ? nil : 1))
        process.kill(because: .demand)
    }

    @Test("a flood is not read on while it is paused for")
    func floodPaused() throws {
        let log = LockedList<String>()
        var limits = ModuleProcess.Limits()
        limits.errorBytes = TokenBucket.Limits(burst: 1, perSecond: 1)
        let process = try Self.start(
            #"""
            yes flood | head -c 1000000 >&2 &
            while read -r line; do echo '{"jsonrpc":"2.0","method":"said"}'; done
            """#, limits: limits, log: log)
        // The thread that reads comes round for each.
        func exchange() throws {
            process.send(Array("go on".utf8), within: .seconds(60))
            guard case .message = process.queue.next(until: .distantFuture) else {
                throw Ended()
            }
        }
        func count() -> Int { log.values.count { $0.hasSuffix("flood") } }
        while count() == 0 { try exchange() }
        for _ in 0..<100 { try exchange() }
        // One page of the pipe was read.
        #expect((1...4096 / 6 + 1).contains(count()))
        process.kill(because: .demand)
    }

    private struct Ended: Error {}
}
