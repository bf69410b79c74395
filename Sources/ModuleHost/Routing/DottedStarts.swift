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

    private var routes: [Start: Set<RouteTable.Index>] = [:]
    /// The lengths of all suffixes that were added: only these are looked up, and not as many as an authority has
    /// dots.
    private var suffixLengths: Set<Int> = []

    mutating func add(_ entry: RouteTable.Entry) {
        for start in Self.starts(of: entry) {
            routes[start, default: []].insert(entry.index)
            if start.isSuffix { suffixLengths.insert(start.bytes.count) }
        }
    }

    mutating func remove(_ entry: RouteTable.Entry) {
        for start in Self.starts(of: entry) {
            routes[start]?.remove(entry.index)
            if routes[start]?.isEmpty == true { routes[start] = nil }
        }
    }

    /// Returns whether there is a route, of those that are meant, with a pattern which begins with an authority.
    ///
    /// - Parameters:
    ///   - authority: The authority, in lower case.
    ///   - scheme: The scheme of the URL, in lower case.
    ///   - isMeant: Called for one route after the other until it returns true.
    /// - Returns: Whether there is one.
    func contains(
        _ authority: [UInt8], _ scheme: [UInt8], where isMeant: (RouteTable.Index) -> Bool
    ) -> Bool {
        // A suffix is never all of the authority.
        let suffixes = suffixLengths.filter { $0 < authority.count }
            .map { Array(authority.suffix($0)) }
        return [nil, String(decoding: scheme, as: UTF8.self)].contains { scheme in
            func contains(_ bytes: [UInt8], isSuffix: Bool) -> Bool {
                routes[Start(scheme: scheme, bytes: bytes, isSuffix: isSuffix)]?
                    .contains(where: isMeant) ?? false
            }
            return contains(authority, isSuffix: false)
                || suffixes.contains { contains($0, isSuffix: true) }
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
