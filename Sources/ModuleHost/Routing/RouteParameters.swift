/// The parameters of one call: names, each with its values in order.
///
/// Of a URL these are what the pattern's placeholders stand for, then the query items; a
/// placeholder beats query items of the same name. Text is made when it is asked for.
public struct RouteParameters: Sendable {
    private enum Source: Sendable {
        /// The segments of a URL from `first` on, by a pattern's names, and its query.
        case url(RouteURL, RouteBinding, first: Int)
        case list([(name: String, values: [String])])
    }

    private let source: Source

    init(_ url: RouteURL, _ binding: RouteBinding, first: Int) {
        source = .url(url, binding, first: first)
    }

    /// Creates no parameters.
    public init() { source = .list([]) }

    /// Creates parameters, for a call without a URL.
    ///
    /// - Parameter values: Names with their values. Of a repeated name all values are kept, in order.
    public init(_ values: KeyValuePairs<String, [String]>) {
        self.init(list: values.map { ($0.key, $0.value) })
    }

    /// Creates parameters that have one value each, for a call without a URL.
    ///
    /// - Parameter values: The values by name.
    public init(_ values: [String: String]) {
        self.init(list: values.sorted { $0.key < $1.key }.map { ($0.key, [$0.value]) })
    }

    /// Creates parameters of a JSON object.
    ///
    /// Strings, numbers and words become their text, arrays repeated values, objects (and arrays in
    /// arrays) JSON text; what is `null` is left out.
    ///
    /// - Parameter object: The object; anything else has no parameters.
    public init(_ object: JSONValue) {
        func text(_ value: JSONValue) -> String { value.string ?? value.text }
        self.init(
            list: object.members.compactMap { member in
                switch member.value.kind {
                case .null: nil
                case .array: (member.key, member.value.elements.map(text))
                default: (member.key, [text(member.value)])
                }
            })
    }

    init(list: [(name: String, values: [String])]) {
        var merged: [(name: String, values: [String])] = []
        for (name, values) in list {
            if let index = merged.firstIndex(where: { isSameText($0.name, name) }) {
                merged[index].values += values
            } else {
                merged.append((name, values))
            }
        }
        source = .list(merged)
    }

    /// The names, each once: placeholders in the order of the pattern, then query items.
    public var names: [String] {
        switch source {
        case .list(let list): return list.map(\.name)
        case .url(let url, let binding, _):
            var names = binding.names
            for (name, _) in url.query where !names.contains(where: { isSameText($0, name) }) {
                names.append(name)
            }
            return names
        }
    }

    /// The URL that they come from, if they come from one.
    var url: RouteURL? {
        if case .url(let url, _, _) = source { url } else { nil }
    }

    /// The URL that they come from, if they come from one, and how a pattern matched it.
    var match: (url: RouteURL, binding: RouteBinding, first: Int)? {
        guard case .url(let url, let binding, let first) = source else { return nil }
        return (url, binding, first)
    }

    /// The names that a pattern bound: those of the path.
    var boundNames: [String] {
        switch source {
        case .list: []
        case .url(_, let binding, _): binding.names
        }
    }

    /// The first value of a name, or nil where it has none.
    public subscript(name: String) -> String? { look(up: name).first }

    /// The values of a name, in order; empty for a catch-all that took no segment, nil where there is
    /// no such name.
    public func values(of name: String) -> [String]? {
        switch source {
        case .list(let list): list.first { isSameText($0.name, name) }?.values
        case .url(let url, let binding, let first): values(of: name, url, binding, first)
        }
    }

    /// All parameters, in the order of ``names``.
    public var all: [(name: String, values: [String])] {
        names.map { ($0, values(of: $0) ?? []) }
    }

    /// Whether there is such a name.
    func contains(_ name: String) -> Bool {
        let found = look(up: name)
        return found.count > 0 || found.isEmptyRest
    }

    /// What is known of one name without making a list.
    struct Found {
        var first: String?
        var count = 0
        var isEmptyRest = false
    }

    func look(up name: String) -> Found {
        switch source {
        case .list(let list):
            guard let values = list.first(where: { isSameText($0.name, name) })?.values else {
                return Found()
            }
            return Found(first: values.first, count: values.count, isEmptyRest: values.isEmpty)
        case .url(let url, let binding, let first):
            var name = name
            return name.withUTF8 { look(up: SegmentBytes($0), url, binding, first) }
        }
    }

    private func look(
        up name: SegmentBytes, _ url: RouteURL, _ binding: RouteBinding, _ first: Int
    ) -> Found {
        url.withBytes { bytes in
            func text(_ span: URLSpan, without suffix: Int = 0) -> String {
                let value = bytes.bytes(of: span).dropLast(suffix)
                return String(decoding: UnsafeBufferPointer(rebasing: value), as: UTF8.self)
            }
            for bound in binding.placeholders where bound.isNamed(name) {
                let span = url.spans[first + bound.segment]
                return Found(first: text(span, without: bound.suffixCount), count: 1)
            }
            if let rest = binding.rest, rest.isNamed(name) {
                let start = first + rest.segment
                let count = url.segmentCount - start
                return Found(
                    first: count > 0 ? text(url.spans[start]) : nil, count: count,
                    isEmptyRest: count == 0)
            }
            var found = Found()
            for item in stride(from: url.segmentCount, to: url.spans.count, by: 2)
            where SegmentBytes(bytes.bytes(of: url.spans[item])).equals(name, folding: false) {
                found.count += 1
                if found.count == 1 { found.first = text(url.spans[item + 1]) }
            }
            return found
        }
    }

    private func value(
        of bound: RouteBinding.Placeholder, _ url: RouteURL, _ first: Int
    ) -> String {
        let span = url.spans[first + bound.segment]
        return url.string(
            URLSpan(span.start, span.end - bound.suffixCount, isDecoded: span.isDecoded))
    }

    private func values(
        of name: String, _ url: RouteURL, _ binding: RouteBinding, _ first: Int
    ) -> [String]? {
        if let bound = binding.placeholders.first(where: { isSameText($0.name, name) }) {
            return [value(of: bound, url, first)]
        }
        if let rest = binding.rest, isSameText(rest.name, name) {
            return url.spans[(first + rest.segment)..<url.segmentCount].map(url.string)
        }
        let values = url.query.filter { isSameText($0.name, name) }.map(\.value)
        return values.isEmpty ? nil : values
    }
}

extension RouteParameters: Equatable {
    /// Whether both have the same names with the same values, whatever the order of the names.
    public static func == (one: RouteParameters, other: RouteParameters) -> Bool {
        let names = one.names
        return names.count == other.names.count
            && names.allSatisfy { one.values(of: $0) == other.values(of: $0) }
    }
}

/// Whether two texts are the same byte for byte: `==` would take `é` for an `e` with an accent, and
/// no URL does.
@inline(__always)
func isSameText(_ one: String, _ other: String) -> Bool {
    one == other && one.utf8.elementsEqual(other.utf8)
}
