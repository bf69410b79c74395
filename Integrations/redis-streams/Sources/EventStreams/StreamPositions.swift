/// Positions in several streams.
package struct StreamPositions: Hashable, Sendable {
    /// The positions of each stream that has any.
    private var positions: [StreamName: Set<StreamPosition>] = [:]

    package init() {}

    package var isEmpty: Bool { positions.isEmpty }

    /// The number of positions in all streams.
    package var count: Int { positions.values.reduce(0) { $0 + $1.count } }

    /// The positions of each stream, in the order of the names.
    package var sorted: [(source: StreamName, positions: [StreamPosition])] {
        positions.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    package func contains(_ entry: StreamEntry) -> Bool {
        positions[entry.source]?.contains(entry.position) == true
    }

    /// - Returns: False if the position was there.
    @discardableResult
    package mutating func insert(_ entry: StreamEntry) -> Bool {
        positions[entry.source, default: []].insert(entry.position).inserted
    }

    package mutating func remove(_ entry: StreamEntry) {
        subtract([entry.source: [entry.position]])
    }

    /// Removes all positions that others have, too.
    package mutating func subtract(_ others: StreamPositions) {
        for (source, some) in others.positions {
            positions[source]?.subtract(some)
            if positions[source]?.isEmpty == true { positions[source] = nil }
        }
    }
}

extension StreamPositions: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (StreamName, Set<StreamPosition>)...) {
        positions = Dictionary(elements) { $0.union($1) }
    }
}
