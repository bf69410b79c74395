import AppService

/// The process of `hostd run --respawn`: starts a host, and starts it again when it dies.
///
/// It does nothing else, so there is little that it could die of: one thread, no files, and of each signal it
/// knows no more than the process to pass it on to. As process 1 it also reaps the processes that no other
/// one waits for.
struct RespawningParent {
    /// After a host that has run for long the next one is there at once; as systemd has it in our units, five
    /// deaths in a minute are too many.
    private static let limits = RestartPolicy.Limits(
        shortestDelay: .milliseconds(1), longestDelay: .seconds(10), spread: 0,
        health: .seconds(60), intensity: 5, period: .seconds(60))

    private let environment: [String: String]
    private let output: LogOutput
    private let log: Log
    private let signals: SignalSet

    /// - Parameter options: What the host is to run, which its own command line tells it.
    init(_ options: HostDaemonOptions) {
        environment = options.environment
        output = LogOutput(
            descriptor: RawOutput.standardError,
            format: LogFormat(options.logStyle, environment: options.environment))
        log = Log(to: output, threshold: options.logLevel)
        signals = SignalListener.takeAll()
    }

    /// Runs until a host has ended as it was to, or no other start would mend what it ended of.
    ///
    /// - Thread: The main thread.
    /// - Returns: The code of the last host; ``ExitCode/failed`` where that was killed.
    func run() -> ExitCode {
        defer { output.flush(within: .seconds(1)) }
        var policy = RestartPolicy(Self.limits)
        while true {
            let start = ContinuousClock.now
            let death: Death
            do throws(SystemError) {
                death = try runHost()
            } catch {
                log.error("the host cannot be started: \(error)")
                return .failed
            }
            if let code = death.finalCode { return code }
            let end = ContinuousClock.now
            let what = "the host (process \(death.processID)) \(death.exit)"
            let age = start.duration(to: end).briefText
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
        /// Whether it was to end.
        let stopsForGood: Bool

        /// The exit code of this process; nil if another host is to be started.
        var finalCode: ExitCode? {
            switch exit {
            // It has lost a part that it cannot do without: another one may have it.
            case .code(ExitCode.failed.rawValue) where !stopsForGood: nil
            case .code(let code): ExitCode(rawValue: code) ?? .failed
            case .signal: stopsForGood ? .failed : nil
            }
        }
    }

    /// Starts a host, and passes on what signals come until it has ended.
    private func runHost() throws(SystemError) -> Death {
        let (processID, link) = try RespawnLink.startChild(
            environment: environment, blocking: SignalListener.takenSignals)
        while true {
            let signal = Signals.wait(for: signals)
            guard signal.number != Signals.childEnded else {
                guard let exit = ChildProcess.reap(until: processID) else { continue }
                return Death(processID: processID, exit: exit, stopsForGood: link.stopsForGood)
            }
            // What comes from the terminal goes to all of its group, the host too.
            guard signal.sender != nil else { continue }
            if let value = signal.value {
                try? Signals.queue(signal.number, value: value, to: processID)
            } else {
                try? Signals.send(signal.number, to: processID)
            }
        }
    }

    /// Waits before another start.
    ///
    /// - Returns: False where this process was asked to end.
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
