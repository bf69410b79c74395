import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The processor time and the start of a process, as the system reports them.
package struct ProcessUsage: Hashable, Sendable {
    /// The time that all of its threads have used, in user code and in the system.
    package let processorTime: Duration
    /// Whether it is stopped, such as by SIGSTOP or a debugger.
    package let isStopped: Bool
    /// The time from the start of the system to that of the process.
    private let startedAfter: Duration

    /// Reads the usage of a process; nil if there is no such process, or the system does not report it.
    package init?(ofProcess id: Int32) {
        guard let bytes = try? readFile(at: "/proc/\(id)/stat", limit: 4096),
            // The name before it may contain anything (proc(5)).
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        let second = sysconf(Int32(_SC_CLK_TCK))
        // The first of these fields is the third of all: the times are 14 and 15, the start is 22.
        let numbers = [11, 12, 19].compactMap { place in
            place < fields.count ? Int(String(decoding: fields[place], as: UTF8.self)) : nil
        }
        guard numbers.count == 3, second > 0 else { return nil }
        func time(_ ticks: Int) -> Duration { .nanoseconds(ticks * (1_000_000_000 / second)) }
        processorTime = time(numbers[0] + numbers[1])
        isStopped =
            fields.first.map { ["T", "t"].contains(String(decoding: $0, as: UTF8.self)) } ?? false
        startedAfter = time(numbers[2])
    }

    /// Returns the time of day at which the process started.
    ///
    /// - Parameter now: The time of day.
    package func start(at now: WallTime) -> WallTime {
        var sinceBoot = timespec()
        clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
        let age = .nanoseconds(sinceBoot.tv_sec * 1_000_000_000 + sinceBoot.tv_nsec) - startedAfter
        let start = now.seconds * 1_000_000_000 + now.nanoseconds - age.wholeNanoseconds
        return WallTime(seconds: start / 1_000_000_000, nanoseconds: start % 1_000_000_000)
    }
}
