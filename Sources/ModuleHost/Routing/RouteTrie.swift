/// The patterns of a table, a node for each segment, in a few flat arrays.
///
/// A child with a literal segment is found through one hash table for all nodes, however many there are. Each
/// other kind has one entry in a node: a list of placeholders with a suffix or a type, a placeholder, a catch-all.
struct RouteTrie: Sendable {
    typealias NodeIndex = Int32
    typealias VariantIndex = Int32
    static let none: Int32 = -1

    struct Node: Sendable {
        /// The literal that leads here from `parent`, in `literals`.
        var literalStart: UInt32
        var literalCount: UInt32
        var parent: NodeIndex
        /// The next node of the same parent whose literal differs from this one's in case only; used for the
        /// first segment alone, which may be an authority.
        var sibling = RouteTrie.none
        /// The pattern that ends here.
        var route = RouteTrie.none
        /// The pattern that ends here in a catch-all.
        var rest = RouteTrie.none
        /// The node behind a placeholder.
        var placeholder = RouteTrie.none
        /// The first of the placeholders with a suffix or a type, in `suffixes`.
        var suffix = RouteTrie.none
    }

    /// One placeholder with a suffix or a type; the longest suffix of a node comes first, and of equal ones
    /// that with a type.
    struct Suffix: Sendable {
        var start: UInt32
        /// Zero for a placeholder that has only a type.
        var count: UInt32
        var type: SegmentType?
        var node: NodeIndex
        var next: Int32
    }

    private(set) var nodes: [Node] = []
    private(set) var suffixes: [Suffix] = []
    private(set) var literals: [UInt8] = []
    /// Open addressing; the number of slots is a power of two, and at least half of them are free.
    ///
    /// A slot holds 32 bits of the hash, then the node's number plus one; zero is a free slot.
    private(set) var slots = [UInt64](repeating: 0, count: 16)
    private var literalNodeCount = 0

    /// Makes room for names with a root of their own, so that nothing is copied while they are added.
    ///
    /// Before the first of them.
    mutating func reserveCapacity(names: Int, bytes: Int) {
        nodes.reserveCapacity(nodes.count + 2 * names)
        literals.reserveCapacity(literals.count + bytes)
        var size = slots.count
        while size < 2 * (literalNodeCount + names) { size *= 2 }
        if literalNodeCount == 0 { slots = [UInt64](repeating: 0, count: size) }
    }

    /// Creates a node that has no parent.
    mutating func makeRoot() -> NodeIndex { makeNode(parent: Self.none, literal: []) }

    private mutating func makeNode(parent: NodeIndex, literal: [UInt8]) -> NodeIndex {
        let start = UInt32(literals.count)
        literals += literal
        nodes.append(
            Node(literalStart: start, literalCount: UInt32(literal.count), parent: parent))
        return NodeIndex(nodes.count - 1)
    }

    // MARK: Patterns

    /// Returns the node that `segments` lead to from `root`, or nil where it does not exist.
    func node(_ segments: [RoutePattern.Segment], from root: NodeIndex) -> NodeIndex? {
        var node = root
        for segment in segments {
            guard let next = child(segment, of: node, isFirst: node == root) else { return nil }
            node = next
        }
        return node
    }

    /// Returns the node that `segments` lead to from `root`; creates it where it does not exist.
    mutating func makeNode(
        _ segments: [RoutePattern.Segment], from root: NodeIndex
    ) -> NodeIndex {
        var node = root
        for segment in segments {
            node =
                child(segment, of: node, isFirst: node == root)
                ?? makeChild(segment, of: node, isFirst: node == root)
        }
        return node
    }

    /// Returns the pattern that ends at `node`, in a catch-all or not.
    func variant(at node: NodeIndex, isRest: Bool) -> VariantIndex {
        isRest ? nodes[Int(node)].rest : nodes[Int(node)].route
    }

    mutating func set(_ variant: VariantIndex, at node: NodeIndex, isRest: Bool) {
        if isRest { nodes[Int(node)].rest = variant } else { nodes[Int(node)].route = variant }
    }

    private func child(
        _ segment: RoutePattern.Segment, of node: NodeIndex, isFirst: Bool
    ) -> NodeIndex? {
        let child: NodeIndex
        switch segment {
        case .literal(let bytes):
            child = withView { view in
                bytes.withUnsafeBufferPointer { bytes in
                    let segment = SegmentBytes(bytes)
                    return isFirst
                        ? view.firstChild(segment, of: node, folding: false)
                        : view.child(segment, of: node)
                }
            }
        case .placeholder(let suffix, nil) where suffix.isEmpty:
            child = nodes[Int(node)].placeholder
        case .placeholder(let suffix, let type):
            var index = nodes[Int(node)].suffix
            while index >= 0,
                suffixes[Int(index)].type != type
                    || Array(literals[range(suffixes[Int(index)])]) != suffix
            {
                index = suffixes[Int(index)].next
            }
            child = index < 0 ? Self.none : suffixes[Int(index)].node
        case .rest: child = Self.none
        }
        return child < 0 ? nil : child
    }

    private func range(_ suffix: Suffix) -> Range<Int> {
        Int(suffix.start)..<Int(suffix.start + suffix.count)
    }

    private mutating func makeChild(
        _ segment: RoutePattern.Segment, of parent: NodeIndex, isFirst: Bool
    ) -> NodeIndex {
        switch segment {
        case .literal(let bytes):
            let node = makeNode(parent: parent, literal: bytes)
            if isFirst { insertFirst(node, bytes) } else { insert(node, exactHash(of: bytes)) }
            return node
        case .placeholder(let suffix, nil) where suffix.isEmpty:
            let node = makeNode(parent: parent, literal: [])
            nodes[Int(parent)].placeholder = node
            return node
        case .placeholder(let suffix, let type):
            let node = makeNode(parent: parent, literal: [])
            insertSuffix(suffix, type, to: node, of: parent)
            return node
        case .rest: return parent
        }
    }

    /// Inserts a suffix before the first that is shorter, or equally long and greater, or equal and with a
    /// greater type or none: the order depends only on these, not on the order of insertion.
    private mutating func insertSuffix(
        _ suffix: [UInt8], _ type: SegmentType?, to node: NodeIndex, of parent: NodeIndex
    ) {
        var previous = Self.none
        var next = nodes[Int(parent)].suffix
        while next >= 0 {
            let other = literals[range(suffixes[Int(next)])]
            if other.count < suffix.count { break }
            if other.count == suffix.count {
                let isFirst =
                    other.elementsEqual(suffix)
                    ? (type?.rawValue ?? .max) < (suffixes[Int(next)].type?.rawValue ?? .max)
                    : suffix.lexicographicallyPrecedes(other)
                if isFirst { break }
            }
            previous = next
            next = suffixes[Int(next)].next
        }
        let index = Int32(suffixes.count)
        suffixes.append(
            Suffix(
                start: UInt32(literals.count), count: UInt32(suffix.count), type: type, node: node,
                next: next))
        literals += suffix
        if previous < 0 {
            nodes[Int(parent)].suffix = index
        } else {
            suffixes[Int(previous)].next = index
        }
    }

    // MARK: Literals

    /// Inserts a first segment: one slot for all that differ in case only, which are a sorted list.
    private mutating func insertFirst(_ node: NodeIndex, _ bytes: [UInt8]) {
        let parent = nodes[Int(node)].parent
        let (hash, head) = withView { view in
            bytes.withUnsafeBufferPointer { bytes in
                let segment = SegmentBytes(bytes)
                return (segment.foldedHash, view.firstChild(segment, of: parent, folding: true))
            }
        }
        guard head >= 0 else { return insert(node, hash) }
        // The head keeps its slot; the list behind it is sorted, and searched to its end.
        var previous = head
        while nodes[Int(previous)].sibling >= 0,
            literal(nodes[Int(previous)].sibling).lexicographicallyPrecedes(bytes)
        {
            previous = nodes[Int(previous)].sibling
        }
        nodes[Int(node)].sibling = nodes[Int(previous)].sibling
        nodes[Int(previous)].sibling = node
    }

    private func literal(_ node: NodeIndex) -> ArraySlice<UInt8> {
        let start = Int(nodes[Int(node)].literalStart)
        return literals[start..<start + Int(nodes[Int(node)].literalCount)]
    }

    private func exactHash(of bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBufferPointer { SegmentBytes($0).exactHash }
    }

    private mutating func insert(_ node: NodeIndex, _ hash: UInt64) {
        literalNodeCount += 1
        if literalNodeCount * 2 > slots.count {
            let old = slots
            slots = [UInt64](repeating: 0, count: old.count * 2)
            for slot in old where slot != 0 { place(slot) }
        }
        let mixed = View.mixed(hash, nodes[Int(node)].parent)
        place(mixed & ~0xFFFF_FFFF | UInt64(node + 1))
    }

    private mutating func place(_ slot: UInt64) {
        var index = Int(truncatingIfNeeded: slot >> 32) & (slots.count - 1)
        while slots[index] != 0 { index = (index + 1) & (slots.count - 1) }
        slots[index] = slot
    }

    @inline(__always)
    func withView<Result>(_ body: (View) -> Result) -> Result {
        nodes.withUnsafeBufferPointer { nodes in
            suffixes.withUnsafeBufferPointer { suffixes in
                literals.withUnsafeBufferPointer { literals in
                    slots.withUnsafeBufferPointer { slots in
                        body(
                            View(nodes: nodes, suffixes: suffixes, literals: literals, slots: slots)
                        )
                    }
                }
            }
        }
    }
}

extension RouteTrie {
    /// The arrays of a trie, borrowed.
    struct View {
        let nodes: UnsafeBufferPointer<Node>
        let suffixes: UnsafeBufferPointer<Suffix>
        let literals: UnsafeBufferPointer<UInt8>
        let slots: UnsafeBufferPointer<UInt64>

        @inline(__always)
        static func mixed(_ hash: UInt64, _ parent: NodeIndex) -> UInt64 {
            let mixed = (hash ^ UInt64(truncatingIfNeeded: parent)) &* 0xD6E8_FEB8_6659_FD93
            return mixed ^ mixed << 32
        }

        @inline(__always)
        func literal(of node: NodeIndex) -> SegmentBytes {
            let node = nodes[Int(node)]
            let start = Int(node.literalStart)
            return SegmentBytes(
                UnsafeBufferPointer(
                    rebasing: literals[start..<start + Int(node.literalCount)]))
        }

        func isLiteral(of one: NodeIndex, before other: NodeIndex) -> Bool {
            literal(of: one).bytes.lexicographicallyPrecedes(literal(of: other).bytes)
        }

        @inline(__always)
        func suffix(_ suffix: Suffix) -> SegmentBytes {
            let start = Int(suffix.start)
            return SegmentBytes(
                UnsafeBufferPointer(rebasing: literals[start..<start + Int(suffix.count)]))
        }

        /// Returns the node behind a literal segment that is not the first.
        @inline(__always)
        func child(_ segment: SegmentBytes, of parent: NodeIndex) -> NodeIndex {
            find(segment, segment.exactHash, of: parent, folding: false)
        }

        /// Returns the node behind a first segment.
        ///
        /// With `folding`, the head of the list of those that differ in case only; without, the one with the
        /// same case.
        @inline(__always)
        func firstChild(
            _ segment: SegmentBytes, of parent: NodeIndex, folding: Bool
        ) -> NodeIndex {
            let head = firstChild(segment, segment.foldedHash, of: parent)
            return folding ? head : exact(segment, in: head)
        }

        @inline(__always)
        func firstChild(
            _ segment: SegmentBytes, _ foldedHash: UInt64, of parent: NodeIndex
        ) -> NodeIndex {
            find(segment, foldedHash, of: parent, folding: true)
        }

        @inline(__always)
        func exact(_ segment: SegmentBytes, in head: NodeIndex) -> NodeIndex {
            var node = head
            while node >= 0, !literal(of: node).equals(segment, folding: false) {
                node = nodes[Int(node)].sibling
            }
            return node
        }

        @inline(__always)
        func find(
            _ segment: SegmentBytes, _ hash: UInt64, of parent: NodeIndex, folding: Bool
        ) -> NodeIndex {
            let mixed = Self.mixed(hash, parent)
            let mask = slots.count - 1
            var index = Int(truncatingIfNeeded: mixed >> 32) & mask
            while true {
                let slot = slots[index]
                if slot == 0 { return RouteTrie.none }
                if slot >> 32 == mixed >> 32 {
                    let node = NodeIndex(truncatingIfNeeded: slot & 0xFFFF_FFFF) - 1
                    if nodes[Int(node)].parent == parent,
                        literal(of: node).equals(segment, folding: folding)
                    {
                        return node
                    }
                }
                index = (index + 1) & mask
            }
        }
    }
}
