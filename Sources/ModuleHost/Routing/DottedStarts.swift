/// The routes whose patterns begin with a literal or a suffix that has a dot.
///
/// An authority with a dot is meant as the id of a module, unless a pattern begins with it.
struct DottedStarts: Sendable {
    private struct Start: Hashable {
        /// The scheme; nil of a relative pattern.
        let scheme: String?
        /// The bytes, in lower case.
        let bytes: [UInt8]
        /// Whether they are the end of a segment, and not all of it.
        let isSuffix: Bool
    }

    private var routes: [Start: [RouteTable.Index]] = [:]
    /// The lengths of all suffixes that were added: only these are looked up, and not as many as an authority has
    /// dots.
    private var suffixLengths: Set<Int> = []

    mutating func add(_ entry: RouteTable.Entry) {
        for start in Self.starts(of: entry) {
            routes[start, default: []].append(entry.index)
            if start.isSuffix { suffixLengths.insert(start.bytes.count) }
        }
    }

    mutating func remove(_ entry: RouteTable.Entry) {
        for start in Self.starts(of: entry) {
            routes[start]?.removeAll { $0 == entry.index }
            if routes[start]?.isEmpty == true { routes[start] = nil }
        }
    }

    /// Returns the routes that have a pattern which begins with an authority.
    ///
    /// - Parameters:
    ///   - authority: The authority, in lower case.
    ///   - scheme: The scheme of the URL, in lower case.
    /// - Returns: The routes.
    func routes(beginningWith authority: [UInt8], _ scheme: [UInt8]) -> [RouteTable.Index] {
        let scheme = String(decoding: scheme, as: UTF8.self)
        // A suffix is never all of the authority.
        let suffixes = suffixLengths.filter { $0 < authority.count }
            .map { Array(authority.suffix($0)) }
        return [nil, scheme].flatMap { scheme in
            let whole = Start(scheme: scheme, bytes: authority, isSuffix: false)
            return (routes[whole] ?? [])
                + suffixes.flatMap {
                    routes[Start(scheme: scheme, bytes: $0, isSuffix: true)] ?? []
                }
        }
    }

    private static func starts(of entry: RouteTable.Entry) -> [Start] {
        let pattern = entry.route.pattern
        var starts: [Start] = []
        for variant in pattern.variants {
            let start: Start
            switch variant.segments.first {
            case .literal(let bytes) where bytes.contains(UInt8(ascii: ".")):
                start = Start(scheme: pattern.scheme, bytes: folded(bytes), isSuffix: false)
            case .placeholder(let suffix, _) where !suffix.isEmpty:
                start = Start(scheme: pattern.scheme, bytes: folded(suffix), isSuffix: true)
            case .literal, .placeholder, .rest, nil: continue
            }
            if !starts.contains(start) { starts.append(start) }
        }
        return starts
    }
}
