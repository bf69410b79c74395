/// What one delivery costs, in picoseconds, when `body` makes `deliveries` of them in each round.
@inline(__always)
func picoseconds(of deliveries: Int, rounds: Int, _ body: () throws -> Void) rethrows -> Int {
    let began = ContinuousClock.now
    for _ in 0..<rounds { try body() }
    return Int((ContinuousClock.now - began) / .nanoseconds(1) * 1000) / (rounds * deliveries)
}

/// A value that one thread at a time has.
///
/// `@unchecked Sendable`: a benchmark hands it on by awaiting, and does not touch it meanwhile.
struct HandedOver<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
