/// The values that a type received while an example of it was decoded; the same values decode to the same
/// example.
final class ExampleValue {
    enum Content {
        case none
        case text(String)
        /// A number, a word, or any other text that is already JSON.
        case json(String)
        /// Foundation's date: a time as a parameter, but a number in JSON.
        case date
        case list([ExampleValue])
        case object([(key: String, value: ExampleValue)])
    }

    var content = Content.none

    var isList: Bool { if case .list = content { true } else { false } }

    /// The first element of a list.
    var element: ExampleValue? {
        if case .list(let elements) = content { elements.first } else { nil }
    }

    /// The value of a parameter; for a list, that of one element.
    var text: String {
        switch content {
        case .none: ""
        case .text(let text), .json(let text): text
        case .date: Self.time
        case .list(let elements): elements.first.map(\.elementText) ?? ""
        case .object: json
        }
    }

    /// The text of an element; a list in a list is JSON.
    private var elementText: String { isList ? json : text }

    /// The expected value in words; nil if the type describes it better.
    var expectation: String? {
        switch content {
        case .none, .object, .list: nil
        case .text: ParameterText.expectation(of: String.self)
        case .json("true"): ParameterText.expectation(of: Bool.self)
        case .json: "a number"
        case .date: ParameterText.expectation(of: DateTime.self)
        }
    }

    private var json: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(to json: inout JSONWriter) {
        switch content {
        case .none: json.null()
        case .text(let text): json.value(text)
        case .json(let text): json.raw(text.utf8)
        case .date: json.value(1)
        case .list(let elements):
            json.array { json in
                for element in elements { element.write(to: &json) }
            }
        case .object(let members):
            json.object { json in
                for (key, value) in members { json.member(key) { value.write(to: &$0) } }
            }
        }
    }

    func member(_ key: String) -> ExampleValue {
        guard case .object(var members) = content else { return ExampleValue() }
        let value = ExampleValue()
        members.append((key, value))
        content = .object(members)
        return value
    }

    func nextElement() -> ExampleValue {
        guard case .list(var elements) = content else { return ExampleValue() }
        let value = ExampleValue()
        elements.append(value)
        content = .list(elements)
        return value
    }

    static let time = "2026-03-01T09:41:00Z"
}

/// A decoder that answers each request with an example, and records both.
struct ExampleDecoder: Decoder, SingleValueDecodingContainer {
    let questions: RequestQuestions
    /// The record of the values.
    let value: ExampleValue
    /// The depth below the request: only its own members are parameters.
    var depth = 0

    /// Whether optional members are left out: a type that contains itself would never end.
    var isDeep: Bool { depth > 6 }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if case .none = value.content { value.content = .object([]) }
        return KeyedDecodingContainer(ExampleContainer<Key>(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        value.content = .list([])
        return ExampleList(decoder: self)
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func below(_ value: ExampleValue) -> ExampleDecoder {
        ExampleDecoder(questions: questions, value: value, depth: depth + 1)
    }

    private func one<T: ExpressibleByIntegerLiteral>() -> T {
        value.content = .json("1")
        return 1
    }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool {
        value.content = .json("true")
        return true
    }
    func decode(_ type: String.Type) throws -> String {
        value.content = .text(questions.text)
        return questions.text
    }
    func decode(_ type: Double.Type) throws -> Double { one() }
    func decode(_ type: Float.Type) throws -> Float { one() }
    // The generic method would leave these two to the protocol, which rejects them.
    func decode(_ type: Int128.Type) throws -> Int128 { one() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { one() }
    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T { one() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let (known, content) = known(type), let known = known as? T {
            value.content = content
            return known
        }
        guard depth < 32 else {
            throw DecodingError.dataCorruptedError(in: self, debugDescription: "nested too deep")
        }
        let result = try T(from: below(value))
        if isFoundationDate(type) { value.content = .date }
        return result
    }

    private func known(_ type: Any.Type) -> (Any, ExampleValue.Content)? {
        switch type {
        case is Duration.Type: (Duration.seconds(2), .text("2s"))
        case is DateTime.Type: DateTime(ExampleValue.time).map { ($0, .text(ExampleValue.time)) }
        case is JSONValue.Type: (JSONValue.emptyObject, .json("{}"))
        case let type as any (CaseIterable & RawRepresentable).Type: first(of: type)
        case let type as any CaseIterable.Type: first(of: type)
        default: nil
        }
    }

    private func first<T: CaseIterable & RawRepresentable>(
        of type: T.Type
    ) -> (Any, ExampleValue.Content)? {
        T.allCases.first.map { first in
            (
                first,
                first.rawValue is String ? .text("\(first.rawValue)") : .json("\(first.rawValue)")
            )
        }
    }

    /// Returns the first case; a case without a raw value is decoded from an object of its values.
    private func first<T: CaseIterable>(of type: T.Type) -> (Any, ExampleValue.Content)? {
        T.allCases.first.map { first in
            let values = ExampleValue()
            values.content = .object([])
            return (first, .object([("\(first)", values)]))
        }
    }
}

private struct ExampleContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ExampleDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        decoder.depth == 0 ? decoder.questions.names.compactMap { Key(stringValue: $0) } : []
    }

    /// Returns the decoder of a member; a member of the request itself is a parameter.
    private func at(_ key: Key, _ type: Any.Type) -> ExampleDecoder {
        let value =
            decoder.depth == 0
            ? decoder.questions.note(key.stringValue, type)
            : decoder.value.member(key.stringValue)
        return decoder.below(value)
    }

    /// Notes that the member may be missing: a type asks before it decodes an optional.
    func contains(_ key: Key) -> Bool {
        if decoder.depth == 0 { decoder.questions.noteOptional(key.stringValue) }
        return !decoder.isDeep
    }
    func decodeNil(forKey key: Key) throws -> Bool { false }

    // The generic method would leave these two to the protocol, which rejects them.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try at(key, type).decode(type)
    }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try at(key, type).decode(type)
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try at(key, type).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try at(key, JSONValue.self).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try at(key, [JSONValue].self).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}

/// A list with one element.
private struct ExampleList: UnkeyedDecodingContainer {
    let decoder: ExampleDecoder
    private(set) var currentIndex = 0

    init(decoder: ExampleDecoder) { self.decoder = decoder }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { decoder.isDeep ? 0 : 1 }
    var isAtEnd: Bool { currentIndex > 0 || decoder.isDeep }

    private mutating func next() -> ExampleDecoder {
        currentIndex += 1
        return decoder.below(decoder.value.nextElement())
    }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { decoder }
}
