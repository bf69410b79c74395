import AppService
import Dispatch

/// A thread that is there before it is known whether it is needed: whether the system has room for one
/// is learnt before anything depends on it.
final class Understudy: Sendable {
    private let called = DispatchSemaphore(value: 0)
    private let part = Guarded<(@Sendable () -> Void)?>(nil)

    /// Starts the thread.
    ///
    /// - Throws: ``SystemError`` where the system has no room for it.
    init() throws(SystemError) {
        try NativeThread.start(name: "lane") { [called, self] in
            called.wait()
            let part = self.part.withLock { $0.take() }
            part?()
        }
    }

    /// Has the thread run `part`, and end.
    ///
    /// To be called once, or ``dismiss()``.
    func play(_ part: @escaping @Sendable () -> Void) {
        self.part.withLock { $0 = part }
        called.signal()
    }

    /// Ends the thread: it is not needed.
    func dismiss() { called.signal() }
}
