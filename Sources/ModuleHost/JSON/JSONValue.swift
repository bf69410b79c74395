/// A value of a JSON text: a light view of its place in the text.
///
/// All views share the text and the table of its values; a view is two words. Strings are created and places
/// are counted only on request. The text was read strictly (RFC 8259): no duplicate keys, no more than 128
/// levels, no more than 16 MiB, nothing but valid UTF-8.
///
/// Two values are equal if they have the same content: the order of an object's keys does not matter, nor do
/// white space or escapes; a string is compared by its bytes, and a number as written (`1` is not `1.0`).
public struct JSONValue: Sendable {
    /// The types of JSON.
    public enum Kind: Hashable, Sendable {
        /// `null`
        case null
        /// `true` or `false`
        case bool
        /// A number, of any size.
        case number
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object
    }

    let document: JSONDocument
    let node: Int

    init(document: JSONDocument, node: Int) {
        self.document = document
        self.node = node
    }

    /// Parses a text that consists of one value.
    ///
    /// - Parameter bytes: The text in UTF-8, at most 16 MiB.
    /// - Throws: The first error in the text, with its place.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        try self.init(parsing: bytes, depthLimit: JSONDocument.depthLimit)
    }

    /// Parses a text that becomes a part of another, such as a request, which adds levels of its own to the
    /// depth.
    package init(parsing bytes: [UInt8], depthLimit: Int) throws(JSONError) {
        var parser = JSONParser(bytes, diagnosticLimit: 1, depthLimit: depthLimit)
        parser.parse()
        let document = JSONDocument(bytes: bytes, nodes: parser.nodes)
        if let diagnostic = parser.diagnostics.first {
            throw JSONError([(diagnostic.offset, diagnostic.kind)], in: document)
        }
        self = document.root
    }

    /// Parses a text that consists of one value.
    ///
    /// - Parameter text: The text, at most 16 MiB in UTF-8.
    /// - Throws: The first error in the text, with its place.
    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// The bytes of memory that the value keeps: those of the whole text that contains it.
    var footprint: Int {
        document.bytes.count + document.nodes.count * MemoryLayout<JSONNode>.stride
    }

    /// The bytes of memory that are allocated for that: up to twice as many as `footprint`.
    var allocated: Int {
        document.bytes.capacity + document.nodes.capacity * MemoryLayout<JSONNode>.stride
    }

    private var entry: JSONNode { document.nodes[node] }

    /// The type of the value.
    public var kind: Kind {
        switch entry.kind {
        case .null, .invalid: .null
        case .true, .false: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Whether the value is `null`.
    public var isNull: Bool { kind == .null }

    /// The value if it is `true` or `false`.
    public var bool: Bool? {
        switch entry.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The value if it is a whole number that an `Int` can hold, written without fraction or
    /// exponent.
    public var int: Int? { integer(Int.self) }

    /// The value if it is a number within the range of a `Double`, which may round it.
    public var double: Double? {
        guard entry.kind == .number, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The value if it is a string, escapes resolved and the environment filled in.
    public var string: String? { entry.kind == .string ? document.string(node) : nil }

    /// The text of the value as it is written; `${NAME}` is not filled in.
    public var text: String { String(decoding: textBytes, as: UTF8.self) }

    /// The bytes of ``text``.
    var textBytes: ArraySlice<UInt8> { document.bytes[entry.range] }

    /// The range of ``text`` in the whole text.
    var range: Range<Int> { entry.range }

    /// Returns whether the value is the string `text`.
    func isString(_ text: String) -> Bool {
        guard entry.kind == .string else { return false }
        guard document.expansions.isEmpty else { return string == text }
        var text = text
        return text.withUTF8 { document.string(node, equals: $0) }
    }

    /// Returns the value if it is a whole number that fits `T`.
    func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        guard entry.kind == .number, !entry.flags.contains(.fractional) else { return nil }
        return T(text)
    }

    // MARK: Place

    /// The place of the value in its text, as a JSON Pointer (RFC 6901) such as `/aps/alert`; the whole text
    /// is the empty string.
    public var pointer: String { document.pointer(to: node) }

    /// The line and column at which the value begins, counted on each access.
    package var place: TextPlace {
        var source = SourceText(document.bytes)
        return source.place(of: entry.range.lowerBound)
    }

    // MARK: Children

    /// The number of elements of an array or members of an object; 0 for anything else.
    public var count: Int { document.count(of: node) }

    /// The elements if the value is an array; empty for any other.
    public var elements: Elements {
        Elements(
            document: document, position: node + 1,
            end: entry.kind == .array ? Int(entry.next) : 0)
    }

    /// The members, in the order of the text, if the value is an object; empty for any other.
    public var members: Members {
        Members(
            document: document, position: node + 1,
            end: entry.kind == .object ? Int(entry.next) : 0)
    }

    /// The value of `key` if the value is an object that has it.
    public subscript(key: String) -> JSONValue? {
        guard entry.kind == .object, let value = document.value(of: key, in: node) else {
            return nil
        }
        return JSONValue(document: document, node: value)
    }

    /// The elements of an array, in order.
    public struct Elements: Sequence, IteratorProtocol, Sendable {
        let document: JSONDocument
        var position: Int
        let end: Int

        /// Returns the next element, or nil after the last.
        public mutating func next() -> JSONValue? {
            guard position < end else { return nil }
            defer { position = Int(document.nodes[position].next) }
            return JSONValue(document: document, node: position)
        }
    }

    /// The members of an object, in order.
    public struct Members: Sequence, IteratorProtocol, Sendable {
        let document: JSONDocument
        var position: Int
        let end: Int

        /// Returns the next member, or nil after the last.
        public mutating func next() -> Member? {
            guard position < end else { return nil }
            defer { position = Int(document.nodes[position + 1].next) }
            return Member(
                key: document.string(position),
                value: JSONValue(document: document, node: position + 1))
        }
    }

    /// One member of an object.
    public struct Member: Sendable {
        /// The key, escapes resolved.
        public let key: String
        /// The value.
        public let value: JSONValue

        /// The line and column at which the key begins, counted on each access.
        package var keyPlace: TextPlace {
            JSONValue(document: value.document, node: value.node - 1).place
        }
    }

    // MARK: Secrets

    /// Whether the value is a string to which the environment contributed.
    public var isSecret: Bool { document.expansions[node]?.isSecret ?? false }

    /// The value for logs and commands: as it is written, white space included, with `•••` for strings that
    /// came from the environment.
    public var redactedText: String {
        // Searched for in the value alone: the rest of the text may have many more.
        let secrets =
            document.expansions.isEmpty
            ? [] : (node..<Int(entry.next)).filter { document.expansions[$0]?.isSecret == true }
        var text = ""
        var offset = entry.range.lowerBound
        for secret in secrets {
            let range = document.nodes[secret].range
            text += String(decoding: document.bytes[offset..<range.lowerBound], as: UTF8.self)
            text += "\"•••\""
            offset = range.upperBound
        }
        return text
            + String(decoding: document.bytes[offset..<entry.range.upperBound], as: UTF8.self)
    }

    /// The value in the words of a message, without secrets.
    package var inWords: String {
        switch entry.kind {
        case .null: "null"
        case .true: "true"
        case .false: "false"
        case .number: "the number \(excerpt(text))"
        case .string where isSecret: "a string from the environment"
        case .string: "the string \"\(excerpt(RouteToken.hide(in: document.string(node))))\""
        case .array: "an array"
        case .object: "an object"
        case .invalid: "nothing"
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The same as ``redactedText``.
    public var description: String { redactedText }
}

extension JSONError {
    /// Computes the places of diagnostics, each given by its offset.
    init(_ diagnostics: [(offset: Int, kind: JSONDiagnostic.Kind)], in document: JSONDocument) {
        var source = SourceText(document.bytes)
        self.diagnostics = diagnostics.sortedByNumber(\.offset).map { diagnostic in
            JSONDiagnostic(
                kind: diagnostic.kind, pointer: document.pointer(atOffset: diagnostic.offset),
                place: source.place(of: diagnostic.offset), offset: diagnostic.offset)
        }
    }
}

extension JSONValue {
    /// The value `{}`, which stands for a missing `config`.
    package static let emptyObject: JSONValue = {
        let bytes = Array("{}".utf8)
        var parser = JSONParser(bytes, diagnosticLimit: 1)
        parser.parse()
        return JSONDocument(bytes: bytes, nodes: parser.nodes).root
    }()
}
