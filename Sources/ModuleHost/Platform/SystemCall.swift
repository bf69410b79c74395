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

// C functions with variable arguments are not visible to Swift; these arguments are passed like any others.
/// Makes a system call that the C library has no function for.
///
/// - Returns: -1 where it fails, with the reason in `errno`.
@_silgen_name("syscall") func systemCall(_ number: Int, _ first: Int, _ second: Int) -> Int
