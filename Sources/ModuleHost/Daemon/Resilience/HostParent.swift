import AppService

/// The parent process of a host: it starts the host as its child, and with `--respawn` restarts it when it
/// dies.
///
/// It does nothing else, so it has few reasons to die: one thread, no files, and each signal is only passed
/// on to the host. As process 1, such as of a container, it also reaps the processes that others leave: the
/// host cannot, because a module's own code may wait for processes that it has started.
struct HostParent {
    /// The limits of restarts.
    ///
    /// After a long run the next host starts at once; as in the systemd units of this package, five deaths in
    /// a minute end the restarts.
    private static let limits = RestartPolicy.Limits(
        shortestDelay: .milliseconds(1), longestDelay: .seconds(10), spread: 0,
        health: .seconds(60), intensity: 5, period: .seconds(60))

    /// Returns whether this process is to be the parent of the host instead of the host.
    static func isNeeded(_ options: HostDaemonOptions) -> Bool {
        options.respawns || CurrentProcess.isInit
    }

    private let environment: [String: String]
    private let restarts: Bool
    private let output: LogOutput
    private let log: Log
    private let signals: SignalSet

    /// - Parameter options: The options of the host, which it reads from its own command line.
    init(_ options: HostDaemonOptions) {
        environment = options.environment
        restarts = options.respawns
        output = LogOutput(
            descriptor: RawOutput.standardError,
            format: LogFormat(options.logStyle, environment: options.environment))
        log = Log(to: output, threshold: options.logLevel)
        // A terminal does not stop or end process 1, so the host takes these signals, too.
        signals = CurrentProcess.isInit ? SignalListener.takenSignals : SignalListener.takeAll()
    }

    /// Runs until a host has ended as requested, or with an error that a restart cannot remedy.
    ///
    /// - Thread: The main thread.
    /// - Returns: The code of the last host; ``ExitCode/failed`` if that was killed.
    func run() -> ExitCode {
        defer { output.flush(within: .seconds(1)) }
        var policy = RestartPolicy(Self.limits)
        while true {
            let start = ContinuousClock.now
            let death: Death
            do throws(SystemError) {
                death = try runHost()
            } catch {
                let remedy =
                    error == .notFound ? "; /proc must be mounted" : error.remedy.map { ": \($0)" }
                log.error("the host cannot be started: \(error)\(remedy ?? "")")
                return .failed
            }
            let isRestarted = restarts && !death.stopsForGood
            if let code = death.finalCode(isRestarted: isRestarted) { return code }
            let end = ContinuousClock.now
            let what = "the host (process \(death.processID)) \(death.exit)"
            let age = start.duration(to: end).briefText
            guard isRestarted else {
                log.error("\(what) after \(age)")
                return .failed
            }
            switch policy.died(startedAt: start, at: end, chance: 0.5) {
            case .giveUp(let deaths):
                log.error(
                    "\(what) after \(age): \(deaths) deaths within "
                        + "\(Self.limits.period.briefText), it is not started again")
                return .failed
            case .restart(let delay):
                log.error("\(what) after \(age); it is started again")
                guard pause(until: end + delay) else { return .success }
            }
        }
    }

    /// The end of a host.
    private struct Death {
        let processID: Int32
        let exit: ChildProcess.Exit
        /// Whether the host was to end for good.
        let stopsForGood: Bool

        /// Determines the exit code of this process.
        ///
        /// - Parameter isRestarted: Whether another host may be started.
        /// - Returns: The code; nil if the host died.
        func finalCode(isRestarted: Bool) -> ExitCode? {
            switch exit {
            // The host has lost a required part: another one may have it.
            case .code(ExitCode.failed.rawValue) where isRestarted: nil
            case .code(let code): ExitCode(rawValue: code) ?? .failed
            case .signal, .unknown: nil
            }
        }
    }

    /// Starts a host, and passes on signals until it has ended.
    private func runHost() throws(SystemError) -> Death {
        let (processID, link) = try RespawnLink.startChild(
            environment: environment, blocking: SignalListener.takenSignals)
        while true {
            let signal = Signals.wait(for: signals)
            guard signal.number != Signals.childEnded else {
                guard let exit = ChildProcess.reap(until: processID) else { continue }
                return Death(processID: processID, exit: exit, stopsForGood: link.stopsForGood)
            }
            // A signal from the terminal goes to its whole group, the host included. Any other is passed on, such as
            // one of `docker stop`, whose sender is not visible in the namespace of this process.
            guard !signal.isFromKernel else { continue }
            if let value = signal.value {
                try? Signals.queue(signal.number, value: value, to: processID)
            } else {
                try? Signals.send(signal.number, to: processID)
            }
        }
    }

    /// Waits before another start.
    ///
    /// - Returns: False where this process was requested to end.
    private func pause(until instant: ContinuousClock.Instant) -> Bool {
        while let signal = Signals.wait(for: signals, until: instant) {
            if signal.number == Signals.childEnded {
                _ = ChildProcess.reap(until: nil)
            } else if Signals.requestsEnd.contains(signal.number) {
                log.notice("stopped: no host runs")
                return false
            }
        }
        return true
    }
}
