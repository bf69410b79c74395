import AppService

extension JSONValue {
    /// Decodes a `T` from the value.
    ///
    /// Strict: a key that `T` does not ask for is an error (the most similar requested key is suggested), as
    /// are a missing key, another type, and a number that does not fit. Numbers are exact: an integer accepts
    /// no fraction or exponent. A `Duration` is text such as `"250ms"`, `"2s"`, `"1m"`; a ``JSONValue`` is
    /// taken as it is.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The decoded value.
    /// - Throws: Every diagnostic with its place: at most one that ended the decoding, and all the unknown
    ///   keys found until then.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(JSONError) -> T {
        do throws(UnplacedJSONError) {
            return try decodeWithoutPlaces()
        } catch {
            throw error.placed(in: document)
        }
    }

    /// Decodes a `T` as ``decode(_:)-(T.Type)`` does, and computes no places of diagnostics.
    func decodeWithoutPlaces<T: Decodable>(
        _ type: T.Type = T.self
    ) throws(UnplacedJSONError) -> T {
        let decoding = JSONDecoding(root: self)
        let value: T
        do {
            value = try decoding.decode(self)
        } catch let error as JSONError {
            throw .placed(error)
        } catch {
            throw .unplaced(decoding.unknownKeys + [decoding.diagnostic(of: error)])
        }
        let diagnostics = decoding.unknownKeys
        guard diagnostics.isEmpty else { throw .unplaced(diagnostics) }
        return value
    }
}

/// The diagnostics of a decoding before their places are computed, which reads the text from its start.
package enum UnplacedJSONError: Error {
    /// Diagnostics of the text that was decoded, each given by its offset.
    case unplaced([(offset: Int, kind: JSONDiagnostic.Kind)])
    /// The error of a value that a type decoded by itself, possibly from another text.
    case placed(JSONError)

    /// Returns the error with the places of its diagnostics.
    func placed(in document: JSONDocument) -> JSONError {
        switch self {
        case .unplaced(let diagnostics): JSONError(diagnostics, in: document)
        case .placed(let error): error
        }
    }

    /// The diagnostics, each given by its offset.
    var diagnostics: [(offset: Int, kind: JSONDiagnostic.Kind)] {
        switch self {
        case .unplaced(let diagnostics): diagnostics
        case .placed(let error): error.diagnostics.map { ($0.offset, $0.kind) }
        }
    }
}

/// A type on a hot path that decodes common values itself: the machinery of `Decodable` takes microseconds
/// for a handful of members.
protocol PlainlyDecodable: Decodable {
    /// Reads a value in the expected form; nil where anything differs, an unknown key included: `init(from:)`
    /// then reports the reason.
    init?(plain value: JSONValue)
}

extension JSONValue {
    /// Decodes a `T` from the value, as ``decode(_:)-(T.Type)`` does, and directly where the value is valid.
    func decode<T: PlainlyDecodable>(_ type: T.Type = T.self) throws(JSONError) -> T {
        if let result = T(plain: self) { return result }
        return try decodeByKeys()
    }

    private func decodeByKeys<T: Decodable>() throws(JSONError) -> T { try decode() }
}

/// One decoding: the state that all its containers share.
final class JSONDecoding {
    /// The keys of an object that were asked for, and those that no container of it has known so far.
    private struct Object {
        var unknown: Set<Int>
        var asked: [String] = []
    }

    /// An error in the middle of a decoding; its place is known where it is thrown.
    struct Failure: Error {
        let node: Int
        let kind: JSONDiagnostic.Kind
    }

    let root: JSONValue
    /// The keys of each object, by its node.
    ///
    /// A type may open the same object twice, with other keys: a key that one of them knows is not an error.
    private var objects: [Int: Object] = [:]

    /// Whether errors are collected, and blank values used in place of what could not be decoded.
    let collects: Bool
    /// The errors collected so far.
    var collected: [(offset: Int, kind: JSONDiagnostic.Kind)] = []

    init(root: JSONValue, collects: Bool = false) {
        self.root = root
        self.collects = collects
    }

    /// Notes that an object was opened with keys of which `unknown` (nodes) are not.
    func open(_ object: Int, unknown: Set<Int>) {
        if let known = objects[object] {
            objects[object]?.unknown = known.unknown.intersection(unknown)
        } else {
            objects[object] = Object(unknown: unknown)
        }
    }

    /// Notes that `key` was asked for: it may be the intended name of an unknown one.
    func ask(_ key: String, of object: Int) {
        objects[object]?.asked.append(key)
    }

    /// The first hundred unknown keys: a payload from outside may have a million.
    var unknownKeys: [(offset: Int, kind: JSONDiagnostic.Kind)] {
        let keys = objects.values.flatMap { object in
            object.unknown.map { (node: $0, asked: object.asked) }
        }
        return keys.sortedByNumber(\.node).prefix(100).map { key in
            let text = root.document.writtenString(key.node)
            let nearest = nearestName(to: text, in: key.asked)
            return (offset(of: key.node), .unknownKey(text, nearest: nearest))
        }
    }

    private func offset(of node: Int) -> Int { root.document.nodes[node].range.lowerBound }

    /// Decodes a `T` from `value`, including types of the standard library that need special treatment in
    /// JSON.
    func decode<T: Decodable>(_ value: JSONValue) throws -> T {
        if T.self == JSONValue.self, let result = value as? T { return result }
        if T.self == Duration.self, let result = try duration(value) as? T { return result }
        return try T(from: JSONValueDecoder(value: value, decoding: self))
    }

    private func duration(_ value: JSONValue) throws -> Duration {
        guard let text = value.string else {
            throw mismatch("a duration such as \"2s\"", value)
        }
        do {
            return try DurationReader.read(text)
        } catch {
            throw Failure(node: value.node, kind: .refused(error.description))
        }
    }

    func mismatch(_ expected: String, _ value: JSONValue) -> Failure {
        Failure(node: value.node, kind: .mismatch(expected: expected, found: value.inWords))
    }

    /// Returns the diagnostic for an error of a type's own `init(from:)`.
    func diagnostic(of error: any Error) -> (offset: Int, kind: JSONDiagnostic.Kind) {
        switch error {
        case let failure as Failure:
            return (offset(of: failure.node), redacted(failure.kind))
        case let error as DecodingError:
            let (node, kind) = diagnostic(of: error)
            return (offset(of: node), redacted(kind))
        default:
            return (offset(of: root.node), redacted(.refused("\(error)")))
        }
    }

    /// Returns the diagnostic with `•••` in place of text from the environment: the message of a type may
    /// contain its own value.
    private func redacted(_ kind: JSONDiagnostic.Kind) -> JSONDiagnostic.Kind {
        guard case .refused(let reason) = kind else { return kind }
        // The longest first: another secret may be part of it.
        let secrets = root.document.expansions.values.filter { $0.isSecret && !$0.text.isEmpty }
            .map { Array($0.text.utf8) }.sortedByNumber({ -$0.count })
        var rest = Array(reason.utf8)[...]
        var text: [UInt8] = []
        while let byte = rest.first {
            if let secret = secrets.first(where: { rest.starts(with: $0) }) {
                text += "•••".utf8
                rest = rest.dropFirst(secret.count)
            } else {
                text.append(byte)
                rest = rest.dropFirst()
            }
        }
        return .refused(String(decoding: text, as: UTF8.self))
    }

    private func diagnostic(of error: DecodingError) -> (node: Int, kind: JSONDiagnostic.Kind) {
        switch error {
        case .keyNotFound(let key, let context):
            return (value(at: context.codingPath).node, .missingKey(key.stringValue))
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            return (value(at: context.codingPath).node, .refused(context.debugDescription))
        @unknown default:
            return (root.node, .refused("\(error)"))
        }
    }

    /// Returns the value at `path` from the root, or at the longest part of it that exists.
    private func value(at path: [any CodingKey]) -> JSONValue {
        var value = root
        for key in path {
            let child =
                if let index = key.intValue, value.kind == .array {
                    value.elements.dropFirst(max(0, index)).first { _ in true }
                } else {
                    value[key.stringValue]
                }
            guard let child else { break }
            value = child
        }
        return value
    }
}

/// A key of a coding path.
struct JSONCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
