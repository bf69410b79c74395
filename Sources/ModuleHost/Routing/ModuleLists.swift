/// Lists of modules to search, each in the order of the slatefile.
///
/// A search follows the links of a list. A module may be added anywhere, by a reload or when it is made: its place is
/// found in a sorted array of the list's items. Of 50 000 modules, 200 KB are moved at worst, which takes 10 µs.
struct ModuleLists: Sendable {
    static let none: Int32 = -1

    /// A module in a list.
    struct Item: Sendable {
        let position: Int32
        let root: RouteTrie.NodeIndex
        /// The next item of the list.
        fileprivate(set) var next = ModuleLists.none
    }

    /// The items of all lists.
    private(set) var items: [Item] = []
    /// The items of each list in order, by the node of the trie that leads to the list.
    private var lists: [RouteTrie.NodeIndex: [Int32]] = [:]

    /// Returns the number of modules in a list.
    func count(at node: RouteTrie.NodeIndex) -> Int { lists[node]?.count ?? 0 }

    /// Returns whether a list has a module.
    func contains(_ position: Int, at node: RouteTrie.NodeIndex) -> Bool {
        let list = lists[node] ?? []
        let index = index(of: position, in: list)
        return index < list.endIndex && items[Int(list[index])].position == position
    }

    /// Returns the first index in a list whose module is not before a position.
    private func index(of position: Int, in list: [Int32]) -> Int {
        list.partitioningIndex { items[Int($0)].position >= position }
    }

    /// Adds a module to a list that does not have it.
    ///
    /// - Returns: The first item of the list.
    mutating func insert(
        _ position: Int, _ root: RouteTrie.NodeIndex, at node: RouteTrie.NodeIndex
    ) -> Int32 {
        let new = Int32(items.count)
        items.append(Item(position: Int32(position), root: root))
        let index = index(of: position, in: lists[node] ?? [])
        lists[node, default: []].insert(new, at: index)
        guard let list = lists[node] else { return new }
        if index + 1 < list.endIndex { items[Int(new)].next = list[index + 1] }
        if index > 0 { items[Int(list[index - 1])].next = new }
        return list[0]
    }

    // MARK: Searching

    /// The modules of several lists, each once, in the order of the slatefile.
    struct Merged {
        private let items: UnsafeBufferPointer<Item>
        /// The next item of each list.
        private let heads: UnsafeMutableBufferPointer<Int32>
        private var count = 0

        /// Creates a sequence of no lists.
        ///
        /// - Parameter items: The items of all lists.
        @inline(__always)
        init(_ items: UnsafeBufferPointer<Item>, _ heads: UnsafeMutableBufferPointer<Int32>) {
            self.items = items
            self.heads = heads
        }

        /// Adds a list by its first item; nothing for ``ModuleLists/none``.
        @inline(__always)
        mutating func add(_ first: Int32) {
            guard first >= 0 else { return }
            heads.initializeElement(at: count, to: first)
            count += 1
        }

        /// Returns the root of the next module, or ``RouteTrie/none``.
        @inline(__always)
        mutating func next() -> RouteTrie.NodeIndex {
            // Mostly there is one list.
            guard count == 1 else { return nextOfSeveral() }
            let head = heads[0]
            guard head >= 0 else { return RouteTrie.none }
            heads[0] = items[Int(head)].next
            return items[Int(head)].root
        }

        private mutating func nextOfSeveral() -> RouteTrie.NodeIndex {
            var root = RouteTrie.none
            var position = Int32.max
            for index in 0..<count {
                let head = heads[index]
                if head >= 0, items[Int(head)].position < position {
                    (position, root) = (items[Int(head)].position, items[Int(head)].root)
                }
            }
            guard root >= 0 else { return root }
            for index in 0..<count {
                let head = heads[index]
                if head >= 0, items[Int(head)].position == position {
                    heads[index] = items[Int(head)].next
                }
            }
            return root
        }
    }
}
