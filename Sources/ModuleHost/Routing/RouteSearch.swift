/// The search for a URL's routes below one root, a candidate at a time: the most specific first.
///
/// Segment by segment from the left, a literal is tried before a placeholder with a suffix (the longest
/// first), that before a placeholder with a type, that before one without, that before a catch-all; where a
/// path has no result, the next is tried.
/// Every node is visited once at most.
struct RouteSearch {
    /// A node on the way that has more children than the one that was tried.
    struct Choice {
        /// The children to try next, in their order.
        enum Stage: UInt8 {
            case otherCases, suffixes, placeholder, rest
        }

        let node: RouteTrie.NodeIndex
        /// The next sibling that differs in case, or the next suffix.
        var next: Int32
        let depth: UInt16
        var stage: Stage
    }

    let trie: RouteTrie.View
    let url: URLBytes
    /// The number of segments of the URL.
    private let segmentCount: Int
    /// The segment to begin with.
    private(set) var first = 0
    /// Whether the first segment compares without case.
    private var isFirstFolded = false
    /// The hash of the first segment, which is the same for every root.
    private(set) var firstHash: UInt64 = 0

    /// The node to visit next, before the choices.
    private var node = RouteTrie.none
    private var depth = 0
    /// The choices on the way to that node.
    private let choices: UnsafeMutableBufferPointer<Choice>
    private var choiceCount = 0

    /// Calls a closure with a search, which begins with the first segment, and with memory for its choices.
    @inline(__always)
    static func with<Result>(
        _ trie: RouteTrie.View, _ url: URLBytes, _ body: (inout RouteSearch) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(of: Choice.self, capacity: choiceLimit(url)) { choices in
            var search = RouteSearch(trie, url, choices)
            return body(&search)
        }
    }

    /// Creates a search, which begins with the first segment.
    ///
    /// - Parameter choices: Memory for ``choiceLimit(_:)`` choices.
    @inline(__always)
    init(_ trie: RouteTrie.View, _ url: URLBytes, _ choices: UnsafeMutableBufferPointer<Choice>) {
        self.trie = trie
        self.url = url
        self.choices = choices
        segmentCount = url.segmentCount
        prepare(first: 0, isFolded: url.hasAuthority)
    }

    /// Returns the most choices on the way to a node: two for the first segment, one for each other, and one at the
    /// end.
    @inline(__always)
    static func choiceLimit(_ url: URLBytes) -> Int { url.segmentCount + 2 }

    /// Sets the segment to begin with.
    ///
    /// - Parameter isFolded: Whether it compares without case.
    @inline(__always)
    mutating func prepare(first: Int, isFolded: Bool) {
        self.first = first
        isFirstFolded = isFolded
        firstHash = first < segmentCount ? url[first].foldedHash : 0
    }

    /// Begins at a root.
    @inline(__always)
    mutating func begin(at root: RouteTrie.NodeIndex) {
        node = root
        depth = first
        choiceCount = 0
    }

    /// Returns the next candidate, or ``RouteTrie/none``.
    mutating func next() -> RouteTrie.VariantIndex {
        repeat {
            while node >= 0 {
                let here = trie.nodes[Int(node)]
                if depth >= segmentCount {
                    if here.rest >= 0 { add(.rest) }
                    node = RouteTrie.none
                    if here.route >= 0 { return here.route }
                } else {
                    if here.suffix >= 0 {
                        add(.suffixes, from: here.suffix)
                    } else if here.placeholder >= 0 {
                        add(.placeholder)
                    } else if here.rest >= 0 {
                        add(.rest)
                    }
                    node = here.hasLiterals ? literalChild : RouteTrie.none
                    depth += 1
                }
            }
            if choiceCount == 0 { return RouteTrie.none }
            let rest = choose()
            if rest >= 0 { return rest }
        } while true
    }

    @inline(__always)
    private mutating func add(_ stage: Choice.Stage, from next: Int32 = RouteTrie.none) {
        choices.initializeElement(
            at: choiceCount,
            to: Choice(
                node: node, next: next, depth: UInt16(truncatingIfNeeded: depth), stage: stage))
        choiceCount += 1
    }

    /// The child for a literal segment.
    @inline(__always)
    private var literalChild: RouteTrie.NodeIndex {
        mutating get {
            let segment = url[depth]
            guard depth == first else { return trie.child(segment, of: node) }
            let head = trie.firstChild(segment, firstHash, of: node)
            guard head >= 0 else { return head }
            if isFirstFolded { add(.otherCases, from: head) }
            return trie.exact(segment, in: head)
        }
    }

    /// Takes the next way of the last choice.
    ///
    /// - Returns: The pattern that ends here in a catch-all, if that is next.
    private mutating func choose() -> RouteTrie.VariantIndex {
        let choice = choices[choiceCount - 1]
        let here = trie.nodes[Int(choice.node)]
        let depth = Int(choice.depth)
        switch choice.stage {
        case .otherCases:
            let isExact =
                choice.next >= 0
                && trie.literal(of: choice.next).equals(url[depth], folding: false)
            let next = isExact ? trie.nodes[Int(choice.next)].sibling : choice.next
            if next >= 0 {
                choices[choiceCount - 1].next = trie.nodes[Int(next)].sibling
                (node, self.depth) = (next, depth + 1)
            } else {
                choiceCount -= 1
            }
        case .suffixes:
            var index = choice.next
            let isFolded = isFirstFolded && depth == first
            while index >= 0, !takes(url[depth], trie.suffixes[Int(index)], isFolded) {
                index = trie.suffixes[Int(index)].next
            }
            if index >= 0 {
                let suffix = trie.suffixes[Int(index)]
                choices[choiceCount - 1].next = suffix.next
                (node, self.depth) = (suffix.node, depth + 1)
            } else {
                choices[choiceCount - 1].stage = .placeholder
            }
        case .placeholder:
            if here.rest >= 0 {
                choices[choiceCount - 1].stage = .rest
            } else {
                choiceCount -= 1
            }
            (node, self.depth) = (here.placeholder, depth + 1)
        case .rest:
            choiceCount -= 1
            return here.rest
        }
        return RouteTrie.none
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
}
