import AppService

/// A parser of patterns: it cuts off scheme and query, expands the groups, then parses each of the results.
struct RoutePatternParser {
    private let text: String
    private let bytes: [UInt8]
    private(set) var scheme: String?
    private(set) var queryNames: [String] = []
    private(set) var variants: [RoutePattern.Variant] = []
    private(set) var names: [String] = []

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    private func error(_ kind: RoutePatternError.Kind, at offset: Int) -> RoutePatternError {
        RoutePatternError(pattern: text, kind: kind, offset: offset)
    }

    mutating func parse() throws(RoutePatternError) {
        if bytes.isEmpty { throw error(.empty, at: 0) }
        if bytes.count > RouteURL.Limits.bytes {
            throw error(.tooLong(bytes: bytes.count), at: RouteURL.Limits.bytes)
        }
        let pathStart = try readScheme()
        if let offset = bytes.firstIndex(of: UInt8(ascii: "#")) {
            throw error(.fragment, at: offset)
        }
        let pathEnd = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        if scheme != nil, pathStart == pathEnd {
            // `mgj://` alone stands for everything below `mgj`.
            let rest = RouteBinding.Placeholder(name: "*", segment: 0, suffixCount: 0)
            let binding = RouteBinding(placeholders: [], rest: rest)
            variants = [RoutePattern.Variant(segments: [.rest], binding: binding)]
        } else {
            try readVariants(pathStart..<pathEnd)
        }
        for variant in variants {
            for name in variant.binding.names where !names.contains(name) { names.append(name) }
        }
        if pathEnd < bytes.count { try readQuery(from: pathEnd + 1) }
    }

    // MARK: Scheme and query

    /// Reads the scheme, if there is one; returns the offset at which the path begins.
    private mutating func readScheme() throws(RoutePatternError) -> Int {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "/") }
        guard path.last == UInt8(ascii: ":"), path.count < bytes.count,
            bytes[path.count] == UInt8(ascii: "/")
        else { return 0 }
        let word = path.dropLast()
        let name = String(decoding: word, as: UTF8.self)
        let isScheme =
            word.first.map { 0x61...0x7A ~= $0 | 0x20 } == true
            && word.allSatisfy(URLCharacters.scheme.contains)
        if path.count + 1 < bytes.count, bytes[path.count + 1] == UInt8(ascii: "/") {
            guard isScheme else { throw error(.malformedScheme(name), at: 0) }
            scheme = name.lowercased()
            return path.count + 2
        }
        if isScheme { throw error(.singleSlash(scheme: name), at: word.count) }
        return 0
    }

    private mutating func readQuery(from start: Int) throws(RoutePatternError) {
        var offset = start
        for item in bytes[start...].split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        {
            defer { offset += item.count + 1 }
            let parts = item.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, parts[1].first == UInt8(ascii: ":"),
                parts[0].elementsEqual(parts[1].dropFirst())
            else { throw error(.query(String(decoding: item, as: UTF8.self)), at: offset) }
            let characters = parts[0].enumerated().map { (byte: $1, offset: offset + $0) }
            let name = try decode(characters[...], allowed: .itemName)
            let text = String(decoding: name, as: UTF8.self)
            if names.contains(text) || queryNames.contains(text) {
                throw error(.repeatedName(text), at: offset)
            }
            queryNames.append(text)
        }
    }

    // MARK: Groups

    private struct Group {
        let start: Int
        var end: Int
        let parent: Int?
    }

    private func readGroups(_ path: Range<Int>) throws(RoutePatternError) -> [Group] {
        var groups: [Group] = []
        var open: [Int] = []
        for offset in path {
            switch bytes[offset] {
            case UInt8(ascii: "("):
                if groups.count == RoutePattern.groupLimit {
                    throw error(.tooManyGroups, at: offset)
                }
                groups.append(Group(start: offset, end: offset, parent: open.last))
                open.append(groups.count - 1)
            case UInt8(ascii: ")"):
                guard let group = open.popLast() else {
                    throw error(.unmatchedParenthesis, at: offset)
                }
                if offset == groups[group].start + 1 { throw error(.emptyGroup, at: offset - 1) }
                groups[group].end = offset
            default: break
            }
        }
        if let group = open.last { throw error(.unmatchedParenthesis, at: groups[group].start) }
        return groups
    }

    /// Reads every combination of groups, the longest first; of combinations that match the same, the first
    /// stays.
    private mutating func readVariants(_ path: Range<Int>) throws(RoutePatternError) {
        let groups = try readGroups(path)
        var seen: Set<[RoutePattern.Segment]> = []
        // The bit of the first group is the highest, so that of equally long combinations the one with the
        // earlier groups is first.
        for choice in (0..<1 << groups.count).reversed() {
            func keeps(_ group: Int) -> Bool { choice >> (groups.count - 1 - group) & 1 == 1 }
            let isChoice = groups.indices.allSatisfy { group in
                guard keeps(group), let parent = groups[group].parent else { return true }
                return keeps(parent)
            }
            guard isChoice else { continue }
            let dropped = groups.indices.filter { !keeps($0) }
                .map { groups[$0].start...groups[$0].end }
            let kept = path.filter { offset in
                bytes[offset] != UInt8(ascii: "(") && bytes[offset] != UInt8(ascii: ")")
                    && !dropped.contains { $0.contains(offset) }
            }
            let variant = try readVariant(kept.map { (bytes[$0], $0) })
            // Without groups there is one combination.
            if groups.isEmpty || seen.insert(variant.segments).inserted { variants.append(variant) }
        }
        variants = variants.enumerated().sorted {
            ($1.element.segments.count, $0.offset) < ($0.element.segments.count, $1.offset)
        }.map(\.element)
    }

    // MARK: Segments

    private typealias Characters = ArraySlice<(byte: UInt8, offset: Int)>

    private func readVariant(
        _ path: [(byte: UInt8, offset: Int)]
    ) throws(RoutePatternError) -> RoutePattern.Variant {
        var segments: [RoutePattern.Segment] = []
        var placeholders: [RouteBinding.Placeholder] = []
        var rest: RouteBinding.Placeholder?
        let isAbsolute = scheme != nil
        for part in path.split(whereSeparator: { $0.byte == UInt8(ascii: "/") }) {
            guard let first = part.first else { continue }
            if let rest { throw error(.starBeforeEnd, at: starOffset(rest.segment, in: path)) }
            if segments.count == RouteURL.Limits.segments {
                throw error(.tooManySegments, at: first.offset)
            }
            let isAuthority = isAbsolute && first.offset == path.first?.offset
            let allowed = isAuthority ? URLCharacters.authority : .segment
            switch first.byte {
            case UInt8(ascii: ":"):
                let (name, type, suffix) = try readName(part, allowed)
                if placeholders.contains(where: { $0.name == name }) {
                    throw error(.repeatedName(name), at: first.offset)
                }
                placeholders.append(
                    RouteBinding.Placeholder(
                        name: name, segment: segments.count, suffixCount: suffix.count))
                segments.append(
                    .placeholder(suffix: isAuthority ? folded(suffix) : suffix, type))
            case UInt8(ascii: "*"):
                let name = try readStar(part)
                if placeholders.contains(where: { $0.name == name }) {
                    throw error(.repeatedName(name), at: first.offset)
                }
                rest = RouteBinding.Placeholder(
                    name: name, segment: segments.count, suffixCount: 0)
                segments.append(.rest)
            default:
                let literal = try decode(part, allowed: allowed)
                if literal == Array(".".utf8) || literal == Array("..".utf8) {
                    let dots = String(decoding: literal, as: UTF8.self)
                    throw error(.dotSegment(dots), at: first.offset)
                }
                segments.append(.literal(isAuthority ? folded(literal) : literal))
            }
        }
        let binding = RouteBinding(placeholders: placeholders, rest: rest)
        return RoutePattern.Variant(segments: segments, binding: binding)
    }

    private func starOffset(_ segment: Int, in path: [(byte: UInt8, offset: Int)]) -> Int {
        let parts = path.split(whereSeparator: { $0.byte == UInt8(ascii: "/") })
        return parts[segment].first?.offset ?? 0
    }

    private func readName(
        _ part: Characters, _ allowed: URLCharacters
    ) throws(RoutePatternError) -> (name: String, type: SegmentType?, suffix: [UInt8]) {
        let colon = part[part.startIndex].offset
        let name = part.dropFirst().prefix { Self.isNameByte($0.byte) }
        var suffix = part.dropFirst(name.count + 1)
        let type = name.isEmpty ? nil : try readType(&suffix)
        if let next = suffix.first, next.byte != UInt8(ascii: ".") {
            throw error(.nameCharacter(scalar(at: next.offset)), at: next.offset)
        }
        if name.isEmpty { throw error(.missingName, at: colon) }
        return (
            String(decoding: name.map(\.byte), as: UTF8.self), type,
            try decode(suffix, allowed: allowed)
        )
    }

    /// Reads the type after a name, such as `<int>`, and removes it; nil where there is none.
    private func readType(_ rest: inout Characters) throws(RoutePatternError) -> SegmentType? {
        guard let open = rest.first, open.byte == UInt8(ascii: "<") else { return nil }
        let word = rest.dropFirst().prefix { $0.byte != UInt8(ascii: ">") }
        rest = rest.dropFirst(word.count + 1)
        guard rest.popFirst() != nil else { throw error(.unclosedType, at: open.offset) }
        let name = String(decoding: word.map(\.byte), as: UTF8.self)
        let types = SegmentType.allCases
        guard let type = types.first(where: { $0.name == name }) else {
            let nearest = nearestName(to: name, in: types.map(\.name))
            throw error(.unknownType(name, nearest: nearest), at: open.offset + 1)
        }
        return type
    }

    private func readStar(_ part: Characters) throws(RoutePatternError) -> String {
        let name = part.dropFirst().prefix { Self.isNameByte($0.byte) }
        if let next = part.dropFirst(name.count + 1).first {
            throw error(.nameCharacter(scalar(at: next.offset)), at: next.offset)
        }
        return name.isEmpty ? "*" : String(decoding: name.map(\.byte), as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...:
            true
        default: false
        }
    }

    private func decode(
        _ part: Characters, allowed: URLCharacters
    ) throws(RoutePatternError) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = part
        while let (byte, offset) = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap({ hexadecimalValue($0.byte) }),
                    let low = rest.popFirst().flatMap({ hexadecimalValue($0.byte) })
                else { throw error(.escape, at: offset) }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "*"): throw error(.starBeforeEnd, at: offset)
            case UInt8(ascii: "@") where !allowed.contains(byte): throw error(.userInfo, at: offset)
            case _ where allowed.contains(byte) || byte >= 0x80: decoded.append(byte)
            default: throw error(.character(scalar(at: offset)), at: offset)
            }
        }
        if invalidUTF8Offset(in: decoded) != nil {
            throw error(.invalidUTF8, at: part.first { $0.byte == UInt8(ascii: "%") }?.offset ?? 0)
        }
        return decoded
    }

    private func scalar(at offset: Int) -> Unicode.Scalar {
        String(decoding: bytes[offset...].prefix(4), as: UTF8.self).unicodeScalars.first
            ?? "\u{FFFD}"
    }
}
