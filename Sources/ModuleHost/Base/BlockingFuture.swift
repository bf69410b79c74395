import AppService
import Dispatch

/// A value that a thread other than the lane's waits for.
final class BlockingFuture<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    /// Sets the value; called once.
    func keep(_ value: Value) {
        self.value.withLock { $0 = value }
        isThere.signal()
    }

    /// Waits for the value, and takes it; called once.
    func take() -> Value? {
        isThere.wait()
        return value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
