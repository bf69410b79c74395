/// What a request asks for, found out by decoding one from nothing and noting every question.
package struct RequestDescription: Hashable, Sendable {
    /// One parameter.
    package struct Field: Hashable, Sendable {
        package let name: String
        /// The type as it is written in Swift, without its optional.
        package let type: String
        /// What a value looks like, such as `a whole number`.
        package let expectation: String
        package let isOptional: Bool
        /// Whether it takes several values.
        package let isList: Bool
        /// A value that can be decoded.
        package let example: String
    }

    package private(set) var fields: [Field] = []
    /// Whether these are all: a type may refuse what is made of nothing before it asks for the rest.
    package private(set) var isComplete = false

    init(of type: any Decodable.Type) {
        // A type that refuses one example may take another.
        for text in ["text", "1", "2026-03-01T09:41:00Z", "https://www.example.com/", ""] {
            let notes = Notes(text: text)
            let isComplete = (try? type.init(from: ExampleDecoder(notes: notes))) != nil
            if notes.fields.count >= fields.count { fields = notes.fields }
            if isComplete {
                fields = notes.fields
                self.isComplete = true
                return
            }
        }
    }

    /// What is noted while one example is decoded.
    fileprivate final class Notes {
        let text: String
        var fields: [Field] = []

        init(text: String) { self.text = text }

        func note(_ name: String, _ type: Any.Type, isOptional: Bool) {
            if fields.contains(where: { $0.name == name }) { return }
            var type = type
            var isOptional = isOptional
            if let optional = type as? any OptionalType.Type {
                type = optional.wrappedType
                isOptional = true
            }
            fields.append(
                Field(
                    name: name, type: "\(type)",
                    expectation: ParameterText.expectation(of: type), isOptional: isOptional,
                    isList: type is any ListType.Type, example: example(of: type)))
        }

        private func example(of type: Any.Type) -> String {
            switch type {
            case is Bool.Type: "true"
            case is Double.Type, is Float.Type, is any FixedWidthInteger.Type: "1"
            case is Duration.Type: "2s"
            case is DateTime.Type: "2026-03-01T09:41:00Z"
            case is JSONValue.Type: "null"
            case let type as any (CaseIterable & RawRepresentable).Type: first(of: type)
            case let type as any ListType.Type: example(of: type.elementType)
            default: ParameterText.isDate(type) ? "2026-03-01T09:41:00Z" : text
            }
        }

        private func first<T: CaseIterable & RawRepresentable>(of type: T.Type) -> String {
            T.allCases.first.map { "\($0.rawValue)" } ?? ""
        }
    }
}

/// Gives every question an answer.
private struct ExampleDecoder: Decoder, SingleValueDecodingContainer {
    let notes: RequestDescription.Notes
    /// How far below the request this is: only its own questions are parameters.
    var depth = 0

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ExampleContainer<Key>(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { ExampleList(decoder: self) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { true }
    func decode(_ type: String.Type) throws -> String { notes.text }
    func decode(_ type: Double.Type) throws -> Double { 1 }
    func decode(_ type: Float.Type) throws -> Float { 1 }
    func decode(_ type: Int.Type) throws -> Int { 1 }
    func decode(_ type: Int8.Type) throws -> Int8 { 1 }
    func decode(_ type: Int16.Type) throws -> Int16 { 1 }
    func decode(_ type: Int32.Type) throws -> Int32 { 1 }
    func decode(_ type: Int64.Type) throws -> Int64 { 1 }
    func decode(_ type: Int128.Type) throws -> Int128 { 1 }
    func decode(_ type: UInt.Type) throws -> UInt { 1 }
    func decode(_ type: UInt8.Type) throws -> UInt8 { 1 }
    func decode(_ type: UInt16.Type) throws -> UInt16 { 1 }
    func decode(_ type: UInt32.Type) throws -> UInt32 { 1 }
    func decode(_ type: UInt64.Type) throws -> UInt64 { 1 }
    func decode(_ type: UInt128.Type) throws -> UInt128 { 1 }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let known = Self.known(type) as? T { return known }
        // A type that holds itself would never end.
        guard depth < 16 else {
            throw DecodingError.dataCorruptedError(in: self, debugDescription: "nested too deep")
        }
        return try T(from: ExampleDecoder(notes: notes, depth: depth + 1))
    }

    private static func known(_ type: Any.Type) -> Any? {
        switch type {
        case is Duration.Type: Duration.seconds(2)
        case is DateTime.Type: DateTime(seconds: 1_772_358_060)
        case is JSONValue.Type: JSONValue.emptyObject
        case let type as any CaseIterable.Type: first(of: type)
        default: nil
        }
    }

    private static func first<T: CaseIterable>(of type: T.Type) -> Any? { T.allCases.first }
}

private struct ExampleContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ExampleDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    private func note(_ key: Key, _ type: Any.Type, isOptional: Bool = false) {
        if decoder.depth == 0 {
            decoder.notes.note(key.stringValue, type, isOptional: isOptional)
        }
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }

    private func integer<T: FixedWidthInteger>(_ key: Key) -> T {
        note(key, T.self)
        return 1
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        note(key, type)
        return true
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        note(key, type)
        return decoder.notes.text
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        note(key, type)
        return 1
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        note(key, type)
        return 1
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { integer(key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { integer(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { integer(key) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        note(key, type)
        return try decoder.decode(type)
    }

    // Each kind by itself, since those of the protocol ask for the value only where there is one.
    private func optional<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
        note(key, type, isOptional: true)
        return try decoder.decode(type)
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try optional(type, key)
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try optional(type, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        note(key, JSONValue.self)
        return try ExampleDecoder(notes: decoder.notes, depth: decoder.depth + 1)
            .container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        note(key, [JSONValue].self)
        return ExampleList(decoder: decoder)
    }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}

/// A list of one.
private struct ExampleList: UnkeyedDecodingContainer {
    let decoder: ExampleDecoder
    private(set) var currentIndex = 0

    init(decoder: ExampleDecoder) { self.decoder = decoder }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    var isAtEnd: Bool { currentIndex > 0 }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        currentIndex += 1
        return try decoder.decode(type)
    }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        currentIndex += 1
        return try ExampleDecoder(notes: decoder.notes, depth: decoder.depth + 1)
            .container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        currentIndex += 1
        return ExampleList(decoder: decoder)
    }
    mutating func superDecoder() throws -> any Decoder { decoder }
}
