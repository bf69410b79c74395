import AppService
import Dispatch
import Synchronization

/// Something that is awaited by any number of threads, and stays once it is there.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOpen = Atomic(false)

    /// Lets every thread pass, from now on.
    func open() {
        isOpen.store(true, ordering: .releasing)
        semaphore.signal()
    }

    /// Waits until it is open.
    ///
    /// - Returns: False where time was up.
    func wait(within time: Duration) -> Bool {
        if isOpen.load(ordering: .acquiring) { return true }
        guard semaphore.wait(timeout: .after(time)) == .success else { return false }
        // For the next one.
        semaphore.signal()
        return true
    }
}
