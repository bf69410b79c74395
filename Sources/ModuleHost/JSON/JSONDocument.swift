/// One value, or one key, of a JSON text: its place, and the index of the next one.
///
/// A text becomes one flat table of nodes, in the order of the text. The children of an array or object
/// follow it directly; an object's children are key, value, key, value. `next` skips a whole subtree, so a
/// walk over siblings reads nothing below them.
struct JSONNode {
    enum Kind: UInt8 {
        case null
        case `false`
        case `true`
        case number
        case string
        case array
        case object
        /// A value that the parser has reported already, and that is not reported again.
        case invalid
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// A string with at least one backslash.
        static let escaped = Flags(rawValue: 1)
        /// A string with at least one dollar sign, which may refer to the environment.
        static let dollar = Flags(rawValue: 2)
        /// A number with a fraction or an exponent.
        static let fractional = Flags(rawValue: 4)
        /// A string with an error that was reported.
        static let faulty = Flags(rawValue: 8)
    }

    /// The offset of the first byte; of a string, its opening quote.
    var start: UInt32
    /// The length in the text in bytes, with quotes and brackets.
    var length: UInt32
    /// The index of the first node that does not belong to this one.
    var next: UInt32
    var kind: Kind
    var flags: Flags = []

    var range: Range<Int> { Int(start)..<Int(start) + Int(length) }
}

/// A JSON text with the table of its values, shared by all ``JSONValue``s of it.
package final class JSONDocument: Sendable {
    /// A string of the text with variables of the environment filled in.
    struct Expansion: Sendable {
        let text: String
        /// Whether the environment contributed to it; a mere `$${` is not a secret.
        let isSecret: Bool
    }

    /// The largest text that is read, in bytes.
    static let sizeLimit = 16 << 20
    /// The largest depth of nested arrays and objects, so that code which walks a document may recurse.
    package static let depthLimit = 128

    let bytes: [UInt8]
    let nodes: [JSONNode]
    let expansions: [Int: Expansion]

    init(bytes: [UInt8], nodes: [JSONNode], expansions: [Int: Expansion] = [:]) {
        self.bytes = bytes
        self.nodes = nodes
        self.expansions = expansions
    }

    /// The value that makes up the text.
    var root: JSONValue { JSONValue(document: self, node: 0) }

    // MARK: Strings

    /// Returns the offsets between the quotes of a string.
    func content(of node: Int) -> Range<Int> {
        let node = nodes[node]
        let range = node.range
        if !node.flags.contains(.faulty) {
            return range.lowerBound + 1..<range.upperBound - 1
        }
        // A reported string may lack either quote, or have the wrong ones.
        guard let first = bytes[range].first,
            first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
        else { return range }
        let closed = range.count > 1 && bytes[range.upperBound - 1] == first
        return range.lowerBound + 1..<range.upperBound - (closed ? 1 : 0)
    }

    /// Returns the text of a string, escapes resolved and the environment filled in.
    func string(_ node: Int) -> String {
        if !expansions.isEmpty, let expansion = expansions[node] { return expansion.text }
        return writtenString(node)
    }

    /// Returns the text of a string as it is written, escapes resolved.
    func writtenString(_ node: Int) -> String {
        String(decoding: stringBytes(node), as: UTF8.self)
    }

    /// Returns the bytes of a string as it is written, escapes resolved.
    func stringBytes(_ node: Int) -> ArraySlice<UInt8> {
        let content = bytes[content(of: node)]
        return nodes[node].flags.contains(.escaped) ? JSONEscapes.resolved(content)[...] : content
    }

    /// Returns whether the key or string at `node` is `text`, as it is written.
    func string(_ node: Int, equals text: UnsafeBufferPointer<UInt8>) -> Bool {
        if nodes[node].flags.isDisjoint(with: [.escaped, .faulty]) {
            let node = nodes[node]
            return Int(node.length) == text.count + 2
                && bytes.has(text, at: Int(node.start) + 1)
        }
        return writtenString(node).utf8.elementsEqual(text)
    }

    // MARK: Walking

    /// Returns the value of `key` in the object at `node`.
    func value(of key: String, in node: Int) -> Int? {
        let end = Int(nodes[node].next)
        var key = key
        return key.withUTF8 { utf8 in
            var member = node + 1
            while member < end {
                if string(member, equals: utf8) { return member + 1 }
                member = Int(nodes[member + 1].next)
            }
            return nil
        }
    }

    /// Returns the number of elements or members of the array or object at `node`.
    func count(of node: Int) -> Int {
        let step = nodes[node].kind == .object ? 1 : 0
        guard nodes[node].kind == .object || nodes[node].kind == .array else { return 0 }
        var child = node + 1
        var count = 0
        while child < Int(nodes[node].next) {
            child = Int(nodes[child + step].next)
            count += 1
        }
        return count
    }

    /// Returns the place of the value or key at `node` as a JSON Pointer (RFC 6901); of the root, "".
    func pointer(to node: Int) -> String {
        pointer { key, value in key <= node && node < nodes[value].next }
    }

    /// Returns the place of the value or key at `offset` of the text.
    func pointer(atOffset offset: Int) -> String {
        pointer { key, value in
            let start = nodes[key].range.lowerBound
            return start <= offset && offset < max(start + 1, nodes[value].range.upperBound)
        }
    }

    /// Descends from the root into the child for which `holds` returns true (given its key, where it has one,
    /// and its value), for as long as there is one.
    private func pointer(where holds: (_ key: Int, _ value: Int) -> Bool) -> String {
        var pointer = ""
        var node = 0
        descent: while node < nodes.count {
            let isObject = nodes[node].kind == .object
            guard isObject || nodes[node].kind == .array else { break }
            var child = node + 1
            var index = 0
            while child < nodes[node].next {
                let value = isObject ? child + 1 : child
                if holds(child, value) {
                    pointer += "/"
                    pointer +=
                        isObject ? JSONEscapes.pointerToken(writtenString(child)) : "\(index)"
                    node = value
                    continue descent
                }
                child = Int(nodes[value].next)
                index += 1
            }
            break
        }
        return pointer
    }
}
