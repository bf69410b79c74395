import AppService
import Synchronization

/// The responder to the watchdog of the service manager: each time after a round trip through the lane, and
/// not while the host is unhealthy, so that it is restarted.
///
/// Only where `$WATCHDOG_USEC` requests it: nothing else wakes an idle host.
final class WatchdogAnswer: Sendable {
    /// Half of the time after which the service manager restarts the host.
    let interval: Duration
    private let host: AppHost
    private let notifier: ReadinessNotifier
    private let log: Log
    private let isSilent = Atomic(false)
    private let hasEnded = Atomic(false)

    /// Creates a responder; nil if no responses are requested.
    ///
    /// - Parameters:
    ///   - environment: The variables, of which `WATCHDOG_USEC` is read, and `WATCHDOG_PID`, which must be
    ///     this process where it is set.
    ///   - notifier: The notifier that sends the responses.
    init?(
        for host: AppHost, environment: [String: String], through notifier: ReadinessNotifier,
        log: Log
    ) {
        guard let interval = Self.interval(environment, processID: CurrentProcess.id) else {
            return nil
        }
        self.interval = interval
        self.host = host
        self.notifier = notifier
        self.log = log
    }

    static func interval(_ environment: [String: String], processID: Int32) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"], let limit = Int(text), limit > 0,
            environment["WATCHDOG_PID"].map({ $0 == "\(processID)" }) ?? true
        else { return nil }
        return .microseconds(max(limit / 2, 1000))
    }

    /// Begins: at once, and then once in each interval.
    func start() {
        let longest = host.slatefile.longestTurn
        if longest > interval {
            log.warning(
                "the service manager's watchdog is too short: a module may keep the lane "
                    + "\(longest.briefText), so that it must wait for at least "
                    + "\((longest * 2).briefText) (WatchdogSec=)")
        }
        look()
    }

    /// Ends the responses.
    func stop() { hasEnded.store(true, ordering: .relaxed) }

    private func look() {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        let began = host.time.now()
        host.read(within: interval) {
            $0.health
        } _: { [self] result in
            if case .failure(.ended) = result { return }
            // Before the answer, which a test takes for the sign that the next look is scheduled.
            let rest = interval - began.duration(to: host.time.now())
            host.time.schedule(after: rest) { [self] in look() }
            switch result {
            case .success(let health) where !health.isUnhealthy: answer()
            case .success(let health): fallSilent("the host is \(health)")
            case .failure(.ended): break
            case .failure(.busy(let module, let time, _)):
                fallSilent(
                    "the lane was not free within \(time.briefText)"
                        + (module.map { ", module '\($0)' is running" } ?? ""))
            }
        }
    }

    private func answer() {
        notifier.ping()
        if isSilent.exchange(false, ordering: .relaxed) {
            log.notice("the service manager's watchdog is answered again")
        }
    }

    private func fallSilent(_ reason: String) {
        if !isSilent.exchange(true, ordering: .relaxed) {
            log.error("the service manager's watchdog is not answered: \(reason)")
        }
    }
}

extension Slatefile {
    /// The longest time that one module may keep the lane while the app runs.
    fileprivate var longestTurn: Duration {
        modules.filter(\.isEnabled).compactMap(\.deadline).reduce(
            max(deadlines.event, deadlines.launch), max)
    }
}
