import Dispatch
import InMemoryLogging
import Logging
import ModuleHostLogging
import Testing

/// A backend that keeps each line, and gives it to the log of a module, too.
private struct BothWays: LogHandler {
    /// The log of the module, as soon as there is one.
    static let moduleLog = Guarded<Log?>(nil)

    let lines: InMemoryLogHandler
    /// The queue that gives lines to the module; nil for the thread that logs.
    let queue: DispatchQueue?
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    func log(event: LogEvent) {
        lines.log(event: event)
        guard let log = Self.moduleLog.withLock({ $0 }) else { return }
        guard let queue else { return ModuleLogHandler(log).log(event: event) }
        queue.async { ModuleLogHandler(log).log(event: event) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
}

/// A main module that gives its log to the backend of the program.
final class GivingModule: RootProvider, RoutedModule {
    let root: String? = nil
    private let context: ModuleContext

    init(context: ModuleContext) {
        self.context = context
        BothWays.moduleLog.withLock { $0 = context.log }
    }

    struct Empty: Decodable {}

    static var routes: [Route<GivingModule>] {
        [Route("say") { (module, request: Empty, call) in module.context.log.notice("said") }]
    }
}

@Suite(
    "A host whose log goes to a logger, whose lines go to the host", .timeLimit(.minutes(1)),
    .serialized)
struct BothWaysTests {
    private static let slatefile = """
        { "slate": 1, "app": "test", "modules": [
          { "id": "x.main", "entry": "ModuleHostLoggingTests.GivingModule", "main": true } ] }
        """

    /// Runs a host of which a module says something, and a library something else.
    private func lines(by queue: DispatchQueue?) async throws -> [InMemoryLogHandler.Entry] {
        let lines = InMemoryLogHandler()
        let logger = Logger(label: "test") { _ in BothWays(lines: lines, queue: queue) }
        let host = try AppHost(slatefile: Self.slatefile) { logger.write($0) }
        async let end: Void = host.run()
        try await host.call("x.main", "say")
        logger.notice("from a library")
        // Each round would be behind the last one.
        for _ in 0..<10 { queue?.sync {} }
        host.stop(because: "the test is over")
        try await end
        BothWays.moduleLog.withLock { $0 = nil }
        return lines.entries
    }

    @Test("a line of the host comes once", arguments: [false, true])
    func host(isLater: Bool) async throws {
        let lines = try await lines(by: isLater ? DispatchQueue(label: "later") : nil)
        #expect(lines.count { $0.message == "said" } == 1)
        #expect(lines.count { $0.message.description.hasPrefix("stopping:") } == 1)
    }

    @Test(
        "a line of a library comes once, and once as one of the module", arguments: [false, true])
    func library(isLater: Bool) async throws {
        let lines = try await lines(by: isLater ? DispatchQueue(label: "later") : nil)
        let found = lines.filter { $0.message == "from a library" }
        #expect(found.map { $0.metadata["module"] } == [nil, "x.main"])
    }
}
