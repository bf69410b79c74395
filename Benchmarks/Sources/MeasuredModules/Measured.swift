/// What one call costs, in picoseconds, when `body` makes `calls` of them in each round.
///
/// The loop and `body` become part of who measures, as if they were written there.
@inlinable @inline(__always)
public func picoseconds(of calls: Int, rounds: Int, _ body: () throws -> Void) rethrows -> Int {
    let began = ContinuousClock.now
    for _ in 0..<rounds { try body() }
    return Int((ContinuousClock.now - began) / .nanoseconds(1) * 1000) / (rounds * calls)
}

/// A value that one thread at a time has.
///
/// `@unchecked Sendable`: a benchmark hands it on by awaiting, and does not touch it meanwhile.
public struct HandedOver<Value>: @unchecked Sendable {
    /// What is handed over.
    public var value: Value

    /// Takes a value that no other code touches until it has arrived.
    public init(_ value: Value) { self.value = value }
}
