import AppService
import Dispatch

/// A thread that is started before it is needed, so that a system without room for one is detected before the
/// host depends on it.
final class StandbyThread: Sendable {
    private let called = DispatchSemaphore(value: 0)
    private let body = Guarded<(@Sendable () -> Void)?>(nil)

    /// Starts the thread.
    ///
    /// - Throws: ``SystemError`` where the system has no room for it.
    init() throws(SystemError) {
        try NativeThread.start(name: "lane") { [called, self] in
            called.wait()
            let body = self.body.withLock { $0.take() }
            body?()
        }
    }

    /// Makes the thread run `body`, and end.
    ///
    /// Called once, or ``cancel()`` instead.
    func run(_ body: @escaping @Sendable () -> Void) {
        self.body.withLock { $0 = body }
        called.signal()
    }

    /// Ends the thread, which is not needed.
    func cancel() { called.signal() }
}
