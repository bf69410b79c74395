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
        /// ``ModuleContext/stateDirectory`` is then an error that names the missing folder. With ``hasInbox`` or
        /// ``hasControlSocket``, nil means the folder of `hostd run`: the first one of `STATE_DIRECTORY` in
        /// ``environment``, or `.hostd` beside the slatefile.
        public var stateDirectory: String?
        /// Whether the host has an inbox, which makes events durable: accepted ones survive the program.
        ///
        /// The state directory then has the folder `inbox`, and the black box and the record, by which the next host and
        /// the commands of `hostd` know how this one ended. A host that cannot open its inbox is not created: it throws
        /// ``HostError/stateDirectory(_:)``, also if another program has locked the inbox for 10 s. Default: false.
        public var hasInbox = false
        /// Whether the host has a control socket, over which the commands of `hostd` and ``HostClient`` reach it.
        ///
        /// It is `control.sock` in the state directory while ``run()`` runs, which throws
        /// ``HostError/stateDirectory(_:)`` if the socket cannot be created. The black box and the record are there, too. A
        /// request to stop ends the app and not the process; requests to end the process or to exchange the slatefile are
        /// refused. Default: false.
        public var hasControlSocket = false
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
        ///   - hasInbox: Whether the host has an inbox, which makes events durable.
        ///   - hasControlSocket: Whether the host has a control socket.
        public init(
            stateDirectory: String? = nil, environment: [String: String]? = nil,
            logLevel: LogLevel? = nil, observer: (any DeliveryObserver)? = nil,
            hasInbox: Bool = false, hasControlSocket: Bool = false
        ) {
            self.stateDirectory = stateDirectory
            self.hasInbox = hasInbox
            self.hasControlSocket = hasControlSocket
            self.environment = environment ?? CurrentProcess.environment()
            self.logLevel = logLevel
            self.observer = observer
        }

        /// Returns the state directory of a host; nil for none.
        ///
        /// - Parameter slatefile: The path of its slatefile; nil for one that is not in a file.
        /// - Throws: ``HostError`` if the host needs one and there is no place for it.
        fileprivate func directory(
            beside slatefile: String?
        ) throws(HostError) -> StateDirectory? {
            if let stateDirectory { return StateDirectory(path: stateDirectory) }
            guard hasInbox || hasControlSocket else { return nil }
            if let slatefile {
                return StateDirectory(
                    option: nil, environment: environment, slatefile: slatefile)
            }
            throw .stateDirectory(
                "a host that is created from a text needs 'stateDirectory' for "
                    + (hasInbox ? "its inbox" : "its control socket"))
        }
    }

    /// The path of the state directory of a host without one: nothing can be created below it.
    private static let noStateDirectory = "/nonexistent/this-host-has-no-state-directory"

    // MARK: Creating

    /// Creates a host from the text of a slatefile.
    ///
    /// Everything is checked as by `hostd check`. Nothing runs before ``run()``. A host takes no signals; the `signals`
    /// of its slatefile have no effect.
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
        try self.init(slatefile, path: nil, settings, log)
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
        _ slatefile: Slatefile, path: String?, _ settings: Settings,
        _ write: @escaping @Sendable (LogRecord) -> Void
    ) throws(HostError) {
        try Self.checkProcesses(of: slatefile, settings)
        let file = path ?? "slatefile.json"
        let tokens: TokenStore
        do throws(SlatefileFailure) {
            tokens = try slatefile.loadTokens(beside: file)
        } catch {
            throw HostError(error)
        }
        var processes = ProcessSettings(
            folder: parentFolder(of: file), environment: settings.environment)
        let directory = try settings.directory(beside: path)
        let claim: PidFile?
        do throws(StateDirectoryError) {
            claim = try directory.map { directory throws(StateDirectoryError) in
                try PidFile(claiming: directory)
            }
        } catch {
            throw .stateDirectory("\(error)")
        }
        let mark = claim.map(ProcessMark.init)
        processes.mark = mark
        processes.pythonCache = directory.map {
            CurrentProcess.absolute($0.path(of: StateDirectory.pythonCacheName))
        }
        let levels = LogLevels(start: settings.logLevel)
        levels.take(slatefile)
        let sink = ClosureSink(body: write)
        let tail = settings.hasControlSocket ? TailHub(levels) : nil
        let log = Log(to: tail.map { LogTee(sink, $0) } ?? sink, levels: levels)
        if claim?.isAfterDeath == true { mark?.endProcesses(of: .lastHost, log: log) }
        let time = SystemTimeSource()
        var slatefile = slatefile
        let parts: EmbeddedParts?
        if settings.hasInbox || settings.hasControlSocket, let directory, let claim {
            parts = try EmbeddedParts(
                in: directory, claim: claim, for: slatefile, hasInbox: settings.hasInbox,
                tail: tail, log: log, time: time)
            slatefile = slatefile.disablingModules(
                in: directory, log: log, program: ProgramIdentity.hostd.name)
        } else {
            parts = nil
        }
        let held = Guarded<PidFile?>(claim)
        let life = EmbeddedLife {
            try parts?.begin($0, slatefile: path, keeping: held.withLock { $0 })
        }
        let reference = WeakBox<AppHost>()
        let finish: @Sendable (End) -> Void = { end in
            parts?.end(end)
            if let host = reference.object {
                if parts != nil { host.keepLaunch(waits: true) }
                host.moduleProcesses.killAll()
                host.moduleProcesses.endAll(mark, within: .seconds(2), log: host.log)
            }
            time.end()
            held.withLock { $0 = nil }
            life.end(end)
        }
        self.init(
            slatefile: slatefile,
            stateDirectory: directory?.path ?? Self.noStateDirectory, processes: processes,
            tokens: tokens, inbox: parts?.inbox,
            log: log, time: time,
            observer: Observer(
                onReady: { modules, _, after in
                    guard let parts else { return }
                    parts.blackBox.ring?.add(.ready(after: after, modules: modules))
                    reference.object?.keepLaunch()
                },
                onStop: { end, _ in reference.object?.waits.end(failure: end.failure) },
                deliveries: settings.observer,
                onEnd: { end in
                    // The next host delivers what these processes have not answered.
                    if parts?.inbox != nil { reference.object?.moduleProcesses.silence() }
                    // A thread that is stuck in a module does not come back to the lane.
                    guard end.isInOrder, life.isRunning, let lane = reference.object?.gate.lane
                    else {
                        return Self.finish(end, finish)
                    }
                    lane.runAfterEnd { finish(end) }
                }),
            blackBox: parts?.blackBox.box, ring: parts?.blackBox.ring, role: StandaloneRole(),
            life: life)
        reference.set(self)
    }

    private static func finish(_ end: End, _ finish: @escaping @Sendable (End) -> Void) {
        guard !end.isInOrder else { return finish(end) }
        // Not on the thread of the alarms, which found that out: the control thread waits for some.
        do throws(SystemError) {
            try NativeThread.start(name: "host end") { finish(end) }
        } catch {
            finish(end)
        }
    }

    // MARK: Running

    /// Runs the app until it is stopped or fails, or until the task is cancelled, which stops it in good order.
    ///
    /// Requests that come earlier wait for READY. When this returns, every module is released, and no thread
    /// of the host is left, except for modules that were unresponsive when the stop was requested, as the log says; idle
    /// workers of Dispatch end by themselves.
    ///
    /// - Throws: ``HostError``: `failed` if a required part failed, `overdue` if the stop ran out of time, and
    ///   code of a module is still running on a thread of its own; before the launch, `stateDirectory` if the control
    ///   socket cannot be created, and `noThread`.
    public nonisolated(nonsending) func run() async throws(HostError) {
        guard let life, life.begin() else { throw .ranBefore }
        if life.ended == nil {
            do {
                try life.prepare(self)
                // The lane's, and those of the alarms and the start-up tasks.
                try NativeThread.checkRoom(for: 3)
                try launch()
            } catch {
                let error =
                    error as? HostError ?? (error as? SystemError).map { .noThread($0) }
                    ?? .failed("\(error)")
                // No thread of the lane will end it.
                life.end(.failed("\(error)"))
                end(.failed("\(error)"))
                throw error
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
    var isInOrder: Bool {
        if case .overdue = self { false } else { true }
    }
}
