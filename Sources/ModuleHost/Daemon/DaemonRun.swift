import AppService
import Synchronization

/// One run of a daemon, with the state that the main thread and the lane share.
final class DaemonRun: Sendable {
    private let options: HostDaemonOptions
    private let mark: ProcessMark
    private let log: Log
    private let output: LogOutput
    private let listener: SignalListener
    private let host: AppHost
    private let actions: Guarded<SignalActions>
    private let end: Guarded<AppHost.End?>
    /// The account of events from signals that are not done.
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
    private let stopRequests = Guarded(StopRequests())
    private let isLeaving = Atomic(false)
    /// The link to the parent that restarts this host when it dies; nil for none.
    private let link: RespawnLink?

    init(
        slatefile: Slatefile, tokens: TokenStore, directory: StateDirectory, mark: ProcessMark,
        options: HostDaemonOptions, outputs: DaemonOutputs, blackBox: DaemonBlackBox, inbox: Inbox,
        link: RespawnLink?
    ) throws(ControlServerError) {
        self.options = options
        self.mark = mark
        self.link = link
        self.blackBox = blackBox
        self.inbox = inbox
        notifier = outputs.notifier
        log = outputs.log
        output = outputs.output
        let listener = SignalListener()
        self.listener = listener
        actions = Guarded(SignalActions(slatefile.signals))
        let reference = WeakBox<DaemonRun>()
        var processes = ProcessSettings(
            folder: parentFolder(of: options.slatefile) ?? ".",
            environment: options.environment)
        processes.mark = mark
        processes.pythonCache = CurrentProcess.absolute(
            directory.path(of: StateDirectory.pythonCacheName))
        host = AppHost(
            slatefile: slatefile, stateDirectory: directory.path, processes: processes,
            tokens: tokens, inbox: inbox, log: log,
            observer: AppHost.Observer(
                onReady: { modules, total, after in
                    reference.object?.ready()
                    blackBox.ring?.add(.ready(after: after, modules: modules))
                    sayReady(modules: modules, of: total, after: after, log: outputs.log)
                },
                onHealth: { [notifier] in notifier.report($0) },
                onStop: { reference.object?.stopping($0, because: $1) },
                onReload: { reference.object?.take($0) },
                deliveries: options.observer,
                onEnd: { reference.object?.ended($0) }),
            blackBox: blackBox.box, ring: blackBox.ring)
        watchdog = WatchdogAnswer(
            for: host, environment: options.environment, through: notifier, log: log)
        pressure = MemoryPressure(log: log) { [host] in
            host.deliver(.state(.memoryWarning, origin: .host))
        }
        signalLoad = InFlightAccount(host.inFlight) { listener.reconsider() }
        end = Guarded(nil)
        reloader = SlatefileReloader(
            host, options: options, notifier: notifier, log: log)
        watch = options.watchesSlatefile ? Self.watch(reloader, options, log) : nil
        controlled = ControlledDaemon(
            host, slatefile: options.slatefile, inbox: inbox, lastDeath: blackBox.previous?.death,
            reloader: reloader
        ) { origin in
            reference.object?.requestEndAtOnce(origin)
        }
        server = try ControlServer(
            in: directory, methods: ControlMethods(of: controlled), tail: outputs.tail, log: log,
            budget: host.inFlight)
        reference.set(self)
    }

    private static func watch(
        _ reloader: SlatefileReloader, _ options: HostDaemonOptions, _ log: Log
    ) -> SlatefileWatch? {
        do throws(SystemError) {
            return try SlatefileWatch(reloader, log: log)
        } catch {
            log.warning("--watch: \(error); reload by '\(options.program.name) reload' or SIGHUP")
            return nil
        }
    }

    /// Whether module code is still running on a thread that the lane was taken from.
    var hasStalledThreads: Bool { host.gate.lane.hasStalledThreads() }

    /// The reason for which the app ended; nil after a stop in good order.
    var failure: String? { end.withLock { $0?.failure } }

    func run() -> ExitCode {
        // While the state directory is still claimed: the next host creates a socket of this name.
        defer { server.stop() }
        do throws(ControlServerError) {
            try server.start()
        } catch {
            log.error("\(error)")
            return error.exitCode
        }
        blackBox.begin()
        // Before the server, whose clients receive the results of their requests. The processes last: the host must
        // take no note of their end.
        defer {
            host.moduleProcesses.silence()
            inbox.stop(within: .seconds(2))
            host.moduleProcesses.endAll(mark, within: .seconds(2), log: log)
        }
        do {
            try inbox.start()
            try host.launch()
            try watch?.start()
            try link?.watch { [host] in
                host.stop(because: "the parent that restarts this host has ended")
            }
        } catch {
            log.error(NativeThread.problem(error))
            return .failed
        }
        pressure.start(options.environment)
        defer { pressure.stop() }
        listener.loop {
            keptDefault
        } leaving: {
            // The system keeps them meanwhile, or reports to the sender that it cannot.
            signalLoad.hasRoom || signalLoad.awaitRoom() ? [] : actions.withLock { $0.delivered }
        } _: { signal in
            take(signal)
        }
        watch?.stop()
        host.keepLaunch(waits: true)
        let end = end.withLock { $0 } ?? .failed("the signals ended")
        controlled.ended(end)
        return end == .stopped ? .success : .failed
    }

    /// The signals that keep their default action: none to which the slatefile assigns one.
    private var keptDefault: [Int32] {
        SignalListener.keptDefault.filter { signal in actions.withLock { $0[signal] == nil } }
    }

    private func take(_ signal: ReceivedSignal) -> SignalListener.Next {
        guard let assigned = actions.withLock({ $0[signal.number] }) else { return .goOn }
        let origin = Origin(assigned.name, signal)
        host.ring?.add(.signal("\(origin)"))
        switch assigned.action {
        case .reload: reloader.reload(.asked(origin))
        case .event(let event) where event.kind == .terminate:
            let isSecond = stopRequests.withLock { $0.isSecond(at: .now) }
            if !host.isStopping {
                host.deliver(event.from(origin))
            } else if isSecond {
                endAtOnce(origin)
            }
        case .event(let event):
            let load = signalLoad.enter(event.footprint)
            host.deliver(event.from(origin), load: load)
        }
        return .goOn
    }

    func ready() {
        notifier.launched()
        watchdog?.start()
        host.keepLaunch()
    }

    func stopping(_ end: AppHost.End, because reason: String) {
        if end == .stopped { link?.stopsForGood() }
        // With a parent, another host takes the place of one that has failed.
        host.waits.end(failure: link == nil ? end.failure : nil)
        _ = stopRequests.withLock { $0.isSecond(at: .now) }
        reloader.stopping()
        watchdog?.stop()
        // Now: the system takes some milliseconds to end the watch, and the process cannot end before.
        pressure.stop()
        notifier.stopping(
            because: reason, within: ControlledDaemon.stopTime(of: host))
    }

    /// Applies the signal actions of another slatefile that took effect.
    private func take(_ slatefile: Slatefile) {
        actions.withLock { $0 = SignalActions(slatefile.signals) }
        listener.reconsider()
    }

    /// Ends the process on a thread of its own: the thread that serves clients sends the outcome.
    private func requestEndAtOnce(_ origin: Origin) {
        do throws(SystemError) {
            try NativeThread.start(name: "end") { [self] in endAtOnce(origin) }
        } catch {
            endAtOnce(origin)
        }
    }

    private func endAtOnce(_ origin: Origin) {
        let reason =
            "ended at once\(host.isStopping ? ", before the stop was done" : ""): \(origin)"
        leave(.failed(reason), because: reason)
    }

    /// Ends the process while it contains modules that may never return.
    private func leave(_ end: AppHost.End, because reason: String) -> Never {
        // Another thread leaves already, such as that of an alarm.
        if isLeaving.exchange(true, ordering: .acquiringAndReleasing) {
            while true { Latch().wait() }
        }
        link?.stopsForGood()
        // First the host takes note of nothing any more: it would report the events of the processes that are about to be
        // killed as done, and start them again.
        host.moduleProcesses.silence()
        host.endAtOnce()
        inbox.stop(within: .milliseconds(200))
        host.moduleProcesses.endAll(mark, within: .seconds(1), log: log)
        blackBox.end(.overdue, because: reason)
        log.error(reason)
        controlled.ended(end)
        server.stop(within: .milliseconds(200))
        notifier.ended(.failed, because: reason)
        output.flush(within: .milliseconds(200))
        CurrentProcess.exitNow(ExitCode.failed.rawValue)
    }

    private func ended(_ end: AppHost.End) {
        // From now on the app kills the processes that still run.
        host.moduleProcesses.silence()
        switch end {
        case .stopped:
            log.notice("stopped")
        case .failed(let reason):
            log.error("stopped: \(reason)")
            notifier.ended(.failed, because: reason)
        case .overdue(let modules):
            let names = modules.map(\.text).joined(separator: ", ")
            let reason =
                host.stopping.unfinished.isEmpty
                ? "the stop took longer than \(host.stopLimitName); "
                    + (names.isEmpty ? "the host was still busy" : "left behind: \(names)")
                : "killed, since they became unresponsive in the stop: \(names)"
            leave(end, because: reason)
        }
        self.end.withLock { $0 = end }
        listener.end()
    }
}

/// Prints on stdout that the app has launched.
///
/// The lane does not wait for a reader. If stdout does not take the line this is logged, unless stdout is
/// closed or its reader has gone.
private func sayReady(modules: Int, of total: Int, after: Duration, log: Log) {
    let milliseconds = after.wholeNanoseconds / 1_000_000
    let line = "ready pid=\(CurrentProcess.id) modules=\(modules) ms=\(milliseconds) of=\(total)\n"
    switch OutputChannel(RawOutput.standardOutput).write(Array(line.utf8)[...]) {
    case .wrote(line.utf8.count), .failed(.brokenPipe), .failed(.badDescriptor): break
    case .wrote: log.warning("stdout is full: the READY line was not written")
    case .failed(let error): log.warning("the READY line cannot be written to stdout: \(error)")
    }
}
