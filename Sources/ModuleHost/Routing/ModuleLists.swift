/// Lists of modules to search, each in the order of the slatefile.
///
/// A search follows the links of a list. A module may be added anywhere, by a reload or when it is made, so the items of
/// a list are also a binary search tree with a depth that is logarithmic by chance (a treap): an item is above those whose
/// ``priority(of:)`` is less.
struct ModuleLists: Sendable {
    static let none: Int32 = -1

    /// A module in a list.
    struct Item: Sendable {
        let position: Int32
        let root: RouteTrie.NodeIndex
        /// The next item of the list.
        fileprivate(set) var next = ModuleLists.none
        fileprivate(set) var left = ModuleLists.none
        fileprivate(set) var right = ModuleLists.none
    }

    struct List: Sendable {
        /// The top of the tree.
        fileprivate(set) var top = ModuleLists.none
        fileprivate(set) var first = ModuleLists.none
        fileprivate(set) var count = 0
    }

    /// The items of all lists.
    private(set) var items: [Item] = []
    /// The lists, by the node of the trie that leads to each.
    private(set) var lists: [RouteTrie.NodeIndex: List] = [:]

    /// Returns the number of modules in a list.
    func count(at node: RouteTrie.NodeIndex) -> Int { lists[node]?.count ?? 0 }

    /// Returns whether a list has a module.
    func contains(_ position: Int, at node: RouteTrie.NodeIndex) -> Bool {
        var item = lists[node]?.top ?? Self.none
        while item >= 0, items[Int(item)].position != position {
            item = child(item, isRight: items[Int(item)].position < position)
        }
        return item >= 0
    }

    /// Adds a module to a list that does not have it.
    ///
    /// - Returns: The first item of the list.
    mutating func insert(
        _ position: Int, _ root: RouteTrie.NodeIndex, at node: RouteTrie.NodeIndex
    ) -> Int32 {
        var list = lists[node] ?? List()
        let new = Int32(items.count)
        items.append(Item(position: Int32(position), root: root))
        link(new, in: &list)
        place(new, in: &list)
        list.count += 1
        lists[node] = list
        return list.first
    }

    /// Links an item behind the one before it.
    private mutating func link(_ new: Int32, in list: inout List) {
        let position = items[Int(new)].position
        var previous = Self.none
        var item = list.top
        while item >= 0 {
            let isBefore = items[Int(item)].position < position
            if isBefore { previous = item }
            item = child(item, isRight: isBefore)
        }
        if previous < 0 {
            items[Int(new)].next = list.first
            list.first = new
        } else {
            items[Int(new)].next = items[Int(previous)].next
            items[Int(previous)].next = new
        }
    }

    /// Places an item above those of less priority, which are divided into those before and those behind it.
    private mutating func place(_ new: Int32, in list: inout List) {
        let position = items[Int(new)].position
        var (parent, isRight) = (Self.none, false)
        var item = list.top
        while item >= 0, Self.priority(of: item) > Self.priority(of: new) {
            (parent, isRight) = (item, items[Int(item)].position < position)
            item = child(item, isRight: isRight)
        }
        if parent < 0 { list.top = new } else { setChild(of: parent, isRight: isRight, to: new) }
        // The ends of both parts: the next item before is to the right of the last one, and the reverse.
        var (before, behind) = (new, new)
        while item >= 0 {
            let isBefore = items[Int(item)].position < position
            if isBefore {
                setChild(of: before, isRight: before != new, to: item)
                before = item
            } else {
                setChild(of: behind, isRight: behind == new, to: item)
                behind = item
            }
            item = child(item, isRight: isBefore)
        }
        setChild(of: before, isRight: before != new, to: Self.none)
        setChild(of: behind, isRight: behind == new, to: Self.none)
    }

    private func child(_ item: Int32, isRight: Bool) -> Int32 {
        isRight ? items[Int(item)].right : items[Int(item)].left
    }

    private mutating func setChild(of item: Int32, isRight: Bool, to child: Int32) {
        if isRight { items[Int(item)].right = child } else { items[Int(item)].left = child }
    }

    /// Returns a number that looks random and that no other item has: each step is reversible.
    private static func priority(of item: Int32) -> UInt32 {
        var mixed = UInt32(truncatingIfNeeded: item)
        mixed = (mixed ^ mixed >> 16) &* 0x85EB_CA6B
        mixed = (mixed ^ mixed >> 13) &* 0xC2B2_AE35
        return mixed ^ mixed >> 16
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
        /// - Parameters:
        ///   - items: The items of all lists.
        ///   - heads: Memory for as many numbers as lists are added.
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
