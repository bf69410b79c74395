/// The tasks that may begin, with the one that should begin first on top.
///
/// A key is one integer: priority, then the length of the chain that waits for the task, then its
/// number, so the order is a comparison of integers and the tasks are not read. A task whose place in the
/// order rises is pushed again under its new key; the caller that pops must skip tasks that have begun
/// already.
struct ReadyHeap {
    private var keys: [UInt64] = []

    var isEmpty: Bool { keys.isEmpty }
    var count: Int { keys.count }

    mutating func removeAll() { keys = [] }

    /// - Parameters:
    ///   - task: The task's number, not negative.
    ///   - priority: Its priority, raised ones included.
    ///   - chain: How many tasks the longest chain that waits for it has, itself included.
    mutating func push(_ task: Int32, priority: StartupPriority, chain: Int32) {
        let rank = UInt64(StartupPriority.high.rawValue - priority.rawValue)
        let key =
            rank << 62 | UInt64(UInt32(Int32.max - chain)) << 31
            | UInt64(UInt32(bitPattern: task))
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

    mutating func pop() -> Int32? {
        guard let top = keys.first, let last = keys.popLast() else { return nil }
        if !keys.isEmpty { sink(last) }
        return Int32(truncatingIfNeeded: top & 0x7fff_ffff)
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
