/// The search for a URL's route below one root: the most specific candidate that may answer.
///
/// Segment by segment from the left, a literal is tried before a placeholder with a suffix (the longest
/// first), that before a placeholder with a type, that before one without, that before a catch-all; where a
/// path has no result, the next is tried.
/// Every node is visited once at most.
struct RouteSearch {
    /// A candidate, and the segment from which its pattern is matched.
    struct Found {
        let variant: RouteTrie.VariantIndex
        let first: Int
    }

    /// A function that decides whether a candidate may answer.
    ///
    /// Passed down and never stored, so that it needs no memory of its own.
    typealias Filter = (Found) -> Bool

    let trie: RouteTrie.View
    let url: URLBytes
    /// The number of segments of the URL.
    let segmentCount: Int
    /// The segment to begin with.
    var first = 0
    /// Whether the first segment compares without case.
    var isFirstFolded: Bool

    /// The hash of the first segment, which is the same for every root.
    @inline(__always)
    var firstHash: UInt64 { first < segmentCount ? url[first].foldedHash : 0 }

    /// Returns the pattern that answers, or nil.
    @inline(__always)
    func find(
        from root: RouteTrie.NodeIndex, _ firstHash: UInt64, _ mayAnswer: Filter
    ) -> Found? {
        if first >= segmentCount { return end(root, mayAnswer) }
        let segment = url[first]
        let head = trie.firstChild(segment, firstHash, of: root)
        if head >= 0 {
            let exact = trie.exact(segment, in: head)
            if exact >= 0, let found = find(exact, first + 1, mayAnswer) { return found }
            if isFirstFolded, let found = findFolded(head, besides: exact, mayAnswer) {
                return found
            }
        }
        return findOpen(root, first, isFolded: isFirstFolded, mayAnswer)
    }

    /// Tries the nodes whose literal differs from the segment in case, in the order of their bytes.
    private func findFolded(
        _ head: RouteTrie.NodeIndex, besides exact: RouteTrie.NodeIndex, _ mayAnswer: Filter
    ) -> Found? {
        // The rest of the list is sorted, but its head is the one that was added first: it gets its place
        // here.
        var isHeadNext = true
        var rest = trie.nodes[Int(head)].sibling
        while isHeadNext || rest >= 0 {
            let node: RouteTrie.NodeIndex
            if isHeadNext, rest < 0 || trie.isLiteral(of: head, before: rest) {
                node = head
                isHeadNext = false
            } else {
                node = rest
                rest = trie.nodes[Int(rest)].sibling
            }
            if node != exact, let found = find(node, first + 1, mayAnswer) { return found }
        }
        return nil
    }

    private func find(
        _ node: RouteTrie.NodeIndex, _ depth: Int, _ mayAnswer: Filter
    ) -> Found? {
        guard depth < segmentCount else { return end(node, mayAnswer) }
        let child = trie.child(url[depth], of: node)
        if child >= 0, let found = find(child, depth + 1, mayAnswer) { return found }
        return findOpen(node, depth, isFolded: false, mayAnswer)
    }

    /// Tries the children that are not literals.
    @inline(__always)
    private func findOpen(
        _ node: RouteTrie.NodeIndex, _ depth: Int, isFolded: Bool, _ mayAnswer: Filter
    ) -> Found? {
        let here = trie.nodes[Int(node)]
        var index = here.suffix
        while index >= 0 {
            let suffix = trie.suffixes[Int(index)]
            if takes(url[depth], suffix, isFolded),
                let found = find(suffix.node, depth + 1, mayAnswer)
            {
                return found
            }
            index = suffix.next
        }
        if here.placeholder >= 0, let found = find(here.placeholder, depth + 1, mayAnswer) {
            return found
        }
        return ask(here.rest, mayAnswer)
    }

    /// Returns whether a segment ends in a suffix, and the rest of it reads as the type.
    @inline(__always)
    private func takes(
        _ segment: SegmentBytes, _ suffix: RouteTrie.Suffix, _ isFolded: Bool
    ) -> Bool {
        guard segment.ends(in: trie.suffix(suffix), folding: isFolded) else { return false }
        guard let type = suffix.type else { return true }
        let count = segment.bytes.count - Int(suffix.count)
        return type.reads(UnsafeBufferPointer(rebasing: segment.bytes[..<count]))
    }

    /// Returns the route that ends at a node, where the URL ends.
    @inline(__always)
    private func end(_ node: RouteTrie.NodeIndex, _ mayAnswer: Filter) -> Found? {
        let here = trie.nodes[Int(node)]
        return ask(here.route, mayAnswer) ?? ask(here.rest, mayAnswer)
    }

    @inline(__always)
    private func ask(_ variant: RouteTrie.VariantIndex, _ mayAnswer: Filter) -> Found? {
        guard variant >= 0 else { return nil }
        let found = Found(variant: variant, first: first)
        return mayAnswer(found) ? found : nil
    }
}
