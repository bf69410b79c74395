internal import Glibc

/// Returns the nanoseconds since the machine was started, its sleep included.
///
/// `ContinuousClock` reads the same clock, but its instants have 128 bits, and computing with these takes longer
/// than reading the clock.
func nanosecondsSinceBoot() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
