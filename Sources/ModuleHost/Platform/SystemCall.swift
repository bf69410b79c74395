import Glibc

/// Repeats a system call for as long as a signal interrupts it (`EINTR`).
///
/// - Parameter call: The call, which returns a negative number and sets `errno` where it fails.
/// - Returns: What the call returned last.
func retryingInterrupted<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
