import AppService

/// A value that a thread waits for.
///
/// The lane waits only where module code does, within the deadline of its module: for a process that starts,
/// and for the inbox to accept an event of an isolated module.
final class BlockingFuture<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)
    private let isThere = Latch()

    /// Sets the value; called once.
    func keep(_ value: Value) {
        self.value.withLock { $0 = value }
        isThere.open()
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
