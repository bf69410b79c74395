@testable import ModuleHostCore

/// Which route answers, found as the dialect says it and as slowly as that is: every form of every
/// pattern is held against the URL, and those that match are put in order.
struct ReferenceMatcher {
    struct Route {
        let module: String
        let pattern: RoutePattern
    }

    /// A URL before it was written.
    struct Address {
        var scheme: String
        var hasAuthority: Bool
        var segments: [String]
    }

    var schemes: [String]
    var modules: [String]
    var fallback: String?
    var routes: [Route]

    /// The routes that match, the one that is to be asked first at the front; each form by itself.
    func candidates(_ url: Address) -> [Route] {
        let relative = routes.filter { !$0.pattern.isAbsolute }
        var found = sorted(
            routes.filter { $0.pattern.scheme == lower(url.scheme) }, url.segments,
            isFolded: url.hasAuthority)
        let isApp = schemes.contains(lower(url.scheme))
        let named = url.hasAuthority ? modules.first { lower($0) == lower(url.segments[0]) } : nil
        if isApp, let named {
            found += sorted(
                relative.filter { $0.module == named }, Array(url.segments.dropFirst()),
                isFolded: false)
        }
        var asked = isApp && named == nil ? modules : []
        if let fallback, !asked.contains(fallback) { asked.append(fallback) }
        if isApp, named == nil, isMisspeltID(url) { return found }
        for module in asked {
            found += sorted(
                relative.filter { $0.module == module }, url.segments, isFolded: url.hasAuthority)
        }
        return found
    }

    /// Whether the authority has a dot, and no pattern begins with it.
    private func isMisspeltID(_ url: Address) -> Bool {
        guard url.hasAuthority, let authority = url.segments.first, authority.contains(".") else {
            return false
        }
        let own = routes.filter { !$0.pattern.isAbsolute || $0.pattern.scheme == lower(url.scheme) }
        return !own.flatMap(\.pattern.variants).contains { form in
            switch form.segments.first {
            case .literal(let literal):
                lower(String(decoding: literal, as: UTF8.self)) == lower(authority)
            case .placeholder(let suffix, _) where !suffix.isEmpty:
                lower(authority).utf8.count > suffix.count
                    && lower(authority).hasSuffix(lower(String(decoding: suffix, as: UTF8.self)))
            case .placeholder, .rest, nil: false
            }
        }
    }

    private func sorted(_ routes: [Route], _ segments: [String], isFolded: Bool) -> [Route] {
        var matches: [(route: Route, keys: [Key])] = []
        for route in routes {
            for form in route.pattern.variants {
                if let keys = keys(form.segments, segments, isFolded) {
                    matches.append((route, keys))
                }
            }
        }
        return matches.sorted { $0.keys.lexicographicallyPrecedes($1.keys) }.map(\.route)
    }

    /// How specific one segment was matched: the class, then what decides within it.
    private struct Key: Comparable {
        var rank: Int
        var length = 0
        var text: [UInt8] = []

        static func < (one: Key, other: Key) -> Bool {
            if one.rank != other.rank { return one.rank < other.rank }
            if one.length != other.length { return one.length > other.length }
            return one.text.lexicographicallyPrecedes(other.text)
        }
    }

    private func keys(
        _ form: [RoutePattern.Segment], _ segments: [String], _ isFolded: Bool
    ) -> [Key]? {
        var keys: [Key] = []
        for (index, part) in form.enumerated() {
            if part == .rest { return keys + [Key(rank: 5)] }
            guard index < segments.count else { return nil }
            guard let key = key(part, segments[index], isFolded && index == 0) else { return nil }
            keys.append(key)
        }
        return form.count == segments.count ? keys : nil
    }

    private func key(
        _ part: RoutePattern.Segment, _ segment: String, _ isFolded: Bool
    ) -> Key? {
        switch part {
        case .literal(let literal):
            let text = String(decoding: literal, as: UTF8.self)
            if text.utf8.elementsEqual(segment.utf8) { return Key(rank: 0) }
            let isAlike = isFolded && lower(text).utf8.elementsEqual(lower(segment).utf8)
            return isAlike ? Key(rank: 1, text: literal) : nil
        case .placeholder(let suffix, let type):
            if let type, !reads(segment.utf8.dropLast(suffix.count).map { $0 }, type) { return nil }
            if suffix.isEmpty { return Key(rank: type == nil ? 4 : 3) }
            let end = String(decoding: suffix, as: UTF8.self)
            let isEnd =
                isFolded
                ? lower(segment).utf8.reversed().starts(with: lower(end).utf8.reversed())
                : segment.utf8.reversed().starts(with: suffix.reversed())
            guard isEnd, segment.utf8.count > suffix.count else { return nil }
            return Key(rank: 2, length: suffix.count, text: suffix + (type == nil ? [0xFF] : []))
        case .rest: return nil
        }
    }

    /// Whether a text reads as a type, by the functions that decode parameters; ids of 36 characters are all
    /// that the tests have.
    private func reads(_ bytes: [UInt8], _ type: SegmentType) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return switch type {
        case .int: ParameterText.integer(text, Int64.self) != nil
        case .uuid: bytes.count == 36
        case .date: DateTime(text + "T00:00:00Z") != nil
        }
    }

    /// The text with A to Z in lower case.
    private func lower(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    "A"..."Z" ~= $0 ? Unicode.Scalar(UInt8($0.value) + 32) : $0
                }))
    }
}
