/// Which candidates may answer.
///
/// A type and not a closure: what the search asks of each candidate costs nothing where nothing is
/// asked.
protocol RouteFilter {
    func mayAnswer(_ variant: RouteTrie.VariantIndex) -> Bool
}

/// Lets every candidate answer.
struct EveryRoute: RouteFilter {
    @inline(__always)
    func mayAnswer(_ variant: RouteTrie.VariantIndex) -> Bool { true }
}

/// The search for a URL's route below one root: the most specific candidate that may answer.
///
/// Segment by segment from the left, a literal is tried before a placeholder with a suffix (the
/// longest first), that before a placeholder, that before a catch-all; where a way leads nowhere,
/// the next is tried. Every node is visited once at most.
struct RouteSearch<Filter: RouteFilter> {
    let trie: RouteTrie.View
    let bytes: URLBytes
    var segments: UnsafeBufferPointer<URLSpan>
    /// Whether the first segment compares without case.
    var isFirstFolded: Bool
    var filter: Filter

    /// The pattern that answers, or nil.
    @inline(__always)
    func find(from root: RouteTrie.NodeIndex) -> RouteTrie.VariantIndex? {
        segments.isEmpty ? end(root) : find(from: root, firstHash)
    }

    /// The hash of the first segment, which is the same for every root.
    @inline(__always)
    var firstHash: UInt64 {
        segments.isEmpty ? 0 : SegmentBytes(bytes.bytes(of: segments[0])).foldedHash
    }

    @inline(__always)
    func find(from root: RouteTrie.NodeIndex, _ firstHash: UInt64) -> RouteTrie.VariantIndex? {
        if segments.isEmpty { return end(root) }
        let segment = SegmentBytes(bytes.bytes(of: segments[0]))
        let head = trie.firstChild(segment, firstHash, of: root)
        if head >= 0 {
            let exact = trie.exact(segment, in: head)
            if exact >= 0, let found = find(exact, 1) { return found }
            if isFirstFolded, let found = findFolded(head, besides: exact) { return found }
        }
        return findOpen(root, 0, isFolded: isFirstFolded)
    }

    /// Tries the nodes whose literal differs from the segment in case.
    private func findFolded(
        _ head: RouteTrie.NodeIndex, besides exact: RouteTrie.NodeIndex
    ) -> RouteTrie.VariantIndex? {
        // The head came first, not the lowest: find where it belongs in the sorted rest.
        var order: [RouteTrie.NodeIndex] = []
        var node = trie.nodes[Int(head)].sibling
        while node >= 0 {
            order.append(node)
            node = trie.nodes[Int(node)].sibling
        }
        let place =
            order.firstIndex {
                trie.literal(of: head).bytes.lexicographicallyPrecedes(trie.literal(of: $0).bytes)
            } ?? order.count
        order.insert(head, at: place)
        for node in order where node != exact {
            if let found = find(node, 1) { return found }
        }
        return nil
    }

    private func find(
        _ node: RouteTrie.NodeIndex, _ depth: Int
    ) -> RouteTrie.VariantIndex? {
        guard depth < segments.count else { return end(node) }
        let segment = SegmentBytes(bytes.bytes(of: segments[depth]))
        let child = trie.child(segment, of: node)
        if child >= 0, let found = find(child, depth + 1) { return found }
        return findOpen(node, depth, isFolded: false)
    }

    /// Tries what is no literal.
    @inline(__always)
    private func findOpen(
        _ node: RouteTrie.NodeIndex, _ depth: Int, isFolded: Bool
    ) -> RouteTrie.VariantIndex? {
        let here = trie.nodes[Int(node)]
        if here.suffix >= 0 {
            let segment = SegmentBytes(bytes.bytes(of: segments[depth]))
            var index = here.suffix
            while index >= 0 {
                let suffix = trie.suffixes[Int(index)]
                if segment.ends(in: trie.suffix(suffix), folding: isFolded),
                    let found = find(suffix.node, depth + 1)
                {
                    return found
                }
                index = suffix.next
            }
        }
        if here.placeholder >= 0, let found = find(here.placeholder, depth + 1) {
            return found
        }
        return here.rest >= 0 && filter.mayAnswer(here.rest) ? here.rest : nil
    }

    /// What ends where the URL does.
    @inline(__always)
    private func end(_ node: RouteTrie.NodeIndex) -> RouteTrie.VariantIndex? {
        let here = trie.nodes[Int(node)]
        if here.route >= 0, filter.mayAnswer(here.route) { return here.route }
        return here.rest >= 0 && filter.mayAnswer(here.rest) ? here.rest : nil
    }
}
