package import ModuleHost

/// A real host that a test runs, with a state directory of its own, a log that is kept, and a clock
/// that stands still.
///
/// ```swift
/// let end = try await RunningHost.run(slatefile) { app in
///     try await app.deliver(.push, #"{"aps": {"badge": 3}}"#)
///     _ = await app.log.first(containing: "badge count is 3")
/// }
/// ```
///
/// An entry is found by its name: a test's own module is a top-level class of the test target that is
/// not private, `"entry": "ModulesTests.Listener"`.
package final class RunningHost: Sendable {
    package let host: Host
    package let folder: TemporaryFolder
    package let log: LogRecorder
    package let time: ManualTimeSource
    private let ended: Promise<Host.End>

    /// Runs the app of a slatefile until it is ready, then `body`, then stops it, whatever `body` did.
    ///
    /// Where the app ends before it is ready, `body` runs then.
    ///
    /// - Parameters:
    ///   - slatefile: The slatefile's text. Entries and settings are checked as by `hostd run`.
    ///   - folder: The state directory; nil for a new one.
    ///   - environment: What `${NAME}` in a `config` stands for.
    ///   - tokens: The text of a file of tokens; nil for none.
    ///   - processes: How modules run that have a process of their own.
    ///   - isChecked: Whether entries and settings are checked.
    ///   - body: What to do with the app.
    /// - Returns: How the app ended.
    /// - Throws: ``SlatefileError``, and what `body` throws.
    @discardableResult
    package static func run(
        _ slatefile: String, in folder: TemporaryFolder? = nil,
        environment: [String: String] = [:], tokens: String? = nil,
        processes: ProcessSettings = ProcessSettings(), isChecked: Bool = true,
        _ body: (RunningHost) async throws -> Void
    ) async throws -> Host.End {
        let slatefile = try Slatefile.read(
            Array(slatefile.utf8), path: "slatefile.json", environment: { environment[$0] },
            checkEntry: isChecked ? EntryUse.checkAgainstBinary() : nil)
        let tokens = try tokens.map {
            try TokenStore.read(Array($0.utf8), path: "tokens.json", schemes: slatefile.schemes)
        }
        let ready = Promise<Void>()
        let app = RunningHost(
            slatefile, in: try folder ?? TemporaryFolder(), tokens: tokens ?? .empty, processes,
            ready)
        try app.host.launch()
        await ready.value
        do {
            try await body(app)
        } catch {
            _ = await app.stop()
            throw error
        }
        return await app.stop()
    }

    private init(
        _ slatefile: Slatefile, in folder: TemporaryFolder, tokens: TokenStore,
        _ processes: ProcessSettings, _ ready: Promise<Void>
    ) {
        let ended = Promise<Host.End>()
        let log = LogRecorder()
        let time = ManualTimeSource()
        host = Host(
            slatefile: slatefile, stateDirectory: folder.path, processes: processes,
            tokens: tokens, log: log.log, time: time,
            observer: Host.Observer(
                onReady: { _, _, _ in ready.keep(()) },
                onEnd: { end in
                    ended.keep(end)
                    ready.keep(())
                }))
        self.folder = folder
        self.log = log
        self.time = time
        self.ended = ended
    }

    /// Delivers an event, and waits until every module has received it or the host has ignored it.
    ///
    /// - Parameters:
    ///   - kind: The event; not `terminate`, for that there is ``stop()``.
    ///   - payload: Its payload, as JSON.
    ///   - origin: Who caused it.
    /// - Throws: Where the payload is none that the event takes.
    package func deliver(
        _ kind: EventKind, _ payload: String? = nil, origin: Origin = .host
    ) async throws {
        let payload = try payload.map { try JSONValue(parsing: $0) }
        let event = try LifecycleEvent(kind, payload: payload, origin: origin)
        try await awaiting(kind) { host.deliver(event) }
    }

    /// Does something that has an event delivered, and waits until every module has received it.
    package func awaiting(_ kind: EventKind, _ body: () throws -> Void) async throws {
        let start = log.records.count
        try body()
        _ = await log.first(from: start) { $0.module == nil && $0.event == kind.rawValue }
    }

    /// Waits until a start-up task has ended.
    ///
    /// - Parameter name: Its whole name, such as `com.mm.community/index`.
    /// - Returns: What the log says of its end.
    @discardableResult
    package func startupTask(_ name: String) async -> String {
        let record = await log.first {
            $0.message.hasPrefix("start-up task \(name) ") && !$0.message.hasSuffix(" begins")
        }
        return record.message
    }

    /// Stops the app unless it has ended, and waits for the end.
    @discardableResult
    package func stop() async -> Host.End {
        host.stop(because: "the test is over")
        let end = await ended.value
        time.dropAlarms()
        return end
    }

    /// What the host says of the last event of a kind: how many received it, and what they answered.
    package func outcome(of kind: EventKind) -> String? {
        log.records.last { $0.module == nil && $0.event == kind.rawValue }?.message
    }

    /// What one module, or for nil the host, has logged so far, in order; debug lines left out.
    package func messages(of module: String?) -> [String] {
        log.records.filter { $0.module == module && $0.level > .debug }.map(\.message)
    }

    /// The text of a file in the state directory.
    ///
    /// - Throws: ``FileReadError``, also where there is none.
    package func text(of name: String) throws -> String { try folder.text(of: name) }
}
