import Foundation
import Served

/// The measurements, each at every size.
struct Trials {
    /// While a reload recreates modules, there are two of each, and a host has places for 65 535.
    private static let reloadLimit = 30_000

    let hostd: String
    let sizes: [Int]
    let folder: URL

    init(hostd: String, sizes: [Int]) throws {
        self.hostd = hostd
        self.sizes = sizes.sorted()
        folder = try makeFolder(for: "scale")
    }

    /// - Returns: Whether all grows as its size does.
    func run() throws -> Bool {
        defer { try? FileManager.default.removeItem(at: folder) }
        print("| | \(sizes.map(String.init).joined(separator: " | ")) | exponent | linear |")
        print("|---|\(sizes.map { _ in "---:|" }.joined())---:|---|")
        var isLinear = true
        var repeated: [String] = []
        // Measured up to three times where it seems to grow faster than its size.
        func add(_ measure: () throws -> [Growth]) throws {
            var rows = try measure()
            repeated += rows.filter { !$0.isLinear }.map(\.title)
            for _ in 0..<2 where !rows.allSatisfy(\.isLinear) {
                rows = zip(rows, try measure()).map { $0.isLinear ? $0 : $0.least($1) }
            }
            for row in rows { row.printRow() }
            fflush(nil)
            isLinear = isLinear && rows.allSatisfy(\.isLinear)
        }
        for (entry, title) in [
            ("PlainModules.IdleModule", "idle modules"),
            ("PlainModules.ReceivingModule", "modules of three protocols"),
            ("PlainModules.RoutedOneModule", "modules with a route"),
            ("Scale.TaskModule", "modules with a task"),
            ("Scale.ServiceModule", "modules that provide a service and use another"),
        ] {
            try add {
                let rounds = try sizes.map { try launchAndStop(entry, $0) }
                return [
                    growth("\(title): exec to READY", rounds.map(\.ready)),
                    growth("\(title): TERM to the end", rounds.map(\.stop)),
                    growth(
                        "\(title): anonymous memory", rounds.map { $0.memory << 10 }, unit: "KB"),
                ]
            }
        }
        let reloaded = sizes.map { min($0, Self.reloadLimit) }
        try add {
            let rounds = try reloaded.map(failAndReturn)
            let title = "modules that all fail in `launch`, at most \(Self.reloadLimit)"
            return [
                Growth(
                    title: "\(title): exec to READY", unit: "ms", sizes: reloaded,
                    metrics: rounds.map(\.ready)),
                Growth(
                    title: "\(title): restarted until they run", unit: "ms", sizes: reloaded,
                    metrics: rounds.map(\.running)),
            ]
        }
        for (entry, title) in [
            ("Scale.TaskModule", "modules"),
            ("Scale.ServiceModule", "modules with a route and a service"),
        ] {
            try add {
                [
                    Growth(
                        title: "a reload that recreates all \(title), at most \(Self.reloadLimit)",
                        unit: "ms", sizes: reloaded,
                        metrics: try reloaded.map { try reload(entry, $0) })
                ]
            }
        }
        try add { [growth("lazy modules, each made by a call", try sizes.map(makeLazy))] }
        try add {
            let shared = try sizes.map(addRoutesInNoOrder)
            return [
                growth("routes with one first literal, of modules in no order", shared.map(\.add)),
                growth("as many URLs of those that name no module", shared.map(\.open)),
            ]
        }
        try add { [growth("`check` of unknown entries", try sizes.map(check))] }
        try add {
            [growth("events that a module catches up with", try sizes.map { try catchUp($0) })]
        }
        try add {
            [growth("the same, of the inbox", try sizes.map { try catchUp($0, areDurable: true) })]
        }
        if !repeated.isEmpty { print("\nMeasured again: \(repeated.joined(separator: "; ")).") }
        return isLinear
    }

    private func growth(_ title: String, _ metrics: [Int], unit: String = "ms") -> Growth {
        Growth(title: title, unit: unit, sizes: sizes, metrics: metrics)
    }

    /// A host of so many modules of one class.
    private func launchAndStop(
        _ entry: String, _ count: Int
    ) throws -> (ready: Int, stop: Int, memory: Int) {
        let modules = (0..<count).map { number in
            #"{"id": "bench.m\#(number)", "entry": "\#(entry)"\#(number == 0 ? #", "main": true"# : "")}"#
        }
        let host = try start(modules)
        let ready = try host.waitUntilReady()
        let memory = try host.anonymousMemory()
        let began = nanoseconds()
        kill(host.id, SIGTERM)
        let end = host.wait()
        guard end == 0 else { throw Failure("a host of \(count) modules ended with \(end)") }
        return (ready, nanoseconds() - began, memory)
    }

    /// A host of so many modules that fail in `launch`, and in their first restart.
    private func failAndReturn(_ count: Int) throws -> (ready: Int, running: Int) {
        let done = folder.appending(path: "done")
        try? FileManager.default.removeItem(at: done)
        let modules = (0..<count).map { number in
            #"""
            {"id": "bench.m\#(number)", "entry": "Scale.FailingModule", "retry": true, \#
            "config": {"times": 2, "of": \#(count), "done": "\#(done.path)"}\#
            \#(number == 0 ? #", "main": true"# : "")}
            """#
        }
        // It says of each module that it failed, as it should.
        let host = try start(isQuiet: true, modules)
        let ready = try host.waitUntilReady()
        while !FileManager.default.fileExists(atPath: done.path) { usleep(1000) }
        let took = Int(try String(contentsOf: done, encoding: .utf8))
        kill(host.id, SIGTERM)
        host.wait()
        guard let took else { throw Failure("the modules did not say how long it took") }
        return (ready, took)
    }

    func start(isQuiet: Bool = false, _ modules: [String]) throws -> SpawnedProcess {
        let state = folder.appending(path: "state")
        try? FileManager.default.removeItem(at: state)
        return try SpawnedProcess(
            [CommandLine.arguments[0], "host", try write(modules), state.path], isQuiet: isQuiet)
    }

    private func write(_ modules: [String]) throws -> String {
        let slatefile = folder.appending(path: "slatefile.json")
        try """
        {"slate": 1, "app": "bench", "schemes": ["bench"], "modules": [
        \(modules.joined(separator: ",\n"))]}
        """.write(to: slatefile, atomically: true, encoding: .utf8)
        return slatefile.path
    }

    /// A reload of so many modules of one class, each with other settings.
    private func reload(_ entry: String, _ count: Int) throws -> Int {
        func modules(_ settings: Int) -> [String] {
            (0..<count).map { number in
                #"""
                {"id": "bench.m\#(number)", "entry": "\#(entry)", \#
                "config": {"number": \#(settings)}\#(number == 0 ? #", "main": true"# : "")}
                """#
            }
        }
        let host = try start(modules(1))
        _ = try host.waitUntilReady()
        let client = try Client(folder.appending(path: "state/control.sock").path)
        _ = try write(modules(2))
        let began = nanoseconds()
        try client.send(Array((#"{"jsonrpc":"2.0","id":1,"method":"reload"}"# + "\n").utf8))
        let line = String(decoding: try client.receiveLine(), as: UTF8.self)
        guard line.contains("applied") else {
            throw Failure("the slatefile was not reloaded: \(line.prefix(200))")
        }
        let took = nanoseconds() - began
        kill(host.id, SIGTERM)
        host.wait()
        return took
    }

    /// Calls of so many lazy modules, of which each makes its module.
    private func makeLazy(_ count: Int) throws -> Int {
        let modules = (0..<count).map { number in
            number == 0
                ? #"{"id": "bench.m0", "entry": "PlainModules.IdleModule", "main": true}"#
                : #"{"id": "bench.m\#(number)", "entry": "PlainModules.RoutedOneModule", "launch": "lazy"}"#
        }
        let host = try start(modules)
        _ = try host.waitUntilReady()
        let client = try Client(folder.appending(path: "state/control.sock").path)
        let began = nanoseconds()
        for number in 1..<count {
            let call =
                #"{"jsonrpc":"2.0","id":1,"method":"call","params":{"module":"bench.m\#(number)","action":"number"}}"#
            try client.send(Array((call + "\n").utf8))
            let line = String(decoding: try client.receiveLine(), as: UTF8.self)
            guard line.contains("result") else { throw Failure("\(call): \(line.prefix(200))") }
        }
        let took = nanoseconds() - began
        kill(host.id, SIGTERM)
        host.wait()
        return took
    }

    /// `hostd check` of a slatefile all of whose entries are unknown.
    private func check(_ count: Int) throws -> Int {
        let modules = (0..<count).map {
            #"{"id": "bench.m\#($0)", "entry": "Modules.Nosuch\#($0)Module"\#($0 == 0 ? #", "main": true"# : "")}"#
        }
        let path = try write(modules)
        let process = try SpawnedProcess([hostd, "check", path], isQuiet: true)
        guard process.wait() == 78 else { throw Failure("hostd check finds nothing wrong") }
        return nanoseconds() - process.began
    }

    /// How long a module takes over so many events that came while it was overdue.
    private func catchUp(_ count: Int, areDurable: Bool = false) throws -> Int {
        let (door, done) = (folder.appending(path: "door"), folder.appending(path: "done"))
        for file in [door, done] { try? FileManager.default.removeItem(at: file) }
        // It says that the module is unresponsive, as it should.
        let host = try start(
            isQuiet: true,
            [
                #"{"id": "bench.main", "entry": "PlainModules.IdleModule", "main": true}"#,
                #"""
                {"id": "bench.behind", "entry": "Scale.BehindModule", "deadline": "100ms",
                 "backlog": 1000000,
                 "config": {"last": \#(count - 1), "door": "\#(door.path)", "done": "\#(done.path)"}}
                """#,
            ])
        _ = try host.waitUntilReady()
        let client = try Client(folder.appending(path: "state/control.sock").path)
        try client.post("hang", "null")
        for number in 0..<count {
            if areDurable {
                try client.send("tick", "\(number)", asks: number % 200 == 199)
            } else {
                try client.post("tick", "\(number)", asks: number % 200 == 199)
            }
        }
        // Answered behind all that was posted.
        while try !client.isBehind(by: count) { usleep(10_000) }
        _ = FileManager.default.createFile(atPath: door.path, contents: nil)
        while !FileManager.default.fileExists(atPath: done.path) { usleep(1000) }
        let took = Int(try String(contentsOf: done, encoding: .utf8))
        kill(host.id, SIGTERM)
        host.wait()
        guard let took else { throw Failure("the module did not say how long it took") }
        return took
    }
}

extension Client {
    /// Posts a message.
    ///
    /// - Parameters:
    ///   - topic: Its topic.
    ///   - payload: As JSON.
    ///   - asks: Whether to wait for the answer.
    /// - Throws: Where the host has gone.
    fileprivate func post(_ topic: String, _ payload: String, asks: Bool = true) throws {
        try request(
            #""post","params":{"topic":"\#(topic)","payload":\#(payload)}"#, asks: asks)
    }

    /// Sends the same by way of the inbox.
    fileprivate func send(_ topic: String, _ payload: String, asks: Bool) throws {
        try request(
            #""send","params":{"event":"message","payload":{"topic":"\#(topic)","payload":\#(payload)}}"#,
            asks: asks)
    }

    private func request(_ call: String, asks: Bool) throws {
        let id = asks ? #""id":1,"# : ""
        try send(Array((#"{"jsonrpc":"2.0",\#(id)"method":\#(call)}"# + "\n").utf8))
        if asks { _ = try receiveLine() }
    }

    /// Whether a module is behind by so many events.
    fileprivate func isBehind(by count: Int) throws -> Bool {
        try send(Array((#"{"jsonrpc":"2.0","id":1,"method":"modules"}"# + "\n").utf8))
        let line = String(decoding: try receiveLine(), as: UTF8.self)
        return line.contains(#""behind":\#(count)"#) || line.contains(#""behind": \#(count)"#)
    }
}
