import AppService
import Synchronization

/// A host inside of another program, such as a server.
extension AppHost {
    /// The settings of an embedded host.
    public struct Settings: Sendable {
        /// The folder in which modules keep their files.
        ///
        /// The host creates it where it is missing, and claims it with a file `hostd.pid`, so that no second
        /// host uses it. Nil for a host without files: each file that a module opens below
        /// ``ModuleContext/stateDirectory`` is then an error that names the missing folder.
        public var stateDirectory: String?
        /// The values of `${NAME}` in a `config`, and the variables of modules with a process of their own.
        public var environment: [String: String]
        /// The least level that is logged; nil for `logLevel` of the slatefile, and `info` without that.
        public var logLevel: LogLevel?
        /// The observer of deliveries and calls; nil for none.
        public var observer: (any DeliveryObserver)?

        /// Creates settings.
        ///
        /// - Parameters:
        ///   - stateDirectory: The folder for the files of modules; nil for none.
        ///   - environment: The variables; nil for those of this process.
        ///   - logLevel: The least level that is logged; nil for that of the slatefile.
        ///   - observer: The observer of deliveries and calls; nil for none.
        public init(
            stateDirectory: String? = nil, environment: [String: String]? = nil,
            logLevel: LogLevel? = nil, observer: (any DeliveryObserver)? = nil
        ) {
            self.stateDirectory = stateDirectory
            self.environment = environment ?? CurrentProcess.environment()
            self.logLevel = logLevel
            self.observer = observer
        }
    }

    /// The path of the state directory of a host without one: nothing can be created below it.
    private static let noStateDirectory = "/nonexistent/this-host-has-no-state-directory"

    // MARK: Creating

    /// Creates a host from the text of a slatefile.
    ///
    /// Everything is checked as by `hostd check`. Nothing runs before ``run()``. A host has no inbox and no
    /// control socket, and takes no signals; the `signals` of its slatefile have no effect.
    ///
    /// - Parameters:
    ///   - text: The text of the slatefile.
    ///   - settings: The settings of the host.
    ///   - log: Takes each record of the log, on any thread; it must not block, as ``LogSink/write(_:)``.
    /// - Throws: ``HostError``, with every diagnostic of the slatefile.
    public convenience init(
        slatefile text: String, settings: Settings = Settings(),
        log: @escaping @Sendable (LogRecord) -> Void
    ) throws(HostError) {
        let slatefile: Slatefile
        do throws(SlatefileFailure) {
            slatefile = try .read(Array(text.utf8), from: "slatefile.json", settings.environment)
        } catch {
            throw HostError(error)
        }
        try self.init(slatefile, path: "slatefile.json", settings, log)
    }

    /// Creates a host from a slatefile on the disk.
    ///
    /// - Parameters:
    ///   - path: The path of the slatefile; its file of tokens is beside it.
    ///   - settings: The settings of the host.
    ///   - log: Takes each record of the log, on any thread; it must not block, as ``LogSink/write(_:)``.
    /// - Throws: ``HostError``, with every diagnostic of the slatefile.
    public convenience init(
        slatefileAt path: String, settings: Settings = Settings(),
        log: @escaping @Sendable (LogRecord) -> Void
    ) throws(HostError) {
        let slatefile: Slatefile
        do throws(SlatefileFailure) {
            slatefile = try .load(path, environment: settings.environment)
        } catch {
            throw HostError(error)
        }
        try self.init(slatefile, path: path, settings, log)
    }

    private convenience init(
        _ slatefile: Slatefile, path: String, _ settings: Settings,
        _ write: @escaping @Sendable (LogRecord) -> Void
    ) throws(HostError) {
        try Self.checkProcesses(of: slatefile, settings)
        let tokens: TokenStore
        do throws(SlatefileFailure) {
            tokens = try slatefile.loadTokens(beside: path)
        } catch {
            throw HostError(error)
        }
        var processes = ProcessSettings(
            folder: parentFolder(of: path), environment: settings.environment)
        let claim: PidFile?
        do throws(StateDirectoryError) {
            claim = try settings.stateDirectory.map { path throws(StateDirectoryError) in
                try PidFile(claiming: StateDirectory(path: path))
            }
        } catch {
            throw .stateDirectory("\(error)")
        }
        processes.mark = claim.map(ProcessMark.init)
        processes.pythonCache = settings.stateDirectory.map {
            CurrentProcess.absolute(
                StateDirectory(path: $0).path(of: StateDirectory.pythonCacheName))
        }
        let log = Log(to: ClosureSink(body: write), threshold: settings.logLevel)
        log.levels.take(slatefile)
        let time = SystemTimeSource()
        let life = EmbeddedLife()
        let reference = WeakBox<AppHost>()
        let held = Guarded<PidFile?>(claim)
        let mark = processes.mark
        let finish: @Sendable (End) -> Void = { end in
            if let host = reference.object {
                host.moduleProcesses.killAll()
                host.moduleProcesses.endAll(mark, within: .seconds(2), log: host.log)
            }
            time.end()
            held.withLock { $0 = nil }
            life.end(end)
        }
        self.init(
            slatefile: slatefile,
            stateDirectory: settings.stateDirectory ?? Self.noStateDirectory, processes: processes,
            tokens: tokens, inbox: nil,
            log: log, time: time,
            observer: Observer(
                deliveries: settings.observer,
                onEnd: { end in
                    // A thread that is stuck in a module does not come back to the lane.
                    guard end.isInOrder, life.isRunning, let lane = reference.object?.gate.lane
                    else {
                        return finish(end)
                    }
                    lane.runAfterEnd { finish(end) }
                }),
            blackBox: nil, role: StandaloneRole(), life: life)
        reference.set(self)
    }

    // MARK: Running

    /// Runs the app until it is stopped or fails, or until the task is cancelled, which stops it in good order.
    ///
    /// Requests that come earlier wait for READY. When this returns, every module is released, and no thread
    /// of the host is left, except for modules that were unresponsive when the stop was requested, as the log says; idle
    /// workers of Dispatch end by themselves.
    ///
    /// - Throws: ``HostError``: `failed` if a required part failed, `overdue` if the stop ran out of time, and
    ///   code of a module is still running on a thread of its own.
    public nonisolated(nonsending) func run() async throws(HostError) {
        guard let life, life.begin() else { throw .ranBefore }
        if life.ended == nil {
            do throws(SystemError) {
                // The lane's, and those of the alarms and the start-up tasks.
                try NativeThread.checkRoom(for: 3)
                try launch()
            } catch {
                // No thread of the lane will end it.
                life.end(.stopped)
                end(.stopped)
                throw .noThread(error)
            }
        }
        let end = await withTaskCancellationHandler {
            await life.wait()
        } onCancel: {
            stop(because: "the task that runs the host was cancelled")
        }
        switch end {
        case .stopped: return
        case .failed(let reason): throw .failed(reason)
        case .overdue(let modules): throw .overdue(modules)
        }
    }

    // MARK: Modules in processes of their own

    private static let runsModuleProcesses = Atomic(false)

    /// Runs the module for which this process was started, and ends the process; returns at once in a process
    /// that was not started for a module.
    ///
    /// A program that embeds a host with Swift modules in processes of their own calls this first in `main`:
    /// these processes are this program, started again.
    public static func exitIfModuleProcess() {
        runsModuleProcesses.store(true, ordering: .relaxed)
        guard let entry = LaunchSpec.entry(in: CurrentProcess.environment()) else { return }
        CurrentProcess.exit(ModuleChild.run(entry).rawValue)
    }

    private static func checkProcesses(
        of slatefile: Slatefile, _ settings: Settings
    ) throws(HostError) {
        guard LaunchSpec.entry(in: settings.environment) == nil else { throw .isModuleProcess }
        let module = slatefile.modules.first { module in
            guard case .entry = module.implementation else { return false }
            return module.isEnabled && module.isolation == .process
        }
        guard let module, !runsModuleProcesses.load(ordering: .relaxed) else { return }
        throw .needsModuleProcess(module.id)
    }
}

/// A log sink that is a closure.
private struct ClosureSink: LogSink {
    let body: @Sendable (LogRecord) -> Void

    func write(_ record: LogRecord) { body(record) }
}

extension AppHost.End {
    /// Whether no module was left behind.
    fileprivate var isInOrder: Bool {
        if case .overdue = self { false } else { true }
    }
}
