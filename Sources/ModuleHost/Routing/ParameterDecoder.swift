extension RouteParameters {
    /// Decodes a `T` from the parameters.
    ///
    /// Whole numbers are exact, booleans `true`, `false`, `1` or `0`, enums their raw values, arrays the
    /// values of a repeated name or of a catch-all, times ISO 8601 (``DateTime``), a `Duration` text such as
    /// `2s`; nested values are JSON text. A parameter that takes one value and has several is an error.
    /// Parameters that `T` does not ask for are ignored.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The request.
    /// - Throws: The first parameter that is missing or malformed.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(ParameterError) -> T {
        do {
            if T.self == NoParameters.self { return try decodeNone() }
            return try T(from: ParameterDecoder(parameters: self))
        } catch {
            throw ParameterError(error, in: self)
        }
    }

    /// Decodes a type that takes no parameters.
    ///
    /// Not inlined: a cast that may fail asks the runtime for the optional type, which took a sixth of a
    /// call with two parameters.
    @inline(never)
    private func decodeNone<T: Decodable>() throws -> T {
        try NoParameters() as? T ?? T(from: ParameterDecoder(parameters: self))
    }
}

extension ParameterError {
    /// Creates the error that an error of a type's own `init(from:)` stands for.
    fileprivate init(_ error: any Error, in parameters: RouteParameters) {
        switch error {
        case let error as ParameterError: self = error
        case DecodingError.keyNotFound(let key, _):
            self.init(name: key.stringValue, kind: .missing(expected: "a value"))
        case DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.dataCorrupted(let context):
            let name = context.codingPath.first?.stringValue ?? ""
            self.init(
                name: name,
                kind: .refused(value: parameters[name], context.debugDescription))
        default: self.init(name: "", kind: .refused(value: nil, "\(error)"))
        }
    }
}

/// The decoder of a request: it has a keyed container and nothing else.
private struct ParameterDecoder: Decoder {
    let parameters: RouteParameters

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ParameterContainer<Key>(parameters: parameters))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw ParameterError(name: "", kind: .request("an array"))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw ParameterError(name: "", kind: .request("a single value"))
    }
}

private struct ParameterContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let parameters: RouteParameters

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { parameters.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { parameters.contains(key.stringValue) }
    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    /// Returns the one value of a parameter.
    private func value(_ key: Key, for type: Any.Type) throws -> ParameterValue {
        let name = key.stringValue
        let found = parameters.look(up: name)
        if found.count == 1, let text = found.first {
            return ParameterValue(name: name, text: text)
        }
        throw ParameterError(
            name: name,
            kind: found.count > 1
                ? .repeated(found.count)
                : .missing(expected: ParameterText.expectation(of: type)))
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try value(key, for: type).bool()
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try value(key, for: type).text
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try value(key, for: type).number(Double.init, type)
    }
    @inline(__always)
    private func integer<T: FixedWidthInteger>(_ key: Key) throws -> T {
        try value(key, for: T.self).integer()
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    // The generic method would leave these two to the protocol, which rejects them.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard contains(key) else {
            throw ParameterError(
                name: key.stringValue, kind: .missing(expected: ParameterText.expectation(of: type))
            )
        }
        return try decodePresent(type, key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        contains(key) ? try decodePresent(type, key) : nil
    }

    private func decodePresent<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
        let values = parameters.values(of: key.stringValue) ?? []
        return try ParameterValueDecoder(name: key.stringValue, values: values, type: type)
            .decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw DecodingError.dataCorruptedError(
            forKey: key, in: self, debugDescription: "nested values are JSON; give them a type")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let values = parameters.values(of: key.stringValue) ?? []
        return ParameterList(name: key.stringValue, values: values)
    }

    func superDecoder() throws -> any Decoder { ParameterDecoder(parameters: parameters) }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        ParameterDecoder(parameters: parameters)
    }
}

/// The text of one parameter, readable as a number, a word and so on.
private struct ParameterValue {
    let name: String
    let text: String

    func mismatch(_ type: Any.Type) -> ParameterError {
        let expected = ParameterText.expectation(of: type)
        return ParameterError(name: name, kind: .mismatch(value: text, expected: expected))
    }

    func bool() throws -> Bool {
        guard let bool = ParameterText.bool(text) else { throw mismatch(Bool.self) }
        return bool
    }

    /// Returns a whole number.
    ///
    /// In line, for one type each: the containers are generic, and the same code for any type of number takes five times
    /// as long.
    @inline(__always)
    func integer<T: FixedWidthInteger>() throws -> T {
        if let integer = ParameterText.integer(text, T.self) { return integer }
        throw noInteger(T.self)
    }

    private func noInteger(_ type: Any.Type) -> ParameterError {
        guard ParameterText.isWhole(text) else { return mismatch(type) }
        return ParameterError(name: name, kind: .outOfRange(value: text, type: "\(type)"))
    }

    func number<T: BinaryFloatingPoint>(_ make: (String) -> T?, _ type: T.Type) throws -> T {
        guard ParameterText.isDecimal(text), let number = make(text) else { throw mismatch(type) }
        if number.isFinite { return number }
        throw ParameterError(name: name, kind: .outOfRange(value: text, type: "\(type)"))
    }
}

/// An error that is thrown where a type decodes nested values: then the value is JSON text.
private struct ParameterJSONRequest: Error {}

/// The decoder of the values of one parameter.
private struct ParameterValueDecoder: Decoder, SingleValueDecodingContainer {
    let name: String
    let values: [String]
    /// The type to decode.
    let type: Any.Type

    var codingPath: [any CodingKey] { [JSONCodingKey(stringValue: name)] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw ParameterJSONRequest()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ParameterList(name: name, values: values)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    private func one() throws -> ParameterValue {
        guard values.count == 1 else {
            throw ParameterError(name: name, kind: .repeated(values.count))
        }
        return ParameterValue(name: name, text: values[0])
    }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { try one().bool() }
    func decode(_ type: String.Type) throws -> String { try one().text }
    func decode(_ type: Float.Type) throws -> Float { try one().number(Float.init, type) }

    /// Decodes a number or, for Foundation's date, the seconds since 2001.
    func decode(_ type: Double.Type) throws -> Double {
        let value = try one()
        guard isFoundationDate(self.type) else { return try value.number(Double.init, type) }
        guard let time = DateTime(value.text) else { throw value.mismatch(DateTime.self) }
        return time.secondsSince2001
    }

    @inline(__always)
    private func integer<T: FixedWidthInteger>() throws -> T { try one().integer() }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T { try integer() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        do {
            if T.self == Duration.self, let duration = try duration() as? T { return duration }
            if T.self == JSONValue.self { return try decodeJSON(type) }
            return try T(from: ParameterValueDecoder(name: name, values: values, type: type))
        } catch is ParameterJSONRequest {
            return try decodeJSON(type)
        } catch let error as DecodingError {
            throw parameterError(of: error, type)
        }
    }

    private func duration() throws -> Duration {
        let value = try one()
        do { return try DurationReader.read(value.text) } catch {
            throw ParameterError(name: name, kind: .refused(value: value.text, error.description))
        }
    }

    func decodeJSON<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try one()
        do throws(JSONError) { return try JSONValue(parsing: value.text).decode(type) } catch {
            throw ParameterError(name: name, kind: .refused(value: value.text, error.description))
        }
    }

    private func parameterError(of error: DecodingError, _ type: Any.Type) -> ParameterError {
        if type is any (CaseIterable & RawRepresentable).Type, values.count == 1 {
            return ParameterValue(name: name, text: values[0]).mismatch(type)
        }
        let reason =
            switch error {
            case .keyNotFound(_, let context), .typeMismatch(_, let context),
                .valueNotFound(_, let context), .dataCorrupted(let context):
                context.debugDescription
            @unknown default: "\(error)"
            }
        return ParameterError(name: name, kind: .refused(value: values.first, reason))
    }
}

/// The values of one parameter as an array: each is one element.
private struct ParameterList: UnkeyedDecodingContainer {
    let name: String
    let values: [String]
    private(set) var currentIndex = 0

    init(name: String, values: [String]) {
        self.name = name
        self.values = values
    }

    var codingPath: [any CodingKey] { [JSONCodingKey(stringValue: name)] }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    private mutating func next<T: Decodable>(_ type: T.Type) throws -> T {
        guard !isAtEnd else {
            throw ParameterError(
                name: name, kind: .refused(value: nil, "expected more than \(values.count) values"))
        }
        let value = values[currentIndex]
        let decoder = ParameterValueDecoder(name: name, values: [value], type: type)
        // A list in the list is JSON text, as is every other nested value.
        let result =
            T.self is any ListType.Type
            ? try decoder.decodeJSON(type) : try decoder.decode(type)
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool { false }
    // The generic method would leave these two to the protocol, which rejects them.
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next(type) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        throw ParameterJSONRequest()
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw ParameterJSONRequest()
    }

    mutating func superDecoder() throws -> any Decoder { throw ParameterJSONRequest() }
}
