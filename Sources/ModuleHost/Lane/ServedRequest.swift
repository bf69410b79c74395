/// Work that a thread other than the lane's has the lane run, and waits for.
///
/// `@unchecked Sendable`: `body` and `result` are accessed by the lane before it opens the latch, and by the waiting
/// thread after that; the latch orders the two. The captures of `body` are not used meanwhile,
/// since their thread waits. `LaneTakeoverTests` under the thread sanitizer would break it.
final class ServedRequest<Result>: LaneJob, @unchecked Sendable {
    private var body: ((LaneThread) -> Result)?
    private var result: Result?
    private let done = Latch()

    init(_ body: @escaping (LaneThread) -> Result) { self.body = body }

    func run(on thread: LaneThread, after slot: UInt16) {
        guard slot == 0 else { return }
        serve(on: thread)
        done.open()
    }

    func abandon() {
        body = nil
        done.open()
    }

    /// Waits until the request was served.
    ///
    /// - Returns: nil where the lane was closed first.
    func wait() -> Result? {
        done.wait()
        return result
    }

    /// Separate from `run`, so that nothing references the body any more when the waiting thread goes on: the
    /// body does not escape its caller.
    private func serve(on thread: LaneThread) {
        result = body?(thread)
        body = nil
    }
}
