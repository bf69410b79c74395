public import Synchronization

/// A value that one thread at a time may touch: a `Mutex` that the thread sanitizer understands too.
///
/// The kernel hands on a contended `Mutex` from inside a library that the sanitizer does not see, so that the
/// sanitizer reports a race for whatever the lock protects. A release on the way out and an acquire on the
/// way in state the same order once more, visibly to the sanitizer. Their cost cannot be measured: on common
/// processors each is an ordinary store or load.
///
/// Public, since the compiler keeps the body of a function that is inlinable for other modules only where it is
/// public; without it each use there pays for a search for its types, which costs more than the lock.
public struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let handover = Atomic(false)

    /// - Parameter value: The first value.
    @inlinable
    public init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` with exclusive access to the value.
    ///
    /// - Parameter body: Must not lock the same value again.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
