import CHiredis
import EventStreams

/// A reply of Redis, copied out of hiredis.
indirect enum RedisReply: Hashable, Sendable {
    case status([UInt8])
    case error([UInt8])
    case integer(Int64)
    case bytes([UInt8])
    case array([RedisReply])
    case null

    /// Copies a reply, whose nesting hiredis has bounded.
    init(_ reply: redisReply) {
        switch reply.type {
        case REDIS_REPLY_STATUS: self = .status(Self.bytes(of: reply))
        case REDIS_REPLY_ERROR: self = .error(Self.bytes(of: reply))
        case REDIS_REPLY_STRING: self = .bytes(Self.bytes(of: reply))
        case REDIS_REPLY_INTEGER: self = .integer(reply.integer)
        case REDIS_REPLY_ARRAY:
            self = .array(
                (0..<reply.elements).map { index in
                    (reply.element?[index]?.pointee).map { RedisReply($0) } ?? .null
                })
        default: self = .null
        }
    }

    private static func bytes(of reply: redisReply) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: reply.str, count: reply.str == nil ? 0 : reply.len))
    }

    /// The text of a status or a value, if it is UTF-8.
    var text: String? {
        switch self {
        case .status(let bytes), .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// The bytes of a value.
    var value: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The elements of an array.
    var elements: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of an error, if the reply is one.
    var errorText: String? {
        if case .error(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    /// Values by their names: an array of names and values, as Redis gives hashes and facts.
    var pairs: [String: RedisReply]? {
        guard let elements, elements.count.isMultiple(of: 2) else { return nil }
        var pairs: [String: RedisReply] = [:]
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard let name = elements[index].text else { return nil }
            pairs[name] = elements[index + 1]
        }
        return pairs
    }

    /// The kind of the reply, for messages.
    var kind: String {
        switch self {
        case .status(let bytes): "the status \(quoted(bytes))"
        case .error(let bytes): "the error \(quoted(bytes))"
        case .integer(let number): "the number \(number)"
        case .bytes(let bytes): "a value of \(bytes.count) bytes"
        case .array(let elements): "an array of \(elements.count)"
        case .null: "nothing"
        }
    }
}
