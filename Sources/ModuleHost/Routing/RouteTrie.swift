import AppService

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
        let literalStart: UInt32
        /// Its length, and whether a literal leads on from here: a search with few nodes reads few bytes.
        private var literalCountAndFlag: UInt32
        let parent: NodeIndex
        /// The next node of the same parent whose literal differs from this one's in case only, in the order of
        /// their bytes; used for the first segment alone, which may be an authority.
        var sibling = RouteTrie.none
        /// The pattern that ends here.
        var route = RouteTrie.none
        /// The pattern that ends here in a catch-all.
        var rest = RouteTrie.none
        /// The node behind a placeholder.
        var placeholder = RouteTrie.none
        /// The first of the placeholders with a suffix or a type, in `suffixes`.
        var suffix = RouteTrie.none

        init(literal: Range<UInt32>, parent: NodeIndex) {
            literalStart = literal.lowerBound
            literalCountAndFlag = UInt32(literal.count) << 1
            self.parent = parent
        }

        var literalCount: Int { Int(literalCountAndFlag >> 1) }

        /// Whether there is a node behind a literal.
        var hasLiterals: Bool {
            get { literalCountAndFlag & 1 != 0 }
            set { literalCountAndFlag = literalCountAndFlag & ~1 | (newValue ? 1 : 0) }
        }
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
    /// The nodes behind literals.
    private var table = OpenTable()

    /// Makes room for names with a root of their own, so that nothing is copied while they are added.
    ///
    /// Before the first of them.
    mutating func reserveCapacity(names: Int, bytes: Int) {
        nodes.reserveCapacity(nodes.count + 2 * names)
        literals.reserveCapacity(literals.count + bytes)
        table.reserveCapacity(names)
    }

    /// Creates a node that has no parent.
    mutating func makeRoot() -> NodeIndex { makeNode(parent: Self.none, literal: []) }

    private mutating func makeNode(parent: NodeIndex, literal: [UInt8]) -> NodeIndex {
        let start = UInt32(literals.count)
        literals += literal
        nodes.append(Node(literal: start..<UInt32(literals.count), parent: parent))
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
        for segment in segments { node = makeNode(segment, from: node, isFirst: node == root) }
        return node
    }

    /// Returns the node that a segment leads to; creates it where it does not exist.
    mutating func makeNode(
        _ segment: RoutePattern.Segment, from node: NodeIndex, isFirst: Bool
    ) -> NodeIndex {
        child(segment, of: node, isFirst: isFirst) ?? makeChild(segment, of: node, isFirst: isFirst)
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
            nodes[Int(parent)].hasLiterals = true
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
        if bytes.lexicographicallyPrecedes(literal(head)) {
            nodes[Int(node)].sibling = head
            return replace(head, by: node, hash)
        }
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
        return literals[start..<start + nodes[Int(node)].literalCount]
    }

    private func exactHash(of bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBufferPointer { SegmentBytes($0).exactHash }
    }

    private mutating func insert(_ node: NodeIndex, _ hash: UInt64) {
        _ = table.insert(Int(node), mixed(hash, node)) { _ in false }
    }

    /// Gives the slot of a node to another.
    private mutating func replace(_ node: NodeIndex, by other: NodeIndex, _ hash: UInt64) {
        table.replace(Int(node), by: Int(other), mixed(hash, node))
    }

    private func mixed(_ hash: UInt64, _ node: NodeIndex) -> UInt32 {
        UInt32(truncatingIfNeeded: View.mixed(hash, nodes[Int(node)].parent) >> 32)
    }

    @inline(__always)
    func withView<Result>(_ body: (View) -> Result) -> Result {
        nodes.withUnsafeBufferPointer { nodes in
            suffixes.withUnsafeBufferPointer { suffixes in
                literals.withUnsafeBufferPointer { literals in
                    table.slots.withUnsafeBufferPointer { slots in
                        body(
                            View(nodes: nodes, suffixes: suffixes, literals: literals, slots: slots)
                        )
                    }
                }
            }
        }
    }
}
