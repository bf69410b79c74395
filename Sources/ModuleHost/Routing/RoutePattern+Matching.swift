extension RoutePattern {
    /// Returns the parameters of a URL that the pattern matches, or nil.
    ///
    /// A relative pattern is matched against the whole of the URL, as in `scheme://path`. Of several
    /// ways to match, the most specific counts, as in a table.
    public func parameters(of url: RouteURL) -> RouteParameters? {
        if let scheme, scheme != url.scheme { return nil }
        return parameters(of: url, from: 0)
    }

    func parameters(of url: RouteURL, from first: Int) -> RouteParameters? {
        let isFolded = first == 0 && url.hasAuthority
        let best = url.withBytes { bytes in
            let segments = (first..<max(first, url.segmentCount)).lazy.map { bytes[$0].bytes }
            return variants.compactMap { variant in
                variant.ranks(of: segments, isFirstFolded: isFolded).map { (variant, $0) }
            }.min { $0.1.lexicographicallyPrecedes($1.1) }
        }
        return best.map { RouteParameters(url, $0.0.binding, first: first) }
    }
}

extension RoutePattern.Variant {
    /// Returns the rank of the match of each segment, or nil if there is no match.
    ///
    /// Expresses as an order what a table finds by trying one candidate after the other.
    func ranks<Segments: RandomAccessCollection>(
        of url: Segments, isFirstFolded: Bool
    ) -> [SegmentRank]? where Segments.Element: RandomAccessCollection<UInt8> {
        var ranks: [SegmentRank] = []
        ranks.reserveCapacity(segments.count)
        var rest = url[...]
        for segment in segments {
            if case .rest = segment { return ranks + [.rest] }
            let isFolded = ranks.isEmpty && isFirstFolded
            guard let text = rest.popFirst(), let rank = segment.rank(of: text, isFolded: isFolded)
            else { return nil }
            ranks.append(rank)
        }
        return rest.isEmpty ? ranks : nil
    }
}

/// The rank of a match of one segment: the more specific, the lesser.
enum SegmentRank: Comparable {
    case literal
    /// A literal that differs in case.
    case foldedLiteral([UInt8])
    case suffix(unmatched: Int, [UInt8], SegmentType?)
    case typed(SegmentType)
    case placeholder
    case rest

    static func < (one: SegmentRank, other: SegmentRank) -> Bool {
        switch (one, other) {
        case (.foldedLiteral(let one), .foldedLiteral(let other)):
            one.lexicographicallyPrecedes(other)
        case (
            .suffix(let count, let one, let type), .suffix(let otherCount, let other, let otherType)
        ):
            if count != otherCount {
                count < otherCount
            } else if one != other {
                one.lexicographicallyPrecedes(other)
            } else {
                (type?.rawValue ?? .max) < (otherType?.rawValue ?? .max)
            }
        case (.typed(let one), .typed(let other)): one.rawValue < other.rawValue
        default: one.order < other.order
        }
    }

    private var order: Int {
        switch self {
        case .literal: 0
        case .foldedLiteral: 1
        case .suffix: 2
        case .typed: 3
        case .placeholder: 4
        case .rest: 5
        }
    }
}

extension RoutePattern.Segment {
    fileprivate func rank(
        of text: some RandomAccessCollection<UInt8>, isFolded: Bool
    ) -> SegmentRank? {
        switch self {
        case .literal(let literal):
            if text.elementsEqual(literal) { return .literal }
            return isFolded && folded(text) == folded(literal) ? .foldedLiteral(literal) : nil
        case .placeholder(let suffix, let type):
            let end = text.suffix(suffix.count)
            let isEnd = end.elementsEqual(suffix) || isFolded && folded(end) == folded(suffix)
            guard isEnd, suffix.isEmpty || text.count > suffix.count,
                type?.reads(text.dropLast(suffix.count)) ?? true
            else { return nil }
            if suffix.isEmpty { return type.map(SegmentRank.typed) ?? .placeholder }
            return .suffix(unmatched: text.count - suffix.count, suffix, type)
        case .rest: return .rest
        }
    }
}

/// Returns the bytes with A to Z in lower case.
func folded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
}
