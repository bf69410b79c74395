/// The tasks that may begin, in the order in which they should.
///
/// The tasks of the first admission are ranked once, so that for them the ready ones are a set of bits, and
/// the next one is the first bit. Tasks that are registered or raised later have no rank, for each of them
/// would move the others; they wait in a heap.
struct ReadyTasks {
    /// The place of a task in the order, as one integer; the least comes first.
    ///
    /// Priority, then the length of the chain that waits for the task, then its number: so the order is a
    /// comparison of integers, and the tasks are not read.
    typealias Key = UInt64

    /// The keys of the ranked tasks, in order; a task has its place here in its ``StartupGraph/Node/rank``.
    private var keys: [Key] = []
    /// A bit for each rank, set where the task is ready.
    private var words: [UInt64] = []
    /// The words before this one are zero.
    private var firstWord = 0
    private var rankedCount = 0
    private var unranked = KeyHeap()

    /// The number of tasks, stale ones included.
    var count: Int { rankedCount + unranked.count }

    static func key(_ task: Int32, _ node: StartupGraph.Node) -> Key {
        let rank = Key(StartupPriority.high.rawValue - node.priority.rawValue)
        return rank << 62 | Key(UInt32(Int32.max - node.chain)) << 31
            | Key(UInt32(bitPattern: task))
    }

    private static func task(_ key: Key) -> Int32 { Int32(truncatingIfNeeded: key & 0x7fff_ffff) }

    /// Ranks the tasks, none of which is ready yet.
    mutating func rank(_ nodes: inout [StartupGraph.Node]) {
        // Sorted by counting: by priority and chain there are few places, and the numbers come in order.
        let chains = Int(nodes.lazy.map(\.chain).max() ?? 0)
        func place(_ node: StartupGraph.Node) -> Int {
            Int(StartupPriority.high.rawValue - node.priority.rawValue) * chains + chains
                - Int(node.chain)
        }
        var next = [Int32](repeating: 0, count: StartupPriority.allCases.count * chains)
        for node in nodes { next[place(node)] += 1 }
        var sum: Int32 = 0
        for place in next.indices { (next[place], sum) = (sum, sum + next[place]) }
        keys = [Key](repeating: 0, count: nodes.count)
        words = [UInt64](repeating: 0, count: (nodes.count + 63) / 64)
        firstWord = words.count
        for task in nodes.indices {
            let place = place(nodes[task])
            let rank = next[place]
            next[place] += 1
            nodes[task].rank = rank
            keys[Int(rank)] = Self.key(Int32(task), nodes[task])
        }
    }

    mutating func push(_ task: Int32, _ node: StartupGraph.Node) {
        let rank = Int(node.rank)
        guard rank >= 0 else { return unranked.push(Self.key(task, node)) }
        words[rank / 64] |= 1 << (rank % 64)
        firstWord = min(firstWord, rank / 64)
        rankedCount += 1
    }

    /// Removes and returns the task that should begin first.
    ///
    /// The caller must skip tasks that are no longer ready: a task that was raised comes twice.
    mutating func pop() -> Int32? {
        guard rankedCount > 0 else { return unranked.pop().map(Self.task) }
        while words[firstWord] == 0 { firstWord += 1 }
        let word = words[firstWord]
        let key = keys[firstWord * 64 + word.trailingZeroBitCount]
        if let other = unranked.first, other < key { return unranked.pop().map(Self.task) }
        words[firstWord] = word & (word - 1)
        rankedCount -= 1
        return Self.task(key)
    }

    mutating func removeAll() {
        for word in words.indices { words[word] = 0 }
        rankedCount = 0
        unranked = KeyHeap()
    }
}
