import Dispatch
import Glibc
import ModuleHost
import Synchronization

/// How long an isolated module that has crashed lacks what happens: until it runs again, and has received all
/// that it has missed.
enum Crashes {
    private static let rounds = 20

    /// How the process ends.
    enum Death: String, CaseIterable {
        case kill, trap

        var title: String {
            switch self {
            case .kill: "SIGKILL"
            case .trap: "a trap"
            }
        }
    }

    static func measure() throws {
        print(
            "| it dies while an event comes each millisecond, \(rounds) times "
                + "| until it has received all, ms: p50, worst | the delay before its new start "
                + "| beyond that, to the first event: p50, worst | to the last: p50, worst "
                + "| received | twice |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for death in Death.allCases {
            let rounds = try (0..<rounds).map { _ in try Round.metrics("crash", death.rawValue) }
            func metrics(_ key: String) throws -> [Int] {
                let metrics = rounds.compactMap { $0[key] }
                guard metrics.count == rounds.count else { throw Failure("\(death): no '\(key)'") }
                return metrics
            }
            func text(_ key: String) throws -> String {
                let metrics = try metrics(key)
                return "\(decimal(metrics.median, per: 1_000_000)), "
                    + decimal(metrics.max() ?? 0, per: 1_000_000)
            }
            let counts = try ["sent", "received", "again"].map { try metrics($0).reduce(0, +) }
            print(
                "| \(death.title) | \(try text("caughtUp")) "
                    + "| \(decimal(try metrics("delay").median, per: 1_000_000)) "
                    + "| \(try text("first")) | \(try text("beyond")) "
                    + "| \(counts[1]) of \(counts[0]) | \(counts[2]) |")
            if counts[0] != counts[1] { throw Failure("events were lost") }
        }
    }

    /// One host, whose isolated module dies once.
    static func run(_ death: String, in folder: Folder) throws -> Never {
        let log = open("\(folder.path)/log", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard log >= 0, dup2(log, STDERR_FILENO) >= 0 else { throw Failure.system("log") }
        try BenchHost.run(
            [
                BenchHost.Entry(
                    type: EchoModule.self, isIsolated: true,
                    config: #"{"journal": "\#(folder.path)/journal"}"#),
                BenchHost.Entry(
                    type: TickingModule.self,
                    config: #"{"folder": "\#(folder.path)", "death": "\#(death)"}"#),
            ], in: folder)
    }
}

/// Sends a tick each millisecond, and has the isolated module die in the middle.
final class TickingModule: RootProvider, LaunchResponder {
    struct Configuration: Decodable, Sendable {
        var folder: String
        var death: String
    }

    private static let crash = 300
    private static let end = 1000

    private let context: ModuleContext
    private let folder: String
    private let death: Crashes.Death?
    /// When each tick was sent.
    private var sent: [Int] = []
    private var killed = 0
    private var timer: ModuleTimer?

    init(context: ModuleContext) throws {
        self.context = context
        let configuration = try context.config(Configuration.self)
        folder = configuration.folder
        death = Crashes.Death(rawValue: configuration.death)
    }

    var root: String? { nil }

    func didFinishLaunching(_ launch: Launch) throws {
        let process = try context.mediator.perform("bench.m0", "process", as: JSONValue.self)
        guard let id = process.int else { throw Failure("it has no process") }
        timer = context.timer(every: .milliseconds(1)) { [unowned self] in try tick(pid_t(id)) }
    }

    private func tick(_ process: pid_t) throws {
        if sent.count < Self.end {
            sent.append(nanoseconds())
            try context.post("tick", sent.count - 1)
        }
        if sent.count == Self.crash, killed == 0 {
            killed = nanoseconds()
            switch death {
            // This tick is on its way.
            case .kill: kill(process, SIGKILL)
            default: try context.post("trap")
            }
        }
        if sent.count == Self.end, nanoseconds() - sent[Self.end - 1] > 300_000_000 { finish() }
    }

    private func finish() -> Never {
        do {
            try report()
        } catch {
            print("error: \(error)")
        }
        fflush(nil)
        _exit(0)
    }

    private func report() throws {
        let numbers = try readFile(folder + "/journal").withUnsafeBytes {
            Array($0.bindMemory(to: Int.self))
        }
        let received = stride(from: 0, to: numbers.count - 1, by: 2).map {
            (tick: numbers[$0], time: numbers[$0 + 1])
        }
        let ticks = received.map(\.tick).filter { $0 >= 0 }
        let distinct = Set(ticks).count
        print("sent=\(Self.end)", "received=\(distinct)", "again=\(ticks.count - distinct)")
        if let trap = received.first(where: { $0.tick < 0 }) { killed = trap.time }
        // Nothing that was sent by then is missing.
        let all = received.first {
            $0.time > killed && $0.tick >= Self.crash
                && ($0.tick == Self.end - 1 || sent[$0.tick + 1] > $0.time)
        }
        let log = String(decoding: try readFile(folder + "/log"), as: UTF8.self)
        let first = received.first { $0.time > killed && $0.tick >= 0 }
        guard let first, let all, let delay = Self.delay(in: log) else {
            throw Failure("it did not come back: \(log)")
        }
        let time = all.time - killed
        print(
            "caughtUp=\(time)", "delay=\(delay)", "first=\(first.time - killed - delay)",
            "beyond=\(time - delay)")
    }

    /// How long the host waited before the new start, as it says, in nanoseconds.
    private static func delay(in log: String) -> Int? {
        let mark = "it is started again in "
        guard let line = log.split(separator: "\n").first(where: { $0.contains(mark) }),
            let text = line.split(separator: " ").last, text.hasSuffix("ms")
        else { return nil }
        return Double(text.dropLast(2)).map { Int($0 * 1_000_000) }
    }
}
