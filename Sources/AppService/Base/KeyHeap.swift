/// A heap of keys with the least on top.
package struct KeyHeap {
    private var keys: [UInt64] = []

    package init() {}

    package var first: UInt64? { keys.first }
    package var count: Int { keys.count }

    package mutating func push(_ key: UInt64) {
        var hole = keys.count
        keys.append(key)
        while hole > 0 {
            let parent = (hole - 1) / 4
            guard key < keys[parent] else { break }
            keys[hole] = keys[parent]
            hole = parent
        }
        keys[hole] = key
    }

    package mutating func pop() -> UInt64? {
        guard let top = keys.first, let last = keys.popLast() else { return nil }
        if !keys.isEmpty { sink(last) }
        return top
    }

    /// Replaces the top with `key`, and moves `key` down to its place.
    private mutating func sink(_ key: UInt64) {
        var hole = 0
        while true {
            let first = 4 * hole + 1
            guard first < keys.count else { break }
            var least = first
            var leastKey = keys[first]
            for child in first + 1..<max(first + 1, min(first + 4, keys.count))
            where keys[child] < leastKey {
                least = child
                leastKey = keys[child]
            }
            guard leastKey < key else { break }
            keys[hole] = leastKey
            hole = least
        }
        keys[hole] = key
    }
}
