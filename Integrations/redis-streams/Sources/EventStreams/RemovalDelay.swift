/// The time between the moment at which entries may be removed and their removal.
///
/// Two hosts with one copied state directory note what they have received under one name until one of them finds that out. For
/// so long nothing may be removed that only the other one has.
package struct RemovalDelay: Sendable {
    private var samples: [StreamName: [(time: UInt64, position: StreamPosition)]] = [:]
    private let delay: UInt64
    /// The samples of the delay; between them, positions are taken together.
    private static let parts: UInt64 = 16

    /// - Parameter delay: In milliseconds, by the clock of the engine.
    package init(_ delay: UInt64) { self.delay = delay }

    /// Returns the position up to which entries could be removed a delay ago, and can be now.
    ///
    /// - Parameters:
    ///   - position: The position up to which they may be removed from now on.
    ///   - source: The stream.
    ///   - now: The time by the clock of the engine.
    package mutating func position(
        _ position: StreamPosition, of source: StreamName, now: UInt64
    ) -> StreamPosition {
        var all = samples[source] ?? []
        if all.last.map({ now >= $0.time + delay / Self.parts }) ?? true {
            all.append((now, position))
        }
        let ripe = all.lastIndex { $0.time + delay <= now }
        if let ripe { all.removeFirst(ripe) }
        samples[source] = all
        return ripe == nil ? .start : min(all[0].position, position)
    }
}
