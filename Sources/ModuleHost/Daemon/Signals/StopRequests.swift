/// The requests to stop a host: those that come together are one request.
///
/// One Ctrl-C may arrive several times: from the terminal, which signals its whole foreground group, and from
/// a parent that passes the signal on (npm, `timeout`, a wrapper script), as the same signal or another one.
struct StopRequests {
    /// The time from the first request within which every other one counts as the same.
    ///
    /// A person who presses Ctrl-C a second time takes longer.
    static let window: Duration = .milliseconds(250)

    private var first: ContinuousClock.Instant?

    /// Notes a request.
    ///
    /// - Returns: Whether this is a second request, which ends a stop at once.
    mutating func isSecond(at now: ContinuousClock.Instant) -> Bool {
        guard let first else {
            first = now
            return false
        }
        return first.duration(to: now) >= Self.window
    }
}
