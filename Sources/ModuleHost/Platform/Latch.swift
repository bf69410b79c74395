import AppService
import Dispatch
import Synchronization

/// A door that opens once, for any number of waiting threads.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOpen = Atomic(false)

    /// Lets every thread pass, from now on.
    func open() {
        isOpen.store(true, ordering: .releasing)
        semaphore.signal()
    }

    /// Waits until the latch is open.
    func wait() { _ = wait(within: nil) }

    /// Waits until the latch is open.
    ///
    /// - Parameter time: The longest time to wait; nil for no limit.
    /// - Returns: False on a timeout.
    func wait(within time: Duration?) -> Bool {
        if isOpen.load(ordering: .acquiring) { return true }
        guard semaphore.wait(timeout: time.map { .after($0) } ?? .distantFuture) == .success else {
            return false
        }
        // For the next waiting thread.
        semaphore.signal()
        // Repeats the order of the semaphore in a way that the thread sanitizer sees.
        return isOpen.load(ordering: .acquiring)
    }
}
