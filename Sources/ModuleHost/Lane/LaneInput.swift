/// Something that the lane's thread waits for besides jobs: what it hands in need not wake another thread
/// first.
///
/// The lane waits for it only while it has nothing else to do.
protocol LaneInput: Sendable {
    /// Waits until there is something, or ``rouse()``.
    ///
    /// On the lane's thread.
    ///
    /// - Returns: Whether there is something.
    func wait() -> Bool

    /// Ends the waiting, or the next one if no thread waits now.
    ///
    /// From any thread.
    func rouse()

    /// Lists jobs for what there is.
    ///
    /// On the lane's thread, which is awake.
    func take()
}
