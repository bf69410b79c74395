import Logging
import ModuleHostLogging
import ModuleHostTesting
import Testing

/// A main module with a logger, as it would give it to a library.
final class LibraryModule: RootProvider, RoutedModule {
    let root: String? = nil
    let logger: Logger

    init(context: ModuleContext) { logger = Logger(label: "library", log: context.log) }

    struct Empty: Decodable {}

    static var routes: [Route<LibraryModule>] {
        [
            Route("work") { (module, request: Empty, call) in
                module.logger.info(
                    "works", metadata: ["path": "a b", "count": .stringConvertible(2)])
            }
        ]
    }
}

@Suite("A logger that writes to the log of a module", .timeLimit(.minutes(2)))
struct ModuleLogHandlerTests {
    private let id = "test.library"

    /// Runs code with the logger of a module, and returns the records of the module.
    private func records(
        _ body: @escaping @Sendable (Logger) -> Void
    ) async throws -> [LogRecord] {
        let host = try await TestHost(modules: [LibraryModule.self])
        try await host.module(LibraryModule.self) { body($0.logger) }
        #expect(await host.stop() == .stopped)
        return host.records.filter { $0.fields.contains(LogField("label", "library")) }
    }

    private func texts(_ record: LogRecord) -> [String] {
        record.fields.map { "\($0.name)=\($0.text)" }
    }

    @Test("a line is one of the module, with label, source and metadata as its fields")
    func line() async throws {
        let records = try await records {
            $0.notice(
                "sold", metadata: ["to": "Ada", "count": .stringConvertible(3), "on": ["a": ["1"]]])
        }
        let record = try #require(records.first)
        #expect(records.count == 1)
        #expect(record.module == id)
        #expect(record.level == .notice)
        #expect(record.message == "sold")
        #expect(
            texts(record) == [
                "label=library", "source=ModuleHostLoggingTests", "count=3", #"on=["a": ["1"]]"#,
                "to=Ada",
            ])
        #expect(record.fields.contains(LogField("count", 3)))
    }

    @Test("metadata of the line replaces that of the provider, which replaces that of the logger")
    func metadata() async throws {
        let records = try await records { logger in
            var handler = logger.handler
            handler.metadata = ["a": "logger", "b": "logger", "c": "logger"]
            handler.metadataProvider = .init { ["b": "provider", "c": "provider"] }
            var logger = Logger(label: "library") { [handler] _ in handler }
            logger[metadataKey: "d"] = "logger"
            logger.info("x", metadata: ["c": "line", "message": "forged", "label": "forged"])
        }
        #expect(
            try texts(#require(records.first)).filter { !$0.hasPrefix("source") } == [
                "label=library", "a=logger", "b=provider", "c=line", "d=logger", "message_=forged",
            ])
        #expect(records.first?.message == "x")
    }

    @Test("the error of a line is a field")
    func error() async throws {
        struct Fire: Error, CustomStringConvertible {
            let description = "the disk is on fire"
        }
        let records = try await records { $0.error("not saved", error: Fire()) }
        #expect(try texts(#require(records.first)).contains("error=the disk is on fire"))
    }

    @Test("each level has its level: trace is debug where it is asked for, critical is error")
    func levels() async throws {
        let records = try await records { logger in
            var all = logger
            #expect(all.logLevel == .debug)
            all.trace("not asked for")
            all.logLevel = .trace
            for level in Logger.Level.allCases { all.log(level: level, "\(level)") }
        }
        #expect(
            records.map { "\($0.message) \($0.level)" } == [
                "trace debug", "debug debug", "info info", "notice notice", "warning warning",
                "error error", "critical error",
            ])
    }

    @Test("level and metadata are values: those of a copy change nothing else")
    func values() async throws {
        _ = try await records { logger in
            var one = logger
            one.logLevel = .debug
            one[metadataKey: "only-on"] = "first"
            var two = one
            two.logLevel = .error
            two[metadataKey: "only-on"] = "second"
            #expect(one.logLevel == .debug)
            #expect(two.logLevel == .error)
            #expect(one[metadataKey: "only-on"] == "first")
            #expect(two[metadataKey: "only-on"] == "second")
        }
    }

    @Test("a level that is chosen while the host runs is that of a logger made before")
    func levelAtRunTime() async throws {
        func slatefile(_ level: String) -> String {
            """
            { "slate": 1, "app": "test", "modules": [
              { "id": "test.library", "entry": "ModuleHostLoggingTests.LibraryModule", "main": true,
                "logLevel": "\(level)" } ] }
            """
        }
        let host = try await TestHost(slatefile: slatefile("info"))
        let logger = try await host.module(LibraryModule.self) { $0.logger }
        try await host.reload(slatefile: slatefile("warning"))
        #expect(logger.logLevel == .warning)
        logger.info("too early")
        try await host.reload(slatefile: slatefile("debug"))
        #expect(logger.logLevel == .debug)
        logger.debug("a detail")
        // The level of the logger lets the line through, that of the module does not.
        var loud = logger
        loud.logLevel = .trace
        try await host.reload(slatefile: slatefile("error"))
        #expect(loud.logLevel == .trace)
        loud.info("too late")
        loud.error("an error")
        #expect(await host.stop() == .stopped)
        let lines = host.records.filter { $0.fields.contains(LogField("label", "library")) }
        #expect(lines.map(\.message) == ["a detail", "an error"])
    }

    @Test("it logs from a process of its own, too, with its metadata behind the message")
    func isolated() async throws {
        let library = TestModule(
            entry: "LoggingShop.ShopModule", id: "test.shop", more: #""isolation": "process""#)
        let host = try await TestHost(modules: [library], .init(executable: "LoggingShop"))
        try await host.call("test.shop", "price/:fruit", ["fruit": "a pear"])
        try await host.logged("price asked for", by: "test.shop")
        #expect(await host.stop() == .stopped)
        let record = try #require(host.records.first { $0.message.hasPrefix("price asked for") })
        #expect(
            record.message == #"price asked for label=prices source=LoggingShop fruit="a pear""#)
        #expect(record.level == .info)
    }
}
