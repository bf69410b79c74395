import Dispatch
import Foundation
import Synchronization

/// The main thread, for a host that another thread of the process measures.
///
/// A host takes signals on the main thread, and runs only where every other thread blocks them.
package enum MainThread {
    private static let work = Mutex<(@Sendable () -> Void)?>(nil)
    private static let arrived = DispatchSemaphore(value: 0)

    /// Measures on a thread of its own, and does on this one what it is handed by ``run(_:)``.
    ///
    /// The last statement of `main`, before which no thread was made.
    ///
    /// - Parameter body: Measures, and ends the process. All signals are blocked there.
    package static func serve(while body: @escaping @Sendable () -> Void) -> Never {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        Thread.detachNewThread(body)
        while true {
            arrived.wait()
            work.withLock { $0 }?()
        }
    }

    /// Has the main thread do this, once, and does not wait for it.
    package static func run(_ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0 = work }
        arrived.signal()
    }
}
