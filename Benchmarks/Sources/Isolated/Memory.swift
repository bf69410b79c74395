import Dispatch
import Glibc
import ModuleHost

/// What each isolated module costs its host in memory.
enum Memory {
    private static let most = 10
    private static let rounds = 3

    /// What is asked of the kernel: the pages that this process has written, and all that it has.
    private static let kinds = ["Private_Dirty", "Rss"]

    static func measure() throws {
        var own: [[Int]] = []
        var all: [[Int]] = []
        for modules in 0...most {
            let rounds = try (0..<rounds).map { _ in try Round.metrics("memory", "\(modules)") }
            own.append(rounds.map { $0["Private_Dirty", default: 0] })
            all.append(rounds.map { $0["Rss", default: 0] })
        }
        print("| isolated modules | the host's own memory, KB | RSS, KB |")
        print("|---:|---:|---:|")
        for modules in 0...most {
            print("| \(modules) | \(own[modules].median) | \(all[modules].median) |")
        }
        func growth(_ metrics: [[Int]]) -> Int {
            slope((1...most).map { ($0, metrics[$0].median) })
        }
        print("| each, from the first to the last | \(growth(own)) | \(growth(all)) |")
    }

    /// One host with so many isolated modules, which have been called.
    static func run(_ modules: Int, in folder: Folder) throws -> Never {
        var entries = (0..<modules).map { _ in
            BenchHost.Entry(type: EchoModule.self, isIsolated: true)
        }
        entries.append(
            BenchHost.Entry(type: WeighedModule.self, config: #"{"modules": \#(modules)}"#))
        try BenchHost.run(entries, in: folder)
    }

    /// Says what the host takes, and ends it.
    static func finish() -> Never {
        let text = (try? readFile("/proc/self/smaps_rollup")) ?? []
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
            guard words.count == 3, kinds.contains(String(words[0])) else { continue }
            print("\(words[0])=\(words[1])")
        }
        fflush(nil)
        _exit(0)
    }
}

/// Has each isolated module answer a hundred calls and as many events, and the host be weighed at rest.
final class WeighedModule: RootProvider, LaunchResponder, MessageResponder {
    struct Configuration: Decodable, Sendable {
        var modules: Int
    }

    let topics = ["tick"]
    private let context: ModuleContext
    private let modules: Int
    private var ticks = 0

    init(context: ModuleContext) throws {
        self.context = context
        modules = try context.config(Configuration.self).modules
    }

    var root: String? { nil }

    func didFinishLaunching(_ launch: Launch) throws {
        for _ in 0..<100 {
            for module in 0..<modules {
                try context.mediator.perform(
                    "bench.m\(module)", "echo", ["text": "\(Words.usual.text)"])
            }
            try context.post("tick", Words.usual)
        }
    }

    func receive(_ message: Message) {
        ticks += 1
        if ticks == 100 { context.timer(after: .seconds(1)) { Memory.finish() } }
    }
}
