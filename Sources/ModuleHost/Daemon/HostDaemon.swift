import AppService

/// A host as a process: an app tied to signals, files, stdout and an exit code.
///
/// Any executable that links this library and its own modules is a host as good as `hostd`:
///
/// ```swift
/// // main.swift
/// import ModuleHost
///
/// exit(HostDaemon.run(HostDaemonOptions(slatefile: "slatefile.json")).rawValue)
/// ```
public enum HostDaemon {
    /// Runs the app of a slatefile until a signal, or the failure of a required part, ends it.
    ///
    /// From this call on signals wait until the host takes them, so call it first of all. A crash ends the
    /// process at once: handlers of `SIGSEGV` and its like are removed, unless `SWIFT_BACKTRACE` is set.
    ///
    /// - Thread: The main thread, before any other exists: it becomes the one that takes the signals. On another
    ///   thread, or beside one that does not block TERM, INT, HUP, USR1 and USR2, nothing is run, and the code is
    ///   ``ExitCode/usage``: the first of these signals would end the process.
    /// - Output: Logs on stderr. On stdout one line, `ready pid=… modules=… ms=… of=…`, at READY.
    /// - Parameter options: What to run, and how.
    /// - Returns: ``ExitCode/success`` where the app stopped as it was told to; else the code that says
    ///   what was wrong, which stderr has said in words. A stop that runs out of time, or is cut short
    ///   by a second TERM or INT, leaves the process at once with ``ExitCode/failed``.
    public static func run(_ options: HostDaemonOptions) -> ExitCode {
        if let entry = options.environment[ModuleChild.variable] { return ModuleChild.run(entry) }
        // Before anything else: not even the check may lose a signal.
        let inherited = SignalListener.hold()
        do throws(SignalThreadError) { try SignalThreadError.check() } catch {
            Signals.blockExactly(inherited)
            return refuse(options, because: error)
        }
        SignalListener.blockAll()
        LargeMemory.returnAtOnce()
        let link = RespawnLink(environment: options.environment)
        if options.respawns, link == nil { return RespawningParent(options).run() }
        if link != nil { NativeThread.nameCurrent(CurrentProcess.programName) }
        let voice = DaemonVoice(options)
        CurrentProcess.removeFromEnvironment(NotifySocket.variables)
        let code = run(options, voice, link)
        voice.notifier.ended(code)
        voice.output.flush(within: .seconds(1))
        return code
    }

    private static func run(
        _ options: HostDaemonOptions, _ voice: DaemonVoice, _ link: RespawnLink?
    ) -> ExitCode {
        let log = voice.log
        var slatefile: Slatefile
        let tokens: TokenStore
        do throws(SlatefileFailure) {
            slatefile = try .load(options.slatefile, environment: options.environment)
            tokens = try slatefile.loadTokens(beside: options.slatefile)
        } catch {
            complain(error, options, log)
            return error.exitCode
        }
        let directory = StateDirectory(
            option: options.stateDirectory, environment: options.environment,
            slatefile: options.slatefile)
        let claim: PidFile
        do throws(StateDirectoryError) {
            claim = try PidFile(claiming: directory)
        } catch {
            log.error("\(error)")
            return error.exitCode
        }
        defer { withExtendedLifetime(claim) {} }
        if let weakness = directory.weakness { log.warning("\(weakness)") }
        let blackBox = DaemonBlackBox(in: directory, for: slatefile, log: log)
        let mark = ProcessMark(claim)
        if claim.isAfterDeath { mark.endLeftProcesses(log: log) }
        slatefile = slatefile.isolatingBlamed(
            in: directory, after: blackBox.previous?.death, log: log)
        let inbox: Inbox
        do throws(SystemError) {
            let opening = InboxOpening(
                directory: directory, claim: claim, blackBox: blackBox, log: log)
            switch try opening.run(SignalActions(slatefile.signals)) {
            case .opened(let opened): inbox = opened
            case .failed(let error):
                log.error("\(error); or choose another state directory with --state-dir")
                return .cannotCreate
            case .stopped(let origin):
                log.notice("stopping: \(origin)")
                log.notice("stopped")
                return .success
            }
        } catch {
            log.error("no thread can be started: \(error)")
            return .failed
        }
        let run: DaemonRun
        do throws(ControlServerError) {
            run = try DaemonRun(
                slatefile, tokens, directory, mark, options, voice, blackBox, inbox, link)
        } catch {
            log.error("\(error)")
            return error.exitCode
        }
        log.notice(
            "hostd \(HostVersion.current) runs '\(slatefile.app)' of \(options.slatefile), "
                + "state in \(directory.path)")
        let code = run.run()
        blackBox.end(.ended)
        return code
    }

    /// Says why no host can run in this process.
    private static func refuse(
        _ options: HostDaemonOptions, because error: SignalThreadError
    ) -> ExitCode {
        let voice = DaemonVoice(options)
        voice.log.error("\(error)")
        voice.notifier.ended(.usage, because: "\(error)")
        voice.output.flush(within: .seconds(1))
        return .usage
    }

    private static func complain(
        _ failure: SlatefileFailure, _ options: HostDaemonOptions, _ log: Log
    ) {
        guard options.logStyle == .text else {
            return log.error(failure.text(for: "hostd run", colored: false).string)
        }
        let format = LogFormat(.text, environment: options.environment)
        let text = failure.text(for: "hostd run", colored: format == .terminal(colors: true))
        try? RawOutput.writeAll(text.string.utf8, to: RawOutput.standardError)
    }
}

/// Where a daemon says what happens: on stderr, to whoever follows it on the control socket, and to the
/// service manager.
private struct DaemonVoice {
    let output: LogOutput
    let tail = TailHub()
    let log: Log
    let notifier: ReadinessNotifier

    init(_ options: HostDaemonOptions) {
        output = LogOutput(
            descriptor: RawOutput.standardError,
            format: LogFormat(options.logStyle, environment: options.environment))
        log = Log(to: LogTee(output, tail), threshold: options.logLevel)
        notifier = ReadinessNotifier(environment: options.environment, log: log)
    }
}

/// One run of a daemon: what the signal thread and the lane tell each other.
private final class DaemonRun: Sendable {
    private let options: HostDaemonOptions
    private let log: Log
    private let output: LogOutput
    private let listener: SignalListener
    private let host: Host
    private let actions: Guarded<SignalActions>
    private let end: Guarded<Host.End?>
    /// What signals have given the modules to do that is not done.
    private let signalLoad: InFlightAccount
    private let reloader: SlatefileReloader
    private let watch: SlatefileWatch?
    private let controlled: ControlledDaemon
    private let server: ControlServer
    private let blackBox: DaemonBlackBox
    private let inbox: Inbox
    private let notifier: ReadinessNotifier
    private let watchdog: WatchdogAnswer?
    private let pressure: MemoryPressure
    private let lastEndSignal = Guarded<(signal: ReceivedSignal, at: ContinuousClock.Instant)?>(nil)
    /// To the parent that starts this host again when it dies; nil for none.
    private let link: RespawnLink?

    init(
        _ slatefile: Slatefile, _ tokens: TokenStore, _ directory: StateDirectory,
        _ mark: ProcessMark, _ options: HostDaemonOptions, _ voice: DaemonVoice,
        _ blackBox: DaemonBlackBox, _ inbox: Inbox, _ link: RespawnLink?
    ) throws(ControlServerError) {
        self.options = options
        self.link = link
        self.blackBox = blackBox
        self.inbox = inbox
        notifier = voice.notifier
        log = voice.log
        output = voice.output
        let listener = SignalListener()
        self.listener = listener
        actions = Guarded(SignalActions(slatefile.signals))
        let reference = WeakRun()
        var processes = ProcessSettings(
            folder: parentFolder(of: options.slatefile) ?? ".",
            environment: options.environment)
        processes.mark = mark
        host = Host(
            slatefile: slatefile, stateDirectory: directory.path, processes: processes,
            tokens: tokens, inbox: inbox, log: log,
            observer: Host.Observer(
                onReady: { modules, total, after in
                    reference.run?.ready()
                    sayReady(modules: modules, of: total, after: after)
                },
                onHealth: { [notifier] in notifier.tell($0) },
                onStop: { reference.run?.stopping($0, because: $1) },
                onReload: { reference.run?.take($0) },
                onEnd: { reference.run?.ended($0) }),
            blackBox: blackBox.box)
        watchdog = WatchdogAnswer(
            for: host, environment: options.environment, through: notifier, log: log)
        pressure = MemoryPressure(log: log) { [host] in
            host.deliver(.state(.memoryWarning, origin: .host))
        }
        signalLoad = InFlightAccount(host.inFlight) { listener.reconsider() }
        end = Guarded(nil)
        reloader = SlatefileReloader(
            host, options: options, notifier: notifier, log: log)
        watch = options.watchesSlatefile ? Self.watch(reloader, log) : nil
        controlled = ControlledDaemon(
            host, slatefile: options.slatefile, inbox: inbox, lastDeath: blackBox.previous?.death,
            reloader: reloader)
        var methods = ControlMethods()
        methods.add(controlled)
        methods.addHealth(of: host)
        methods.add(reloader)
        methods.addCalls(to: host)
        methods.addRestart(to: host)
        methods.add(inbox, of: host)
        methods.add(routesOf: slatefile.app) { [host] in host.routes($0) }
        methods.logFailures(to: log, time: host.time)
        server = try ControlServer(
            in: directory, methods: methods, tail: voice.tail, log: log, budget: host.inFlight)
        reference.set(self)
    }

    private static func watch(_ reloader: SlatefileReloader, _ log: Log) -> SlatefileWatch? {
        do throws(SystemError) {
            return try SlatefileWatch(reloader, log: log)
        } catch {
            log.warning("--watch: \(error); reload by 'hostd reload' or SIGHUP")
            return nil
        }
    }

    func run() -> ExitCode {
        // While the state directory is still claimed: the next host makes a socket of this name.
        defer { server.stop() }
        do throws(ControlServerError) {
            try server.start()
        } catch {
            log.error("\(error)")
            return error.exitCode
        }
        blackBox.begin()
        // Before the server, whose clients are told what became of what they sent.
        defer { inbox.stop(within: .seconds(2)) }
        do {
            try inbox.start()
            try host.launch()
            try watch?.start()
            try link?.watch { [host] in
                host.stop(because: "the parent that starts this host again is gone")
            }
        } catch {
            log.error("no thread can be started: \(error)")
            return .failed
        }
        pressure.start(options.environment)
        defer { pressure.stop() }
        // What the slatefile gives a meaning to is taken, whatever it does by default.
        listener.loop {
            SignalListener.keptDefault.filter { signal in actions.withLock { $0[signal] == nil } }
        } leaving: {
            // The system keeps them meanwhile, or tells who sends them that it cannot.
            signalLoad.hasRoom || signalLoad.awaitRoom() ? [] : actions.withLock { $0.delivered }
        } _: { signal in
            take(signal)
        }
        watch?.stop()
        let end = end.withLock { $0 } ?? .failed("the signals ended")
        controlled.ended(end)
        return end == .stopped ? .success : .failed
    }

    private func take(_ signal: ReceivedSignal) -> SignalListener.Next {
        let found = actions.withLock { $0[signal.number] }
        guard let (name, action) = found else { return .goOn }
        let origin = Origin(name, signal)
        switch action {
        case .reload: reloader.reload(.asked(origin))
        case .event(let event) where event.kind == .terminate:
            let isRepeated = isEcho(signal)
            if host.isStopping {
                guard !isRepeated else { break }
                endAtOnce(origin)
            }
            host.deliver(event.from(origin))
        case .event(let event):
            let load = signalLoad.enter(event.payload?.footprint ?? 0)
            host.deliver(event.from(origin), load: load)
        }
        return .goOn
    }

    /// How long after a signal to end the same one, from the same process, is not another one.
    private static let echo: Duration = .milliseconds(250)

    /// Whether a signal to end is the last one once more.
    ///
    /// Some send it twice: `timeout` to the process, and to the group that it is in.
    private func isEcho(_ signal: ReceivedSignal) -> Bool {
        let now = ContinuousClock.now
        return lastEndSignal.withLock { last in
            defer { last = (signal, now) }
            guard let last, signal.sender != nil else { return false }
            return last.signal == signal && last.at.duration(to: now) < Self.echo
        }
    }

    func ready() {
        notifier.launched()
        watchdog?.start()
    }

    func stopping(_ end: Host.End, because reason: String) {
        if end == .stopped { link?.stopsForGood() }
        watchdog?.stop()
        notifier.stopping(
            because: reason, within: ControlledDaemon.stopTime(of: host.slatefile))
    }

    /// Another slatefile holds: signals do what that says from now on.
    private func take(_ slatefile: Slatefile) {
        actions.withLock { $0 = SignalActions(slatefile.signals) }
        listener.reconsider()
    }

    private func endAtOnce(_ origin: Origin) {
        let reason = "ended at once, before the stop was done: \(origin)"
        log.error(reason)
        leave(.failed(reason), because: reason)
    }

    /// Ends the process with modules in it that may never return.
    private func leave(_ end: Host.End, because reason: String) -> Never {
        blackBox.end(.overdue)
        controlled.ended(end)
        // Before the server, whose clients are told what became of what they sent.
        inbox.stop(within: .milliseconds(200))
        server.stop(within: .milliseconds(200))
        notifier.ended(.failed, because: reason)
        output.flush(within: .milliseconds(200))
        CurrentProcess.exitNow(ExitCode.failed.rawValue)
    }

    private func ended(_ end: Host.End) {
        switch end {
        case .stopped: log.notice("stopped")
        case .failed(let reason):
            log.error("stopped: \(reason)")
            notifier.ended(.failed, because: reason)
        case .overdue(let modules):
            let names = modules.map(\.text).joined(separator: ", ")
            let reason =
                "the stop took longer than deadlines.stopAll; "
                + (names.isEmpty
                    ? "the host was still busy, no module was unresponsive"
                    : "left behind: \(names)")
            log.error(reason)
            leave(end, because: reason)
        }
        self.end.withLock { $0 = end }
        listener.end()
    }
}

/// Says on stdout that the app has launched.
///
/// A reader that has gone, or has left the pipe full, misses it, and that is all: the lane waits
/// for nobody.
private func sayReady(modules: Int, of total: Int, after: Duration) {
    let milliseconds = after.wholeNanoseconds / 1_000_000
    let line = "ready pid=\(CurrentProcess.id) modules=\(modules) ms=\(milliseconds) of=\(total)\n"
    _ = OutputChannel(RawOutput.standardOutput).write(Array(line.utf8)[...])
}

/// The run, for callbacks that are made before it.
private final class WeakRun: Sendable {
    private struct Reference {
        weak var run: DaemonRun?
    }

    private let reference = Guarded(Reference())

    var run: DaemonRun? { reference.withLock { $0.run } }

    func set(_ run: DaemonRun) { reference.withLock { $0.run = run } }
}
