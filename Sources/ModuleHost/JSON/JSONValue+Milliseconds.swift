extension JSONValue {
    /// The duration of a number of milliseconds; nil where it is not a number, or more than thirty years.
    ///
    /// A faulty host can send any number, and one that is too large for a `Duration` would trap.
    package var milliseconds: Duration? {
        guard let milliseconds = double, abs(milliseconds) < 1e12 else { return nil }
        return .nanoseconds(milliseconds * 1_000_000)
    }
}
