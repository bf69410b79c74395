import AppService
public import ModuleHostCore

/// A real host for a test, with one or many modules, a clock that the test moves, and a log that is kept.
///
/// ```swift
/// try await TestHost.run(modules: [Greeter.self]) { host in
///     try await host.deliver(.background)
///     let reply = try await host.open("slate://greet?name=Mia")
///     #expect(reply.text == #""Hello, Mia""#)
/// }
/// ```
///
/// It is the host of `hostd run`, with the same order, deadlines and checks; only the clock stands still. It
/// takes no signals, has no control socket, and keeps files in a folder that is removed at the end. Any
/// number of hosts run side by side. Works with Swift Testing, XCTest, and any other code.
///
/// - Thread: Any, for all methods.
/// - Waiting: Each method that waits returns when its event has happened. If it has not happened within
///   ``Settings/patience``, or when the task of the test is cancelled, the method throws an error that says
///   what the host is doing.
/// - End: Stop it with ``stop()``, or let ``run(modules:_:_:)`` do so. A host that is released while it runs
///   stops by itself, within the deadlines of its slatefile.
public final class TestHost: Sendable {
    /// The settings of a host for a test.
    public struct Settings: Sendable {
        /// The state directory, also the folder from which the host's modules read and write files; nil for
        /// a new one, which is removed at the end.
        public var folder: TemporaryFolder?
        /// The values of `${NAME}` in a `config`.
        ///
        /// Variables of the test's own process are not used.
        public var environment: [String: String]
        /// The text of a file of tokens; nil for none.
        public var tokens: String?
        /// The schemes of the app's URLs, for modules that are given as a list.
        ///
        /// A slatefile has its own.
        public var schemes: [String]
        /// Whether events with a payload go through an inbox on the disk, as in `hostd`.
        ///
        /// They have a ``ModuleContext/position`` then, and an event that is not done when the host stops is
        /// delivered by the next host in this folder.
        public var isDurable: Bool
        /// The executable in which Swift modules run that have a process of their own.
        ///
        /// A name without a slash, such as `hostd`, is an executable of the same package, beside the tests.
        /// It must be a host that links these modules. Nil where no module needs one.
        public var executable: String?
        /// The observer of deliveries and calls; nil for none.
        public var observer: (any DeliveryObserver)?
        /// The longest time, on the real clock, that one method waits.
        public var patience: Duration
        /// Whether the slatefile is checked against the classes of this process, as by `hostd run`.
        package var isChecked = true

        /// Creates settings; without arguments, those that suit most tests.
        ///
        /// - Parameters:
        ///   - folder: The state directory.
        ///   - environment: The values of `${NAME}` in a `config`.
        ///   - tokens: The text of a file of tokens.
        ///   - schemes: The schemes of the app's URLs.
        ///   - isDurable: Whether there is an inbox.
        ///   - executable: The executable for Swift modules with a process of their own.
        ///   - observer: The observer of deliveries and calls.
        ///   - patience: The longest time that one method waits.
        public init(
            folder: TemporaryFolder? = nil, environment: [String: String] = [:],
            tokens: String? = nil, schemes: [String] = ["slate"], isDurable: Bool = false,
            executable: String? = nil, observer: (any DeliveryObserver)? = nil,
            patience: Duration = .seconds(60)
        ) {
            self.folder = folder
            self.environment = environment
            self.tokens = tokens
            self.schemes = schemes
            self.isDurable = isDurable
            self.executable = executable
            self.observer = observer
            self.patience = patience
        }
    }

    /// The state directory: the folder in which the modules keep their files.
    public let folder: TemporaryFolder

    package let host: AppHost
    package let log: LogRecorder
    package let time: ManualTimeSource
    let settings: Settings
    let recorder: DeliveryRecorder
    let stalls = Stalls()
    private let ready: Promise<AppHost.End?>
    private let ended: Promise<AppHost.End>

    // MARK: Start

    /// Starts a host for modules of the test, and waits until it is ready.
    ///
    /// The first module that is a ``RootProvider`` is the main one; without any, the host adds one with the
    /// id `test.main` and no root.
    ///
    /// - Parameters:
    ///   - modules: The modules, in the order in which they respond. Any class will do, also one that is
    ///     nested in the test or private.
    ///   - settings: The settings of the host.
    /// - Throws: ``SlatefileError`` with everything that is wrong with the modules; ``TestHostError`` if the
    ///   app ends before it is ready.
    public convenience init(
        modules: [TestModule], _ settings: Settings = Settings()
    ) async throws {
        try await self.init(
            slatefile: TestModule.slatefile(of: modules, schemes: settings.schemes), settings)
    }

    /// Starts a host for module classes, each with the id `test.<name>` and without a `config`.
    ///
    /// The class `FeedReaderModule` has the id `test.feed-reader`.
    ///
    /// - Parameters:
    ///   - modules: The classes, in the order in which they respond.
    ///   - settings: The settings of the host.
    /// - Throws: As ``init(modules:_:)`` for values.
    public convenience init(
        modules: [any (Module & SendableMetatype).Type], _ settings: Settings = Settings()
    ) async throws {
        try await self.init(modules: modules.map { TestModule($0) }, settings)
    }

    /// Starts the host of a whole slatefile, and waits until it is ready.
    ///
    /// - Parameters:
    ///   - slatefile: The text of the slatefile.
    ///   - settings: The settings of the host.
    /// - Throws: ``SlatefileError`` with everything that is wrong with it; ``TestHostError`` if the app ends
    ///   before it is ready.
    public convenience init(slatefile: String, _ settings: Settings = Settings()) async throws {
        try await self.init(launching: slatefile, settings)
        let end = try await wait(for: "READY") { [ready] done in ready.then { done(.success($0)) } }
        if let end { throw TestHostError.ended(before: "READY", end, log: log.lastLines) }
    }

    private init(launching text: String, _ settings: Settings) async throws {
        let (slatefile, tokens) = try settings.read(text)
        let processes = try ProcessSettings(settings, for: slatefile)
        let folder = try settings.folder ?? TemporaryFolder()
        let ended = Promise<AppHost.End>()
        let ready = Promise<AppHost.End?>()
        let log = LogRecorder()
        let time = ManualTimeSource()
        let durable =
            settings.isDurable
            ? try DurableParts(of: slatefile, in: folder, log: log.log, time: time) : nil
        let recorder = DeliveryRecorder(before: settings.observer)
        host = AppHost(
            slatefile: slatefile, stateDirectory: folder.path, processes: processes,
            tokens: tokens, inbox: durable?.inbox, log: log.log, time: time,
            observer: AppHost.Observer(
                onReady: { _, _, _ in ready.keep(nil) },
                deliveries: recorder,
                // Keeps the folder until the end, also where the test has released this.
                onEnd: { [folder] end in
                    withExtendedLifetime(folder) {}
                    durable?.end()
                    ended.keep(end)
                    ready.keep(end)
                    time.end()
                }),
            blackBox: durable?.blackBox)
        self.recorder = recorder
        self.folder = folder
        self.log = log
        self.time = time
        self.ended = ended
        self.ready = ready
        self.settings = settings
        try durable?.start()
        try host.launch()
    }

    // MARK: End

    deinit {
        stalls.endAll()
        FullDisks.remove(folder.path)
        guard !ended.isKept else { return }
        // The alarms of the stop keep the host until its end.
        time.run()
        host.stop(because: "the test released its host")
    }

    /// Requests the stop, and does not wait for it.
    ///
    /// For a test of what a stop waits for, such as a hold; the clock still stands still.
    public func requestStop() { host.stop(because: "the test says so") }

    /// Stops the app unless it has ended, and waits for the end.
    ///
    /// From now on the clock goes as fast as the real one, so a module that does not return, or a hold that
    /// is not released, ends with its deadline. Modules that the test has stalled go on.
    ///
    /// - Returns: How the app ended: `.stopped` if every module received the shutdown events and was
    ///   released; `.overdue` with the modules that had not returned.
    @discardableResult
    public func stop() async -> AppHost.End {
        stalls.endAll()
        isDiskFull = false
        if !ended.isKept {
            time.run()
            host.stop(because: "the test is over")
        }
        return await ended.value
    }

    /// The end of the app; nil while it runs.
    public var end: AppHost.End? { ended.current }

    // MARK: Scope

    /// Runs a host for the time of a closure, then stops it, also if the closure throws.
    ///
    /// - Parameters:
    ///   - modules: The modules, in the order in which they respond.
    ///   - settings: The settings of the host.
    ///   - body: The test.
    /// - Returns: How the app ended; see ``stop()``.
    /// - Throws: As ``init(modules:_:)``; the error of `body`.
    @discardableResult
    public static func run(
        modules: [TestModule], _ settings: Settings = Settings(),
        _ body: (TestHost) async throws -> Void
    ) async throws -> AppHost.End {
        try await TestHost(modules: modules, settings).finish(body)
    }

    /// Runs a host for module classes for the time of a closure.
    ///
    /// - Parameters:
    ///   - modules: The classes, in the order in which they respond.
    ///   - settings: The settings of the host.
    ///   - body: The test.
    /// - Returns: How the app ended; see ``stop()``.
    /// - Throws: As ``init(modules:_:)``; the error of `body`.
    @discardableResult
    public static func run(
        modules: [any (Module & SendableMetatype).Type], _ settings: Settings = Settings(),
        _ body: (TestHost) async throws -> Void
    ) async throws -> AppHost.End {
        try await TestHost(modules: modules, settings).finish(body)
    }

    /// Runs the host of a slatefile for the time of a closure.
    ///
    /// - Parameters:
    ///   - slatefile: The text of the slatefile.
    ///   - settings: The settings of the host.
    ///   - body: The test.
    /// - Returns: How the app ended; see ``stop()``.
    /// - Throws: As ``init(slatefile:_:)``; the error of `body`.
    @discardableResult
    public static func run(
        slatefile: String, _ settings: Settings = Settings(),
        _ body: (TestHost) async throws -> Void
    ) async throws -> AppHost.End {
        try await TestHost(slatefile: slatefile, settings).finish(body)
    }

    private func finish(
        _ body: (TestHost) async throws -> Void
    ) async throws -> AppHost.End {
        do {
            try await body(self)
        } catch {
            await stop()
            throw error
        }
        return await stop()
    }
}
