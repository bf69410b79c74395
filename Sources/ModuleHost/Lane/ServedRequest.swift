import Dispatch
import Synchronization

/// Work that a thread which is not the lane's has the lane do, and waits for.
///
/// `@unchecked Sendable`: `body` and `result` are touched by the lane before it signals, and by the
/// waiting thread after it was signalled; the semaphore orders the two. What `body` captures is at
/// rest meanwhile, since its thread waits. `LaneTakeoverTests` under the thread sanitizer would break
/// it.
final class ServedRequest<Result>: LaneJob, @unchecked Sendable {
    private var body: ((LaneThread) -> Result)?
    private var result: Result?
    private let done = DispatchSemaphore(value: 0)
    /// Says again what the semaphore says, in a way that the thread sanitizer sees.
    private let isDone = Atomic(false)

    init(_ body: @escaping (LaneThread) -> Result) { self.body = body }

    func run(on thread: LaneThread, after slot: UInt16) {
        guard slot == 0 else { return }
        serve(on: thread)
        finish()
    }

    func abandon() {
        body = nil
        finish()
    }

    private func finish() {
        isDone.store(true, ordering: .releasing)
        done.signal()
    }

    /// Waits until the request was served.
    ///
    /// - Returns: nil where the lane was closed first.
    func wait() -> Result? {
        done.wait()
        _ = isDone.load(ordering: .acquiring)
        return result
    }

    /// Apart from `run`, so that nothing holds the body any more when the waiting thread goes on: the
    /// body does not escape its caller.
    private func serve(on thread: LaneThread) {
        result = body?(thread)
        body = nil
    }
}
