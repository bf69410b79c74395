package import Synchronization

/// A value that one thread at a time may touch: a `Mutex` that the thread sanitizer understands too.
///
/// A contended `Mutex` is handed on by the kernel, from inside a library that the sanitizer does not
/// see, so that it reports a race for whatever the lock protects. A release on the way out and an
/// acquire on the way in say the same once more, in a way that it sees. They cost nothing that can be
/// measured: on common processors each is an ordinary store or load.
///
/// Inlinable, since what is generic costs a search for its types each time where it is not made for one.
package struct Guarded<Value>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let handover = Atomic(false)

    package init(_ value: sending Value) { mutex = Mutex(value) }

    /// Runs `body` with the value, while no other thread has it.
    ///
    /// - Parameter body: Must not come back for the same value.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    @inlinable
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
