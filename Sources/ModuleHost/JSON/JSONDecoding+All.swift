/// Decoding that continues after an error, so that all of them are reported.
extension JSONValue {
    /// Decodes a `T` from the value, and reports the errors of all its parts.
    ///
    /// For settings, which a person corrects: ``decode(_:)`` ends at the first error. In place of a part that
    /// cannot be decoded a blank value is used, and the rest is decoded; the result is discarded then.
    ///
    /// - Throws: Every diagnostic with its place, at most 100.
    func decodeReportingAll<T: Decodable>(_ type: T.Type = T.self) throws(JSONError) -> T {
        do throws(UnplacedJSONError) {
            return try decodeReportingAllWithoutPlaces()
        } catch {
            throw error.placed(in: document)
        }
    }

    /// Decodes a `T` as ``decodeReportingAll(_:)`` does, and computes no places of diagnostics.
    func decodeReportingAllWithoutPlaces<T: Decodable>(
        _ type: T.Type = T.self
    ) throws(UnplacedJSONError) -> T {
        let first: UnplacedJSONError
        do throws(UnplacedJSONError) {
            return try decodeWithoutPlaces(type)
        } catch {
            first = error
        }
        let decoding = JSONDecoding(root: self, collects: true)
        do {
            _ = try decoding.decode(self) as T
        } catch {
            if decoding.mayCollect(error) { decoding.collect(error, of: self) }
        }
        let diagnostics = (decoding.unknownKeys + decoding.collected).sortedByNumber(\.offset)
        throw diagnostics.isEmpty ? first : .unplaced(diagnostics)
    }
}

extension JSONDecoding {
    /// The largest number of errors that are collected.
    static let collectedLimit = 100

    /// Returns whether an error is to be collected, so that the decoding goes on.
    func mayCollect(_ error: any Error) -> Bool {
        collects && collected.count < Self.collectedLimit && !(error is JSONError)
    }

    /// Collects an error.
    ///
    /// An error of a type's own may be one about a blank value: it is dropped where a part of the value has an
    /// error already.
    ///
    /// - Parameter value: The value whose decoding threw it.
    func collect(_ error: any Error, of value: JSONValue) {
        let nodes = root.document.nodes
        let start = nodes[value.node].range.lowerBound
        let next = Int(nodes[value.node].next)
        let end = next < nodes.count ? nodes[next].range.lowerBound : Int.max
        if !(error is Failure), collected.contains(where: { start..<end ~= $0.offset }) { return }
        collected.append(diagnostic(of: error))
    }

    /// Returns a blank value in place of one that could not be decoded, and collects the error.
    ///
    /// - Parameter value: The value whose decoding threw it.
    /// - Throws: The error, where it is not to be collected or the type has no blank value.
    func blank<T: Decodable>(
        _ type: T.Type = T.self, after error: any Error, of value: JSONValue
    ) throws -> T {
        guard mayCollect(error), let blank = BlankDecoder.value(of: type) else { throw error }
        collect(error, of: value)
        return blank
    }
}

/// A decoder without a value: each type makes the simplest value of itself.
struct BlankDecoder: Decoder, SingleValueDecodingContainer, UnkeyedDecodingContainer {
    /// A type that has no blank value, such as one that contains itself.
    private struct NoBlank: Error {}

    private let depth: Int

    /// Returns a blank value: zero, an empty text, the first case of an enum, nothing that is optional; nil
    /// for a type that has none.
    static func value<T: Decodable>(of type: T.Type) -> T? {
        try? BlankDecoder(depth: 0).decode(type)
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(decoder: self))
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { self }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
    func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) -> KeyedDecodingContainer<Key> { container(keyedBy: type) }
    func superDecoder() -> any Decoder { self }

    func decodeNil() -> Bool { true }
    func decode(_ type: Bool.Type) -> Bool { false }
    func decode(_ type: String.Type) -> String { "" }
    func decode(_ type: Double.Type) -> Double { 0 }
    func decode(_ type: Float.Type) -> Float { 0 }
    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) -> T { 0 }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard depth < 32 else { throw NoBlank() }
        if let known = JSONValue.emptyObject as? T ?? Duration.zero as? T { return known }
        if let cases = type as? any CaseIterable.Type, let first = Self.first(cases) as? T {
            return first
        }
        return try T(from: BlankDecoder(depth: depth + 1))
    }

    private static func first<T: CaseIterable>(_ type: T.Type) -> Any? { T.allCases.first }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: BlankDecoder

        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }
        func contains(_ key: Key) -> Bool { false }
        func decodeNil(forKey key: Key) -> Bool { true }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            try decoder.decode(type)
        }
        func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type, forKey key: Key
        ) -> KeyedDecodingContainer<NestedKey> { decoder.container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder }
        func superDecoder() -> any Decoder { decoder }
        func superDecoder(forKey key: Key) -> any Decoder { decoder }
    }
}
