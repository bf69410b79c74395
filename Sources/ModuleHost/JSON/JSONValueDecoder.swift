/// The decoder of one value.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    let decoding: JSONDecoding

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Computed on access: only a type that reports an error of its own asks for it.
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var current = decoding.root
        descent: while current.node != value.node {
            for (index, child) in current.elements.enumerated() where child.holds(value) {
                path.append(JSONCodingKey(intValue: index))
                current = child
                continue descent
            }
            for member in current.members where member.value.holds(value) {
                path.append(JSONCodingKey(stringValue: member.key))
                current = member.value
                continue descent
            }
            break
        }
        return path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard value.kind == .object else { throw decoding.mismatch("an object", value) }
        return KeyedDecodingContainer(JSONKeyedContainer<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard value.kind == .array else { throw decoding.mismatch("an array", value) }
        return JSONUnkeyedContainer(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    // MARK: Single values

    func decodeNil() -> Bool { value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let bool = value.bool else { throw decoding.mismatch("true or false", value) }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard let string = value.string else { throw decoding.mismatch("a string", value) }
        return string
    }

    func decode(_ type: Double.Type) throws -> Double { try number(Double.init, \.isFinite) }
    func decode(_ type: Float.Type) throws -> Float { try number(Float.init, \.isFinite) }
    // The generic method would leave these two to the protocol, which rejects them.
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T { try integer() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoding.decode(value) }

    private func integer<T: FixedWidthInteger>() throws -> T {
        if let integer = value.integer(T.self) { return integer }
        guard value.kind == .number, value.isWhole else {
            throw decoding.mismatch("a whole number", value)
        }
        throw JSONDecoding.Failure(
            node: value.node, kind: .outOfRange(value.text, type: "\(T.self)"))
    }

    private func number<T>(_ make: (String) -> T?, _ isFinite: (T) -> Bool) throws -> T {
        guard value.kind == .number else { throw decoding.mismatch("a number", value) }
        if let number = make(value.text), isFinite(number) { return number }
        throw JSONDecoding.Failure(
            node: value.node, kind: .outOfRange(value.text, type: "\(T.self)"))
    }
}

/// The members of one object, as one type's keys see them.
private struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: JSONValueDecoder
    /// The values by key, for an object that is too large to search for each key.
    private let index: [String: JSONValue]?
    /// Whether the keys that are asked for matter: one of them may be the intended name of an unknown one.
    private let hasUnknown: Bool

    init(_ decoder: JSONValueDecoder) {
        self.decoder = decoder
        let value = decoder.value
        var unknown: Set<Int> = []
        var index: [String: JSONValue] = [:]
        let isLarge = value.count > 16
        for member in value.members {
            if Key(stringValue: member.key) == nil { unknown.insert(member.value.node - 1) }
            if isLarge { index[member.key] = member.value }
        }
        self.index = isLarge ? index : nil
        hasUnknown = !unknown.isEmpty
        decoder.decoding.open(value.node, unknown: unknown)
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] { decoder.value.members.compactMap { Key(stringValue: $0.key) } }

    private func find(_ key: any CodingKey) -> JSONValue? {
        if hasUnknown { decoder.decoding.ask(key.stringValue, of: decoder.value.node) }
        return index.map { $0[key.stringValue] } ?? decoder.value[key.stringValue]
    }

    private func child(_ key: any CodingKey) throws -> JSONValueDecoder {
        guard let value = find(key) else {
            throw JSONDecoding.Failure(
                node: decoder.value.node, kind: .missingKey(key.stringValue))
        }
        return JSONValueDecoder(value: value, decoding: decoder.decoding)
    }

    /// Decodes the value of a key.
    @inline(__always)
    private func value<T: Decodable>(
        _ key: Key, _ read: (JSONValueDecoder) throws -> T
    ) throws -> T {
        do {
            return try read(child(key))
        } catch {
            let value = decoder.value[key.stringValue] ?? decoder.value
            return try decoder.decoding.blank(after: error, of: value)
        }
    }

    /// Decodes the value of a key that may be missing or `null`.
    @inline(__always)
    private func valueIfPresent<T: Decodable>(
        _ key: Key, _ read: (JSONValueDecoder) throws -> T
    ) throws -> T? {
        guard let child = childIfPresent(key) else { return nil }
        do {
            return try read(child)
        } catch  where decoder.decoding.mayCollect(error) {
            decoder.decoding.collect(error, of: child.value)
            return nil
        }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try child(key).decodeNil() }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try value(key) { try $0.decode(type) }
    }

    /// Returns the value of a key that may be missing or `null`, with one search instead of three.
    private func childIfPresent(_ key: Key) -> JSONValueDecoder? {
        guard let value = find(key), !value.isNull else { return nil }
        return JSONValueDecoder(value: value, decoding: decoder.decoding)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try valueIfPresent(key) { try $0.decode(type) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try valueIfPresent(key) { try $0.decode(type) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try valueIfPresent(key) { try $0.decode(type) }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try valueIfPresent(key) { try $0.decode(type) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try valueIfPresent(key) { try $0.decode(type) }
    }

    // The common types by themselves, which is faster.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try value(key) { try $0.decode(type) }
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try value(key) { try $0.decode(type) }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try value(key) { try $0.decode(type) }
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try value(key) { try $0.decode(type) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        try child(JSONCodingKey(stringValue: "super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }
}

/// The elements of one array, from the first on.
private struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let decoder: JSONValueDecoder
    private var rest: JSONValue.Elements
    let count: Int?
    private(set) var currentIndex = 0

    init(_ decoder: JSONValueDecoder) {
        self.decoder = decoder
        rest = decoder.value.elements
        count = decoder.value.count
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var isAtEnd: Bool { rest.position >= rest.end }

    private mutating func child() throws -> JSONValueDecoder {
        guard let value = rest.next() else {
            throw JSONDecoding.Failure(
                node: decoder.value.node,
                kind: .refused("expected more than \(currentIndex) elements")
            )
        }
        currentIndex += 1
        return JSONValueDecoder(value: value, decoding: decoder.decoding)
    }

    /// Advances only if there is a `null`, as the protocol requires.
    mutating func decodeNil() throws -> Bool {
        let here = (rest, currentIndex)
        let isNull = try child().decodeNil()
        if !isNull { (rest, currentIndex) = here }
        return isNull
    }

    /// Decodes the next element.
    @inline(__always)
    private mutating func value<T: Decodable>(
        _ read: (JSONValueDecoder) throws -> T
    ) throws -> T {
        let child = try child()
        do {
            return try read(child)
        } catch {
            return try decoder.decoding.blank(after: error, of: child.value)
        }
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try value { try $0.decode(type) }
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try value { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try value { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try value { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try value { try $0.decode(type) } }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try child().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try child().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try child() }
}

extension JSONValue: Decodable {
    /// Takes the current value as it is; only ``decode(_:)`` can provide one.
    public init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? JSONValueDecoder else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "a JSONValue can only be decoded from a JSONValue"))
        }
        self = decoder.value
    }

    /// Returns whether `other` is this value or one below it.
    fileprivate func holds(_ other: JSONValue) -> Bool {
        node <= other.node && other.node < document.nodes[node].next
    }

    /// Whether the value is a number written without fraction or exponent.
    fileprivate var isWhole: Bool {
        document.nodes[node].kind == .number
            && !document.nodes[node].flags.contains(.fractional)
    }
}
