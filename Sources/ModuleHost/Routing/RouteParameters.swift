/// The parameters of one call: names, each with its values in order.
///
/// For a URL these are the values of the pattern's placeholders, then the query items; a placeholder takes
/// precedence over query items of the same name. Text is created on access.
public struct RouteParameters: Sendable {
    /// The parameters of a call without a URL.
    @usableFromInline
    final class List: Sendable {
        let items: [(name: String, values: [String])]
        /// The names whose values were arrays or objects.
        let compounds: Set<String>

        init(_ items: [(name: String, values: [String])], compounds: Set<String> = []) {
            self.items = items
            self.compounds = compounds
        }
    }

    // Side by side and not as the cases of an enum: access to a case counts the references in it.

    /// The URL that contains the parameters; nil where there is none.
    @usableFromInline let url: RouteURL?
    /// The binding of the segments of the URL from `first` on.
    @usableFromInline let binding: RouteBinding?
    @usableFromInline let first: Int
    /// The parameters where there is no URL; nil for none.
    @usableFromInline let list: List?

    init(_ url: RouteURL, _ binding: RouteBinding, first: Int) {
        self.url = url
        self.binding = binding
        self.first = first
        list = nil
    }

    private init(_ list: List?) {
        (url, binding, first) = (nil, nil, 0)
        self.list = list
    }

    // Inlinable, so that the caller knows that there is nothing to release.
    /// Creates an empty set of parameters.
    @inlinable
    public init() { (url, binding, first, list) = (nil, nil, 0, nil) }

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

    /// Creates parameters from a JSON object.
    ///
    /// Strings, numbers and words become their text, arrays repeated values, objects (and arrays in arrays)
    /// JSON text; `null` is left out.
    ///
    /// - Parameter object: The object; anything else has no parameters.
    public init(_ object: JSONValue) {
        func text(_ value: JSONValue) -> String { value.string ?? value.text }
        var compounds: Set<String> = []
        self.init(
            list: object.members.compactMap { member in
                switch member.value.kind {
                case .null: return nil
                case .array:
                    compounds.insert(member.key)
                    return (member.key, member.value.elements.map(text))
                case .object: compounds.insert(member.key)
                default: break
                }
                return (member.key, [text(member.value)])
            }, compounds: compounds)
    }

    init(list: [(name: String, values: [String])], compounds: Set<String> = []) {
        var merged: [(name: String, values: [String])] = []
        // Few names are compared pairwise, as in most calls; for many names that would take too long. By
        // bytes, as in `isSameText`.
        var indices: [[UInt8]: Int] = [:]
        for (name, values) in list {
            let index: Int?
            if list.count <= 16 {
                index = merged.firstIndex { isSameText($0.name, name) }
            } else {
                let key = Array(name.utf8)
                index = indices[key]
                if index == nil { indices[key] = merged.count }
            }
            if let index {
                merged[index].values += values
            } else {
                merged.append((name, values))
            }
        }
        self.init(List(merged, compounds: compounds))
    }

    /// Returns whether the value of a name is an array or an object, for a call without a URL.
    func isCompound(_ name: String) -> Bool {
        guard let list else { return false }
        return list.compounds.contains(name) || listedValues(of: name)?.count != 1
    }

    private var items: [(name: String, values: [String])] { list?.items ?? [] }

    /// The names, each once: placeholders in the order of the pattern, then query items.
    public var names: [String] {
        guard let url, let binding else { return items.map(\.name) }
        var names = binding.names
        for (name, _) in url.query where !names.contains(where: { isSameText($0, name) }) {
            names.append(name)
        }
        return names
    }

    /// The URL that contains the parameters, and how a pattern matched it; nil where there is no URL.
    var match: (url: RouteURL, binding: RouteBinding, first: Int)? {
        guard let url, let binding else { return nil }
        return (url, binding, first)
    }

    /// The names that a pattern bound: those of the path.
    var boundNames: [String] { binding?.names ?? [] }

    /// The first value of a name, or nil where it has none.
    public subscript(name: String) -> String? { look(up: name).first }

    /// Returns the values of a name, in order; empty for a catch-all that took no segment, nil where there is
    /// no such name.
    public func values(of name: String) -> [String]? {
        let found = withPlace(of: name) { place, bytes -> [String]? in
            switch place {
            case .nowhere: nil
            case .segment(let span): [bytes.text(of: span)]
            case .rest(let segments): segments.map { bytes.text(of: bytes.spans[$0]) }
            case .items(let range, let count):
                values(ofItemsNamed: bytes[range.lowerBound], in: range, bytes, count)
            }
        }
        return found ?? listedValues(of: name)
    }

    /// Returns the values of a name where the parameters are not in a URL.
    private func listedValues(of name: String) -> [String]? {
        items.first { isSameText($0.name, name) }?.values
    }

    /// All parameters, in the order of ``names``.
    public var all: [(name: String, values: [String])] {
        url == nil ? items : names.map { ($0, values(of: $0) ?? []) }
    }

    /// Returns whether there is such a name.
    func contains(_ name: String) -> Bool {
        let isFound = withPlace(of: name) { place, _ in
            if case .nowhere = place { false } else { true }
        }
        return isFound ?? (listedValues(of: name) != nil)
    }

    /// Returns the first value of a name, and the number of its values, without creating a list.
    func look(up name: String) -> (first: String?, count: Int) {
        let found = withPlace(of: name) { place, bytes -> (first: String?, count: Int) in
            switch place {
            case .nowhere: (nil, 0)
            case .segment(let span): (bytes.text(of: span), 1)
            case .rest(let segments):
                (segments.first.map { bytes.text(of: bytes.spans[$0]) }, segments.count)
            case .items(let range, let count):
                (bytes.text(of: bytes.spans[range.lowerBound + 1]), count)
            }
        }
        if let found { return found }
        let values = listedValues(of: name)
        return (values?.first, values?.count ?? 0)
    }

    // MARK: In a URL

    /// The place of the values of a name in a URL.
    private enum Place {
        case nowhere
        /// In a segment, or a part of it.
        case segment(URLSpan)
        case rest(Range<Int>)
        /// In this many query items, among the spans from the first of them on.
        case items(Range<Int>, count: Int)
    }

    /// Calls a closure with the place of the values of a name, and the bytes of the URL.
    ///
    /// Counts no reference: these parameters have them meanwhile.
    ///
    /// - Returns: The result; nil where the parameters are not in a URL.
    @inline(__always)
    private func withPlace<Result>(
        of name: String, _ body: (Place, URLBytes) -> Result
    ) -> Result? {
        defer { withExtendedLifetime(self) {} }
        guard let url = url.map(Unmanaged.passUnretained),
            let binding = binding.map(Unmanaged.passUnretained)
        else { return nil }
        return url._withUnsafeGuaranteedRef { url in
            binding._withUnsafeGuaranteedRef { binding in
                url.withBytes { bytes in
                    name.withUTF8Bytes { name in
                        body(place(of: SegmentBytes(name), bytes, binding), bytes)
                    }
                }
            }
        }
    }

    private func place(
        of name: SegmentBytes, _ bytes: URLBytes, _ binding: RouteBinding
    ) -> Place {
        let hash = name.exactHash
        // By index: a loop over the array itself would count a reference to it.
        for index in binding.placeholders.indices
        where binding.placeholders[index].isNamed(name, hash) {
            let bound = binding.placeholders[index]
            return .segment(bytes.spans[first + bound.segment].dropLast(bound.suffixCount))
        }
        if let rest = binding.rest, rest.isNamed(name, hash) {
            return .rest((first + rest.segment)..<bytes.segmentCount)
        }
        var start: Int?
        var count = 0
        for item in stride(from: bytes.segmentCount, to: bytes.spans.count, by: 2)
        where bytes[item].equals(name, folding: false) {
            start = start ?? item
            count += 1
        }
        return start.map { .items($0..<bytes.spans.count, count: count) } ?? .nowhere
    }

    private func values(
        ofItemsNamed name: SegmentBytes, in range: Range<Int>, _ bytes: URLBytes, _ count: Int
    ) -> [String] {
        var values: [String] = []
        values.reserveCapacity(count)
        for item in stride(from: range.lowerBound, to: range.upperBound, by: 2)
        where bytes[item].equals(name, folding: false) {
            values.append(bytes.text(of: bytes.spans[item + 1]))
        }
        return values
    }
}

extension RouteParameters: Equatable {
    /// Returns whether both have the same names with the same values, in any order of the names.
    public static func == (one: RouteParameters, other: RouteParameters) -> Bool {
        other.areExactly(one.all)
    }

    /// Returns whether there are these names with these values and no others; each name stands once.
    func areExactly(_ given: [(name: String, values: [String])]) -> Bool {
        names.count == given.count && given.allSatisfy { values(of: $0.name) == $0.values }
    }
}

/// Returns whether two texts are the same byte for byte: for `==`, `é` equals an `e` with an accent, which in
/// URLs it does not.
@inline(__always)
func isSameText(_ one: String, _ other: String) -> Bool {
    one.withUTF8Bytes { one in
        other.withUTF8Bytes { SegmentBytes(one).equals(SegmentBytes($0), folding: false) }
    }
}
