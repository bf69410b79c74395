/// The encoder that writes an `Encodable` value as JSON.
///
/// Keys keep the order in which a type encodes them. A `Duration` is text such as `"250ms"`, as
/// ``JSONValue/decode(_:)`` reads it; Foundation's date is text in ISO 8601, as routes read it. A number that
/// is not finite is an error: JSON has no representation for it.
package enum JSONEncoding {
    /// Returns the JSON text of a value, on one line.
    ///
    /// - Throws: `EncodingError`, and any error of the value's own `encode(to:)`.
    package static func bytes(_ value: any Encodable) throws -> [UInt8] {
        var writer = JSONWriter()
        try write(value, to: &writer)
        return writer.bytes
    }

    /// Writes a value where the writer stands.
    package static func write(_ value: any Encodable, to writer: inout JSONWriter) throws {
        let target = EncodedValue()
        try JSONValueEncoder(target: target, codingPath: []).encode(value)
        target.content.write(to: &writer)
    }
}

/// A value, whether it is encoded yet or not: containers of one object may be filled in turns.
private final class EncodedValue {
    var content = Content.none

    enum Content {
        case none
        case bool(Bool)
        case string(String)
        /// A value that is already JSON.
        case raw([UInt8])
        case array([EncodedValue])
        case object(Members)

        static func integer(_ integer: some FixedWidthInteger) -> Content {
            .raw(Array(integer.description.utf8))
        }

        func write(to writer: inout JSONWriter) {
            switch self {
            case .none: writer.null()
            case .bool(let bool): writer.value(bool)
            case .string(let string): writer.value(string)
            case .raw(let text): writer.raw(text)
            case .array(let elements):
                writer.array { writer in
                    for element in elements { element.content.write(to: &writer) }
                }
            case .object(let members):
                writer.object { writer in
                    for (key, value) in members.list {
                        writer.member(key) { value.content.write(to: &$0) }
                    }
                }
            }
        }
    }

    func append() -> EncodedValue {
        let target = EncodedValue()
        guard case .array(var elements) = content else {
            content = .array([target])
            return target
        }
        // Released first, so that the array is not copied.
        content = .none
        elements.append(target)
        content = .array(elements)
        return target
    }

    /// Returns the value of a member; of a repeated key, the last counts.
    func member(_ key: String) -> EncodedValue {
        let target = EncodedValue()
        var members = Members()
        if case .object(let present) = content { members = present }
        // Released first, as in `append`.
        content = .none
        members.set(key, target)
        content = .object(members)
        return target
    }

    /// The members of an object, in the order in which their keys were first encoded.
    struct Members {
        private(set) var list: [(key: String, value: EncodedValue)] = []
        /// The positions of the keys in the list, once it is too long to search for each key.
        private var positions: [String: Int] = [:]

        /// Sets a member, instead of the one with the same key.
        mutating func set(_ key: String, _ value: EncodedValue) {
            if let position = position(of: key) {
                list[position].value = value
            } else {
                list.append((key, value))
            }
        }

        private mutating func position(of key: String) -> Int? {
            guard list.count > 16 else { return list.firstIndex { $0.key == key } }
            // Those that were appended since the last search.
            for position in positions.count..<list.count {
                positions[list[position].key] = position
            }
            return positions[key]
        }
    }

    /// Makes it an object or an array even if it stays empty.
    func open(_ empty: Content) {
        if case .none = content { content = empty }
    }
}

private struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
    let target: EncodedValue
    let codingPath: [any CodingKey]
    /// The type of the value that encodes itself.
    var type: Any.Type?

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        target.open(.object(EncodedValue.Members()))
        return KeyedEncodingContainer(
            JSONKeyedEncodingContainer<Key>(target: target, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        target.open(.array([]))
        return JSONUnkeyedEncodingContainer(target: target, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { target.content = .none }
    func encode(_ value: Bool) { target.content = .bool(value) }
    func encode(_ value: String) { target.content = .string(value) }
    func encode(_ value: Float) throws { try encode(number: value) }

    func encode(_ value: Double) throws {
        guard let type, type != Double.self, isFoundationDate(type) else {
            return try encode(number: value)
        }
        guard let time = DateTime(secondsSince2001: value) else { throw invalid(value, "no date") }
        target.content = .string(time.description)
    }

    // The generic methods would leave these two to the protocol, which rejects them.
    func encode(_ value: Int128) { encode(integer: value) }
    func encode(_ value: UInt128) { encode(integer: value) }
    // The other integers of the standard library encode themselves by this one.
    func encode<T: FixedWidthInteger & Encodable>(_ value: T) { encode(integer: value) }

    func encode<T: Encodable>(_ value: T) throws {
        // By its type first: a cast that fails takes longer than all the rest.
        if T.self == JSONValue.self, let value = value as? JSONValue {
            target.content = .raw(value.plainBytes)
        } else if T.self == Duration.self, let value = value as? Duration {
            let text = DurationReader.text(of: value)
            guard (try? DurationReader.read(text)) == value else {
                throw invalid(
                    value, "a duration is whole milliseconds, more than none, 24h at most")
            }
            target.content = .string(text)
        } else {
            var encoder = self
            encoder.type = T.self
            try value.encode(to: encoder)
        }
    }

    private func encode(integer: some FixedWidthInteger) { target.content = .integer(integer) }

    private func encode<T: BinaryFloatingPoint & LosslessStringConvertible>(number: T) throws {
        guard number.isFinite else { throw invalid(number, "JSON has no word for \(number)") }
        target.content = .raw(Array(number.description.utf8))
    }

    private func invalid(_ value: Any, _ reason: String) -> EncodingError {
        .invalidValue(
            value, EncodingError.Context(codingPath: codingPath, debugDescription: reason))
    }
}

private struct JSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let target: EncodedValue
    let codingPath: [any CodingKey]

    private func child(_ key: any CodingKey) -> JSONValueEncoder {
        JSONValueEncoder(target: target.member(key.stringValue), codingPath: codingPath + [key])
    }

    /// Sets a member that cannot fail, without an encoder and a coding path for it.
    private func set(_ key: Key, _ content: EncodedValue.Content) {
        target.member(key.stringValue).content = content
    }

    func encodeNil(forKey key: Key) { set(key, .none) }
    func encode(_ value: Bool, forKey key: Key) { set(key, .bool(value)) }
    func encode(_ value: String, forKey key: Key) { set(key, .string(value)) }
    func encode(_ value: Double, forKey key: Key) throws { try child(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try child(key).encode(value) }
    func encode(_ value: Int128, forKey key: Key) { set(key, .integer(value)) }
    func encode(_ value: UInt128, forKey key: Key) { set(key, .integer(value)) }
    func encode<T: FixedWidthInteger & Encodable>(_ value: T, forKey key: Key) {
        set(key, .integer(value))
    }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try child(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { child(JSONCodingKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { child(key) }
}

private struct JSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let target: EncodedValue
    let codingPath: [any CodingKey]
    private(set) var count = 0

    init(target: EncodedValue, codingPath: [any CodingKey]) {
        self.target = target
        self.codingPath = codingPath
    }

    private mutating func child() -> JSONValueEncoder {
        defer { count += 1 }
        return JSONValueEncoder(
            target: target.append(), codingPath: codingPath + [JSONCodingKey(intValue: count)])
    }

    mutating func encodeNil() { child().encodeNil() }
    mutating func encode(_ value: Bool) { child().encode(value) }
    mutating func encode(_ value: String) { child().encode(value) }
    mutating func encode(_ value: Double) throws { try child().encode(value) }
    mutating func encode(_ value: Float) throws { try child().encode(value) }
    mutating func encode(_ value: Int128) { child().encode(value) }
    mutating func encode(_ value: UInt128) { child().encode(value) }
    mutating func encode<T: FixedWidthInteger & Encodable>(_ value: T) { child().encode(value) }
    mutating func encode<T: Encodable>(_ value: T) throws { try child().encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        child().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        child().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { child() }
}

extension JSONValue: Encodable {
    /// Writes the value as it is; only this package's own encoder can.
    public func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? JSONValueEncoder else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "a JSONValue can only be encoded as JSON by ModuleHost"))
        }
        try encoder.encode(self)
    }

    /// The text without secrets.
    fileprivate var plainBytes: [UInt8] { Array(redactedText.utf8) }
}
