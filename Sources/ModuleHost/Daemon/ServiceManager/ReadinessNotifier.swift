import AppService

/// A notifier that reports the state of the host to the service manager, with the protocol of `sd_notify`:
/// that it is ready, reloads or stops, and a line of text for `systemctl status`.
///
/// Without `$NOTIFY_SOCKET` it has no effect. A socket that is missing, wrong or full does no harm: a message
/// that cannot be sent at once is tried again for a while, and then dropped with a line in the log.
///
/// - Thread: Any; never waits.
package final class ReadinessNotifier: Sendable {
    private enum Phase {
        case starting
        /// The host is running, with this many reloads in progress.
        case running(reloads: Int)
        case stopping
        case ended
    }

    private static let reloadingStatus = "reloading the slatefile"

    private struct State {
        var phase = Phase.starting
        /// The health of the app, in words.
        var health = ""
        /// The outcome of the last reload, if it is worth showing.
        var note: String?
        /// The status that was sent last.
        var status: String?
        /// The messages that are not sent yet, in order; while there are any, an alarm is set.
        var unsent: [String] = []
        var retries = 0
        var hasWarned = false
    }

    /// The number of retries: after 100 ms, then after twice as long each time, some 50 s in all.
    private static let maximumRetries = 9
    private static let maximumUnsent = 16

    private let state: Guarded<State>
    private let socket: NotifySocket?
    private let log: Log
    private let time: any TimeSource

    /// Creates a notifier.
    ///
    /// - Parameters:
    ///   - environment: The variables, of which `NOTIFY_SOCKET` is read.
    ///   - log: The log for failures to notify the service manager.
    ///   - time: The clock for retries.
    package init(
        environment: [String: String], log: Log, time: any TimeSource = SystemTimeSource.shared
    ) {
        self.log = log
        self.time = time
        state = Guarded(State())
        guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else {
            socket = nil
            return
        }
        do throws(SystemError) {
            socket = try NotifySocket(to: address)
        } catch {
            socket = nil
            Self.warn(error, log)
        }
    }

    // MARK: Notifications

    /// Reports the health of the host; unchanged values are not sent again.
    package func report(_ health: HostHealth) {
        update { state in
            state.health = "\(health)"
            switch state.phase {
            // Sent with READY itself.
            case .starting where health.isReady: return []
            case .starting, .running: return Self.status(&state)
            case .stopping, .ended: return []
            }
        }
    }

    /// Reports that the app has launched.
    package func launched() {
        update { state in
            guard case .starting = state.phase else { return [] }
            state.phase = .running(reloads: 0)
            return ["READY=1"] + Self.status(&state, always: true)
        }
    }

    /// Reports that a reload begins: ``ready(status:)`` must follow, whatever its outcome.
    ///
    /// Before READY, and in a stop, it has no meaning for a service manager, and is not sent.
    package func reloading() {
        update { state in
            guard case .running(let reloads) = state.phase else { return [] }
            state.phase = .running(reloads: reloads + 1)
            state.status = Self.reloadingStatus
            // The instant distinguishes a response to this reload from one to an earlier reload.
            return [
                "RELOADING=1", "MONOTONIC_USEC=\(NotifySocket.monotonicMicroseconds)",
                "STATUS=\(Self.reloadingStatus)",
            ]
        }
    }

    /// Reports that a reload has ended.
    ///
    /// Of several at a time, the last one to end is reported.
    ///
    /// - Parameter note: The outcome, for the status, such as `reload refused: …`. Nil for a reload without a
    ///   problem.
    package func ready(status note: String? = nil) {
        update { state in
            state.note = note
            guard case .running(let reloads) = state.phase, reloads > 0 else { return [] }
            state.phase = .running(reloads: reloads - 1)
            return reloads > 1 ? [] : ["READY=1"] + Self.status(&state, always: true)
        }
    }

    /// Reports that a stop begins.
    ///
    /// - Parameters:
    ///   - reason: The reason.
    ///   - time: The longest time until the process has ended.
    package func stopping(because reason: String, within time: Duration) {
        update { state in
            switch state.phase {
            case .starting, .running: state.phase = .stopping
            case .stopping, .ended: return []
            }
            // Where the unit allows less time, a longer stop would be cut short.
            return [
                "STOPPING=1", "STATUS=stopping: \(reason)",
                "EXTEND_TIMEOUT_USEC=\(time.wholeNanoseconds / 1000)",
            ]
        }
    }

    /// Reports that the process is about to end; only the first report counts.
    ///
    /// - Parameters:
    ///   - code: The exit code.
    ///   - reason: The error, where there is more to report than the meaning of the code.
    package func ended(_ code: ExitCode, because reason: String? = nil) {
        update { state in
            if case .ended = state.phase { return [] }
            state.phase = .ended
            guard code != .success else { return ["STATUS=stopped"] }
            return ["STATUS=failed: \(reason ?? code.meaning)", "EXIT_STATUS=\(code.rawValue)"]
        }
    }

    /// Responds to the service manager's watchdog.
    package func ping() { update { _ in ["WATCHDOG=1"] } }

    private static func status(_ state: inout State, always: Bool = false) -> [String] {
        let status = state.note.map { "\(state.health); \($0)" } ?? state.health
        guard always || status != state.status else { return [] }
        state.status = status
        return ["STATUS=\(status)"]
    }

    // MARK: Sending

    /// Sends what `body` returns as one datagram, a line each.
    private func update(_ body: (inout State) -> [String]) {
        guard socket != nil else { return }
        state.withLock { state in
            let lines = body(&state)
            guard !lines.isEmpty else { return }
            // A break within a line would begin another; 'systemctl status' shows the rest unchanged.
            let text = lines.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
                .map { TerminalText(escaping: $0).string }
                .joined(separator: "\n")
            guard text != state.unsent.last, state.unsent.count < Self.maximumUnsent else { return }
            state.unsent.append(text)
            // Otherwise it is sent when the alarm rings.
            if state.unsent.count == 1 { send(&state) }
        }
    }

    private func send(_ state: inout State) {
        do throws(SystemError) {
            while let text = state.unsent.first {
                try socket?.send(text)
                state.unsent.removeFirst()
                state.retries = 0
            }
        } catch {
            guard error == .wouldBlock, state.retries < Self.maximumRetries else {
                state.unsent = []
                state.retries = 0
                if !state.hasWarned { Self.warn(error, log) }
                state.hasWarned = true
                return
            }
            let delay = Duration.milliseconds(100) * (1 << state.retries)
            state.retries += 1
            time.schedule(after: delay) { [self] in self.state.withLock { send(&$0) } }
        }
    }

    private static func warn(_ error: SystemError, _ log: Log) {
        log.warning(
            "cannot notify the service manager: NOTIFY_SOCKET: \(error)")
    }
}
