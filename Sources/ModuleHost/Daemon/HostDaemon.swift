import AppService

/// A host as a process: an app connected to signals, files, stdout and an exit code.
///
/// It takes no arguments: ``HostCommandLine/run(name:version:commands:)`` does, which any executable that
/// links this library and its own modules can use to be a host like `hostd`.
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
    /// process at once: handlers of `SIGSEGV` and similar signals are removed, unless `SWIFT_BACKTRACE` is
    /// set.
    ///
    /// - Thread: The main thread, before any other exists: it becomes the one that takes the signals. On
    ///   another thread, or beside one that does not block TERM, INT, HUP, USR1 and USR2, the app is not run,
    ///   and the code is ``ExitCode/usage``: the first of these signals would end the process.
    /// - Process 1: As the first process of a container this starts the host as its child: this binary with the
    ///   same arguments. It passes signals on, reaps the processes that others leave, and returns the host's code.
    ///   So everything that `main` does before this call is done twice.
    /// - Output: Logs on stderr. On stdout one line, `ready pid=… modules=… ms=… of=…`, at READY.
    /// - Parameter options: The options of the run.
    /// - Returns: ``ExitCode/success`` where the app stopped as requested; else the code for the error, which
    ///   stderr has reported in words. A stop that runs out of time, or is cut short by a second TERM or INT,
    ///   leaves the process at once with ``ExitCode/failed``. Where a module has never returned from `init`
    ///   the process ends with the code, and this does not return.
    public static func run(_ options: HostDaemonOptions) -> ExitCode {
        if let entry = LaunchSpec.entry(in: options.environment) {
            return ModuleChild.run(entry)
        }
        // Before anything else: no signal may be lost, not even during the check.
        let inherited = SignalListener.hold()
        do throws(SignalThreadError) { try SignalThreadError.check() } catch {
            Signals.blockExactly(inherited)
            return refuse(options, because: error)
        }
        SignalListener.blockAll()
        RawOutput.appendToFiles()
        LargeMemory.returnAtOnce()
        LargeMemory.shareHeapIfLimited()
        // Before a second thread exists this takes a microsecond, and not 10 ms of the first takeover; there, too, a
        // refusal is reported.
        try? ProcessBarrier.prepare()
        let link = RespawnLink(environment: options.environment)
        if link == nil, HostParent.isNeeded(options) { return HostParent(options).run() }
        if link != nil { NativeThread.nameCurrent(CurrentProcess.programName) }
        let outputs = DaemonOutputs(options)
        CurrentProcess.removeFromEnvironment(NotifySocket.variables)
        var isStalled = false
        let code = run(options, outputs, link, &isStalled)
        outputs.notifier.ended(code)
        outputs.output.flush(within: .seconds(1))
        // The module's thread may have a lock that `exit` takes.
        if isStalled { CurrentProcess.exitNow(code.rawValue) }
        return code
    }

    /// Returns the number of files for which a host must have room besides those that are open before its inbox.
    ///
    /// It has 22 open with the modules that come with it, 3 more with `--watch` and for the first process of a module, and
    /// 6 for each process. The other 6 are for clients, and for what is opened for a moment. With fewer it would run, and
    /// accept neither events nor clients.
    private static func files(of slatefile: Slatefile, _ options: HostDaemonOptions) -> Int {
        let processes = slatefile.modules.count {
            $0.isEnabled && !$0.isLazy && $0.hasProcess
        }
        return 28 + (options.watchesSlatefile ? 3 : 0) + (processes > 0 ? 3 + 6 * processes : 0)
    }

    /// Runs the app; sets `isStalled` if module code is still running at the end.
    private static func run(
        _ options: HostDaemonOptions, _ outputs: DaemonOutputs, _ link: RespawnLink?,
        _ isStalled: inout Bool
    ) -> ExitCode {
        let log = outputs.log
        var slatefile: Slatefile
        let tokens: TokenStore
        do throws(SlatefileFailure) {
            slatefile = try .load(options.slatefile, environment: options.environment)
            tokens = try slatefile.loadTokens(beside: options.slatefile)
        } catch {
            report(error, options, log)
            return error.exitCode
        }
        log.levels.take(slatefile)
        if options.stateDirectory == nil, let value = options.environment["STATE_DIRECTORY"],
            NonUTF8Variables.contain("STATE_DIRECTORY", value)
        {
            log.error(
                "environment variable 'STATE_DIRECTORY' is not UTF-8: the state directory would be another "
                    + "one; choose one with --state-dir")
            return .usage
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
        let blackBox = DaemonBlackBox(
            in: directory, for: slatefile, of: options.program, recordSize: options.recordSize,
            options.recordsAll ? .all : .slow, log: log)
        let mark = ProcessMark(claim)
        if claim.isAfterDeath { mark.endProcesses(of: .lastHost, log: log) }
        slatefile = slatefile.disablingModules(
            in: directory, log: log, program: options.program.name)
        log.levels.take(slatefile)
        slatefile = slatefile.isolatingCrashed(
            in: directory, after: blackBox.previous?.death, log: log, program: options.program.name)
        let files = files(of: slatefile, options)
        do throws(SystemError) {
            try Descriptor.checkRoom(for: files)
        } catch {
            let remedy = error.remedy.map { ": \($0)" } ?? ""
            log.error("no room for the host's own files, \(files) at a time: \(error)\(remedy)")
            return .cannotCreate
        }
        let inbox: Inbox
        do throws(SystemError) {
            // For the clients, the inbox, the lane, the signals, the alarms and the start-up tasks.
            try NativeThread.checkRoom(
                for: 6 + (options.watchesSlatefile ? 1 : 0) + (link == nil ? 0 : 1))
            let opening = InboxOpening(
                directory: directory, claim: claim, blackBox: blackBox, log: log,
                program: options.program)
            switch try opening.run(SignalActions(slatefile.signals)) {
            case .opened(let opened): inbox = opened
            case .failed(let error):
                let elsewhere = "; or choose another state directory with --state-dir"
                log.error("\(error)\(error.isLimit ? "" : elsewhere)")
                return .cannotCreate
            case .stopped(let origin):
                log.notice("stopping: \(origin)")
                log.notice("stopped")
                return .success
            }
        } catch {
            log.error(NativeThread.problem(error))
            return .failed
        }
        let run: DaemonRun
        do throws(ControlServerError) {
            run = try DaemonRun(
                slatefile: slatefile, tokens: tokens, directory: directory, mark: mark,
                options: options, outputs: outputs, blackBox: blackBox, inbox: inbox, link: link)
        } catch {
            log.error("\(error)")
            return error.exitCode
        }
        log.notice(
            "\(options.program.name) \(options.program.version) runs '\(slatefile.app)' of \(options.slatefile), "
                + "state in \(directory.path)")
        let code = run.run()
        blackBox.end(.ended, because: run.failure)
        isStalled = run.hasStalledThreads
        return code
    }

    /// Reports why no host can run in this process.
    private static func refuse(
        _ options: HostDaemonOptions, because error: SignalThreadError
    ) -> ExitCode {
        let outputs = DaemonOutputs(options)
        outputs.log.error("\(error)")
        outputs.notifier.ended(.usage, because: "\(error)")
        outputs.output.flush(within: .seconds(1))
        return .usage
    }

    private static func report(
        _ failure: SlatefileFailure, _ options: HostDaemonOptions, _ log: Log
    ) {
        guard options.logStyle == .text else {
            return log.error(
                failure.text(for: "\(options.program.name) run", colored: false).string)
        }
        let format = LogFormat(.text, environment: options.environment)
        let text = failure.text(
            for: "\(options.program.name) run", colored: format == .terminal(colors: true))
        try? RawOutput.writeAll(text.string.utf8, to: RawOutput.standardError)
    }
}

/// The output of a daemon: its log on stderr and for followers on the control socket, and the service
/// manager.
struct DaemonOutputs {
    let output: LogOutput
    let tail: TailHub
    let log: Log
    let notifier: ReadinessNotifier

    init(_ options: HostDaemonOptions) {
        output = LogOutput(
            descriptor: RawOutput.standardError,
            format: LogFormat(options.logStyle, environment: options.environment))
        let levels = LogLevels(start: options.logLevel)
        tail = TailHub(levels)
        log = Log(to: LogTee(output, tail), levels: levels)
        notifier = ReadinessNotifier(environment: options.environment, log: log)
    }
}
