/// The place of an event or a call in a distributed trace, as in W3C Trace Context.
///
/// The host passes it on unchanged: with an event to its modules, from there to what they send, post, open and call, and
/// into other processes.
///
/// Source: https://www.w3.org/TR/trace-context/#traceparent-header
package struct TraceContext: Hashable, Sendable {
    /// `traceparent`, of version 00: `00-<trace>-<parent>-<flags>`, 55 bytes.
    package let text: String
    /// The delivery or call of this host that it is in, as the record knows it; 0 for none.
    ///
    /// Other processes receive the text alone.
    private(set) var span: UInt64 = 0
    /// The delivery or call in which that one began; 0 for none.
    private(set) var parent: UInt64 = 0

    /// - Parameter text: A `traceparent`. Of a later version its first four fields are taken, as the source demands.
    /// - Returns: Nil for a text that is none.
    package init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.longest + 1))
        guard 55...Self.longest ~= bytes.count else { return nil }
        let dash = UInt8(ascii: "-")
        let isHexadecimal = bytes[..<55].enumerated().allSatisfy { place, byte in
            [2, 35, 52].contains(place)
                ? byte == dash
                : byte.isHexadecimalDigit
        }
        func isZero(_ places: Range<Int>) -> Bool {
            bytes[places].allSatisfy { $0 == UInt8(ascii: "0") }
        }
        guard isHexadecimal, !isZero(3..<35), !isZero(36..<52) else { return nil }
        let version = bytes[..<2]
        guard !version.elementsEqual("ff".utf8) else { return nil }
        if bytes.count > 55 {
            guard !version.elementsEqual("00".utf8), bytes[55] == dash else { return nil }
        }
        self.text = "00" + String(decoding: bytes[2..<55], as: UTF8.self)
    }

    /// The most bytes of a text that is read.
    private static let longest = 256

    /// Creates that of a text which an observer gives for what is a part of another trace, or of none.
    init?(_ text: String?, within outer: TraceContext?) {
        guard let text, let own = TraceContext(text) else { return nil }
        self = own
        if let outer, outer.id == id { span = outer.span }
    }

    /// Returns that of what modules do in a delivery or call that begins in this one.
    func begun() -> TraceContext {
        var context = self
        (context.span, context.parent) = (.random(in: 1 ... .max), span)
        return context
    }

    /// The id of the trace.
    var id: TraceID { TraceID(text.utf8.dropFirst(3).prefix(32)) }

    /// Whether its sender may have recorded it.
    var isSampled: Bool { (text.utf8.last.flatMap(hexadecimalValue) ?? 0) & 1 == 1 }

    /// The error for a text that is none.
    package static let expectation =
        "'00-', 32 and 16 hexadecimal digits in lower case that are not all 0, and two more, "
        + "with '-' in between, as W3C Trace Context has it"
}

/// The id of a trace: 32 hexadecimal digits, which name it everywhere.
package struct TraceID: Hashable, Sendable {
    let id: SIMD2<UInt64>

    /// Creates the id of these bytes; nil for zero, which is none.
    init?(_ id: SIMD2<UInt64>) {
        guard id != .zero else { return nil }
        self.id = id
    }

    /// - Parameter digits: 32 digits, checked.
    fileprivate init(_ digits: some Sequence<UInt8>) {
        var id = SIMD2<UInt64>()
        for (place, digit) in digits.enumerated() {
            id[place / 16] = id[place / 16] << 4 | UInt64(hexadecimalValue(digit) ?? 0)
        }
        self.id = id
    }

    /// Reads an id, or the one in a `traceparent`; nil for a text that is neither.
    package init?(_ text: String) {
        let whole = text.utf8.count == 32 ? "00-\(text)-0000000000000001-00" : text
        guard let trace = TraceContext(whole) else { return nil }
        self = trace.id
    }

    package var text: String { id[0].hexadecimal + id[1].hexadecimal }
}

extension TraceContext: Decodable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let trace = Self(try value.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "expected " + Self.expectation)
        }
        self = trace
    }
}

// MARK: The trace of running code

extension TraceContext {
    /// That of code that the lane does not know as its current work; nil where the lane knows it.
    @TaskLocal static var current: TraceContext?

    /// Runs code as a part of a trace; for nil, of the one that it has anyway.
    static func with<Result, Failure: Error>(
        _ trace: TraceContext?, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let trace else { return try body() }
        return try $current.withValue(trace) {
            Swift.Result { () throws(Failure) in try body() }
        }.get()
    }
}
