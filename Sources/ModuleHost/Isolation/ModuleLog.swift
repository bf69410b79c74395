import AppService

/// The log of a module's process, by notification or on standard error, with a limit on lines a second.
///
/// From any thread.
final class ModuleLog: Sendable {
    private let rateLimit: Guarded<OutputRateLimit>
    private let perSecond: Int
    private let time: any TimeSource
    private let isLogged: @Sendable (LogLevel) -> Bool
    private let onLine: @Sendable (LogLevel, String) -> Void

    init(
        _ limits: TokenBucket.Limits, time: any TimeSource,
        isLogged: @escaping @Sendable (LogLevel) -> Bool,
        onLine: @escaping @Sendable (LogLevel, String) -> Void
    ) {
        rateLimit = Guarded(OutputRateLimit(limits, at: time.now()))
        perSecond = limits.perSecond
        self.time = time
        self.isLogged = isLogged
        self.onLine = onLine
    }

    /// Handles a request `log`.
    func write(_ request: RPCRequest) {
        let level = request.parameters?["level"]?.string.flatMap(LogLevel.init) ?? .info
        let message = request.parameters?["message"]
        write(level, message?.string ?? message?.text ?? "('log' without a 'message')")
    }

    func write(_ level: LogLevel, _ text: @autoclosure () -> String) {
        guard isLogged(level) else { return }
        let now = time.now()
        switch rateLimit.withLock({ $0.take(at: now) }) {
        case .show(let dropped):
            reportDropped(dropped)
            onLine(level, text())
        case .dropFirst:
            onLine(.warning, "it logs more than \(perSecond) lines a second: the rest is left out")
        case .drop: break
        }
    }

    /// Reports the lines that were dropped and not reported yet.
    func end() { reportDropped(rateLimit.withLock { $0.takeDropped() }) }

    /// Logs a warning of the host itself, without the rate limit.
    func warn(_ text: String) { onLine(.warning, text) }

    private func reportDropped(_ count: Int) {
        if count > 0 { onLine(.warning, "\(count) lines of its log were left out") }
    }
}
