import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A timer that one thread waits for; setting it wakes no thread, not even one that waits for it.
///
/// An alarm of a `TimeSource` that is earlier than all others has to wake the thread of the alarms first, which
/// costs a lone piece of work more than what is to be limited.
final class KernelTimer: Sendable {
    private let descriptor: Descriptor

    /// - Throws: ``SystemError`` where there is no room for a descriptor.
    init() throws(SystemError) {
        let number = createTimer(CLOCK_MONOTONIC, O_CLOEXEC)
        guard number >= 0 else { throw .last }
        descriptor = Descriptor(owning: number)
    }

    /// Makes the timer expire once, `delay` from now, in the place of the time that was set before.
    func set(after delay: Duration) {
        // Zero would disarm it.
        let nanoseconds = max(1, delay.wholeNanoseconds)
        var time = itimerspec()
        time.it_value = timespec(
            tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        _ = setTimer(descriptor.number, 0, &time, nil)
    }

    /// Waits until the timer has expired since the last wait.
    func wait() {
        var count: UInt64 = 0
        _ = retryingInterrupted { read(descriptor.number, &count, MemoryLayout<UInt64>.size) }
    }
}

// The overlay of the C library does not declare them (`sys/timerfd.h`).
@_silgen_name("timerfd_create") private func createTimer(_ clock: Int32, _ flags: Int32) -> Int32
@_silgen_name("timerfd_settime") private func setTimer(
    _ descriptor: Int32, _ flags: Int32, _ time: UnsafePointer<itimerspec>,
    _ before: UnsafeMutablePointer<itimerspec>?
) -> Int32
