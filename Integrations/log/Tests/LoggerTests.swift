import InMemoryLogging
import Logging
import ModuleHostLogging
import Testing

/// A main module that logs in each way that a module has, and lets a test enter it by its routes.
final class SpeakingModule: RootProvider, RoutedModule {
    let root: String? = nil
    private let log: Log

    init(context: ModuleContext) { log = context.log }

    struct Word: Decodable {
        let word: String
    }

    static var routes: [Route<SpeakingModule>] {
        [
            Route("say/:word") { (module, request: Word, call) in
                for level in LogLevel.allCases {
                    module.log.write(level, request.word, fields: [LogField("count", 3)])
                }
            }
        ]
    }
}

/// A program with a host whose log goes to a logger.
struct Program {
    let host: AppHost

    /// - Parameters:
    ///   - logger: The logger.
    ///   - more: Further members of the slatefile.
    init(_ logger: Logger, more: String = "") throws {
        host = try AppHost(
            slatefile: """
                { "slate": 1, "app": "test", "schemes": ["test"], \(more) "modules": [
                  { "id": "x.main", "entry": "ModuleHostLoggingTests.SpeakingModule", "main": true } ] }
                """
        ) { logger.write($0) }
    }

    /// Runs the host while a body uses it.
    func run(_ body: (AppHost) async throws -> Void) async throws {
        async let end: Void = host.run()
        try await body(host)
        host.stop(because: "the test is over")
        try await end
    }
}

@Suite("The log of a host to a logger", .timeLimit(.minutes(1)))
struct LoggerTests {
    private let lines = InMemoryLogHandler()

    private func logger(_ level: Logger.Level = .trace) -> Logger {
        var logger = Logger(label: "test") { _ in lines }
        logger.logLevel = level
        return logger
    }

    @Test("a line has its level, message, module and fields")
    func moduleLine() async throws {
        try await Program(logger(), more: #""logLevel": "debug","#).run {
            try await $0.call("x.main", "say/:word", ["word": "sold"])
        }
        let sold = lines.entries.filter { $0.message == "sold" }
        #expect(sold.map(\.level) == [.debug, .info, .notice, .warning, .error])
        #expect(sold.allSatisfy { $0.metadata == ["module": "x.main", "count": "3"] })
    }

    @Test("a line of the host has no module, and its event, duration and fields are metadata")
    func hostLine() async throws {
        try await Program(logger()).run {
            try await $0.call("x.main", "say/:word", ["word": "sold"])
        }
        let stop = try #require(
            lines.entries.first { $0.message.description.hasPrefix("stopping:") })
        #expect(stop.metadata["module"] == nil)
        let launch = try #require(lines.entries.first { $0.metadata["event"] == "launch" })
        #expect(launch.metadata["origin"] == "host")
        let time = try #require(launch.metadata["ms"].flatMap { Double("\($0)") })
        #expect(time > 0)
    }

    @Test("the level is first that of the host, then that of the logger")
    func levels() async throws {
        try await Program(logger(.warning)).run {
            try await $0.call("x.main", "say/:word", ["word": "sold"])
        }
        #expect(lines.entries.map(\.level) == [.warning, .error])
        let all = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in all }
        logger.logLevel = .trace
        try await Program(logger, more: #""logLevel": "error","#).run {
            try await $0.call("x.main", "say/:word", ["word": "sold"])
        }
        #expect(all.entries.map(\.level) == [.error])
    }

    @Test("a module can neither forge a line nor move the cursor of a terminal")
    func escapes() async throws {
        try await Program(logger()).run {
            try await $0.call("x.main", "say/:word", ["word": "sold\n\u{1B}[2J"])
        }
        let sold = lines.entries.filter { $0.metadata["module"] == "x.main" }
        #expect(!sold.isEmpty)
        #expect(sold.allSatisfy { $0.message == #"sold\n\u{1b}[2J"# })
    }
}
