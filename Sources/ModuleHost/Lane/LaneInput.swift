/// A source of input that the lane's thread waits for besides jobs: its input need not wake another thread
/// first.
///
/// The lane waits for it only while there are no jobs.
protocol LaneInput: Sendable {
    /// Waits until there is input, or ``rouse()``.
    ///
    /// On the lane's thread.
    ///
    /// - Returns: Whether there is input.
    func wait() -> Bool

    /// Ends the wait, or the next one if no thread waits now.
    ///
    /// From any thread.
    func rouse()

    /// Lists jobs for the available input.
    ///
    /// On the lane's thread, which is awake.
    func take()
}
