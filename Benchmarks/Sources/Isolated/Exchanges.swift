import Glibc
import ModuleHost
import Synchronization

/// What is asked of another process and answered by it: the host's ways beside bare ones, in turn.
enum Exchanges {
    static let rounds = 15
    static let count = 2000

    /// The ways, with the bare one that is the measure first.
    enum Way: Int, CaseIterable {
        case decoder, bytes, call, event

        var title: String {
            switch self {
            case .decoder: "bare Swift child with `JSONDecoder`, over pipes"
            case .bytes: "bare child that sends back the bytes"
            case .call: "a call of an isolated Swift module"
            case .event: "an event to an isolated Swift module"
            }
        }
    }

    /// Nanoseconds of all exchanges, by way and round.
    private static let metrics = Mutex(
        [[[Int]]](repeating: [], count: Way.allCases.count))
    private static let startOfTick = Mutex(0)

    private static let isApart = Mutex(false)

    /// Gives who answers the second core, where that is how it is measured.
    static func setApart(_ processes: [Int32]) throws {
        guard isApart.withLock({ $0 }) else { return }
        for process in processes { try pin(process, to: 1) }
    }

    private static func pin(_ process: Int32, to core: Int) throws {
        _ = try Child("/usr/bin/taskset", ["-acp", "\(core)", "\(process)"]).text()
    }

    static func begin(_ way: Way) { metrics.withLock { $0[way.rawValue].append([]) } }

    static func note(_ way: Way, _ nanoseconds: Int) {
        metrics.withLock { $0[way.rawValue][$0[way.rawValue].count - 1].append(nanoseconds) }
    }

    static func tickBegins() { startOfTick.withLock { $0 = nanoseconds() } }
    static func tickEnds() {
        let end = nanoseconds()
        note(.event, end - startOfTick.withLock { $0 })
    }

    /// Runs the host in which all is measured, and prints the table.
    ///
    /// - Parameters:
    ///   - isApart: Whether the host has one core, and those that answer the other: where the kernel chooses
    ///     it is up to chance whether two that talk with each other are on one.
    ///   - folder: Where the host has its files.
    /// - Throws: ``Failure``.
    static func run(isApart: Bool, in folder: Folder) throws -> Never {
        if isApart { try pin(getpid(), to: 0) }
        Self.isApart.withLock { $0 = isApart }
        try BenchHost.run(
            [
                BenchHost.Entry(type: FirstModule.self),
                BenchHost.Entry(type: EchoModule.self, isIsolated: true),
                BenchHost.Entry(type: LastModule.self),
            ], in: folder)
    }

    static func finish() -> Never {
        let metrics = metrics.withLock { $0 }
        func median(_ way: Way, _ part: Int) -> Int {
            metrics[way.rawValue].map { $0.sorted()[$0.count * part / 100] }.median
        }
        print(
            "| \(count) exchanges a round, \(rounds) rounds in turn | p50, µs | p99, µs | p50, of the first |"
        )
        print("|---|---:|---:|---:|")
        for way in Way.allCases {
            let (half, most) = (median(way, 50), median(way, 99))
            print(
                "| \(way.title) | \(decimal(half, per: 1000)) | \(decimal(most, per: 1000)) "
                    + "| \(decimal(half * 1000 / median(.decoder, 50), per: 1000, digits: 2)) |")
        }
        fflush(nil)
        _exit(0)
    }
}

/// The module before the isolated one: it calls, and notes when a tick comes to it.
final class FirstModule: MessageResponder {
    let topics = ["round", "tick"]
    private let context: ModuleContext
    private let decoder: Child
    private let bytes: Child
    private let line: [UInt8]

    init(context: ModuleContext) throws {
        self.context = context
        decoder = try Child(Arguments.echoChild, [])
        bytes = try Child(Arguments.program, ["echo"])
        // As the host writes it.
        line = Array(
            (#"{"jsonrpc":"2.0","id":1234,"method":"call","params":{"action":"echo","parameters":{"text":"\#(Words.usual.text)"},"origin":"bench.m0","from":{"kind":"local","module":"bench.m0"}}}"#
                + "\n").utf8)
    }

    func receive(_ message: Message) throws {
        if message.topic == "tick" { return Exchanges.tickBegins() }
        let module = try context.mediator.perform("bench.m1", "process", as: JSONValue.self)
        try Exchanges.setApart([decoder.id, bytes.id, Int32(module.int ?? 0)])
        try measure(.decoder) { try decoder.exchange(line) }
        try measure(.bytes) { try bytes.exchange(line) }
        try measure(.call) {
            try context.mediator.perform("bench.m1", "echo", ["text": "\(Words.usual.text)"])
        }
        Exchanges.begin(.event)
    }

    private func measure(_ way: Exchanges.Way, _ exchange: () throws -> Void) rethrows {
        Exchanges.begin(way)
        for _ in 0..<Exchanges.count {
            let began = nanoseconds()
            try exchange()
            Exchanges.note(way, nanoseconds() - began)
        }
    }
}

/// The module behind the isolated one: receives a tick when that one has answered, and sends the next.
final class LastModule: RootProvider, LaunchResponder, MessageResponder {
    let topics = ["tick"]
    private let context: ModuleContext
    private var ticks = 0

    init(context: ModuleContext) { self.context = context }

    var root: String? { nil }

    func didFinishLaunching(_ launch: Launch) throws { try begin() }

    private func begin() throws {
        try context.post("round")
        try context.post("tick", Words.usual)
    }

    func receive(_ message: Message) throws {
        Exchanges.tickEnds()
        ticks += 1
        if ticks == Exchanges.rounds * Exchanges.count { Exchanges.finish() }
        if ticks % Exchanges.count == 0 { return try begin() }
        try context.post("tick", Words.usual)
    }
}
