import Glibc
import ModuleHost
import Synchronization

/// How long it takes from the start of a module's process until it is ready.
enum Starts {
    private static let rounds = 60
    /// In each round; of several the host starts the processes side by side.
    private static let count = 1

    static func measure() throws {
        var metrics: [String: [Int]] = [:]
        for _ in 0..<rounds {
            for (key, value) in try Round.words("starts", "\(count)") {
                metrics[key, default: []].append(value)
            }
        }
        print("| \(rounds * count) starts each, in turn | p50, ms | p90, ms | worst, ms |")
        print("|---|---:|---:|---:|")
        for (key, title) in [
            ("bytes", "bare child that sends back the bytes, to its first answer"),
            ("decoder", "bare Swift child with `JSONDecoder`, to its first answer"),
            ("module", "an isolated Swift module, until it is ready"),
        ] {
            let sorted = metrics[key, default: []].sorted()
            guard let worst = sorted.last else { throw Failure("no starts of \(title)") }
            let parts = [sorted[sorted.count / 2], sorted[sorted.count * 9 / 10], worst]
            print(
                "| \(title) | "
                    + parts.map { decimal($0, per: 1_000_000) }.joined(separator: " | ") + " |")
        }
    }

    /// A host in which isolated modules are made between others, that look at the clock.
    static func run(_ count: Int, in folder: Folder) throws -> Never {
        var entries = [BenchHost.Entry(type: ClockModule.self)]
        for _ in 0..<count {
            entries.append(BenchHost.Entry(type: EchoModule.self, isIsolated: true))
            entries.append(BenchHost.Entry(type: ClockModule.self))
        }
        try BenchHost.run(entries, in: folder)
    }
}

/// A module that is made right after an isolated one, or before it.
final class ClockModule: RootProvider, LaunchResponder {
    /// When the last one of these was made.
    private static let last = Mutex<Int?>(nil)

    init(context: ModuleContext) throws {
        if let last = Self.last.withLock({ $0 }) {
            print("module=\(nanoseconds() - last)")
            try measure("bytes", Arguments.program, ["echo"])
            try measure("decoder", Arguments.echoChild, [])
        }
        Self.last.withLock { $0 = nanoseconds() }
    }

    private func measure(_ name: String, _ program: String, _ arguments: [String]) throws {
        let line = Array(
            (#"{"jsonrpc":"2.0","id":1,"method":"call","params":{"action":"echo","parameters":{"text":"\#(Words.usual.text)"},"origin":"bench.m0","from":{"kind":"local","module":"bench.m0"}}}"#
                + "\n").utf8)
        let began = nanoseconds()
        let child = try Child(program, arguments)
        try child.exchange(line)
        print("\(name)=\(nanoseconds() - began)")
        withExtendedLifetime(child) {}
    }

    var root: String? { nil }

    func didFinishLaunching(_ launch: Launch) {
        fflush(nil)
        _exit(0)
    }
}
