import FoundationEssentials
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("JSONEncoding")
struct JSONEncodingTests {
    enum Color: String, Codable { case red }
    struct Reply: Codable, Equatable {
        var text = "a\"b\n"
        var int = Int.min
        var big = UInt64.max
        var double = 0.1
        var float: Float = 1.5
        var yes = true
        var nothing: Int?
        var list = [[1], []]
        var map = ["k": 1]
        var color = Color.red
        var wait = Duration.milliseconds(1500)
        var time = DateTime(seconds: 0)
    }

    @Test("writes every kind of value, in the order of the keys")
    func kinds() throws {
        let bytes = try JSONEncoding.bytes(Reply())
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"text":"a\"b\n","int":-9223372036854775808,"big":18446744073709551615,"#
                + #""double":0.1,"float":1.5,"yes":true,"list":[[1],[]],"map":{"k":1},"#
                + #""color":"red","wait":"1500ms","time":"1970-01-01T00:00:00Z"}"#)
        #expect(try JSONValue(parsing: bytes).decode(Reply.self) == Reply())
    }

    static let values: [(any Encodable & Sendable, String)] = [
        (1, "1"), ("x", #""x""#), (true, "true"), ([Int](), "[]"), ([String: Int](), "{}"),
        (NoReply(), "null"), (Int?.none, "null"), ([1, nil] as [Int?], "[1,null]"),
        (Date(timeIntervalSince1970: 1.5), #""1970-01-01T00:00:01.5Z""#),
        ([Duration.seconds(2)], #"["2s"]"#),
        (Int128.max, "170141183460469231731687303715884105727"),
        ([Int128.min], "[-170141183460469231731687303715884105728]"),
        (["k": UInt128.max], #"{"k":340282366920938463463374607431768211455}"#),
        ([UInt128(7), nil] as [UInt128?], "[7,null]"), (["k": UInt8.max], #"{"k":255}"#),
        ([Level.high], "[2]"), (["k": Level.high], #"{"k":2}"#), (1.5, "1.5"),
        ([Float(0.5)], "[0.5]"),
        ([Date(timeIntervalSince1970: 0), nil] as [Date?], #"["1970-01-01T00:00:00Z",null]"#),
        (Seconds(value: 3), "3.0"), ([Seconds(value: 3)], "[3.0]"),
    ]

    enum Level: Int, Codable { case high = 2 }

    /// Writes a number, as Foundation's date does, and is none.
    struct Seconds: Encodable {
        let value: Double
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    @Test("writes a value by itself", arguments: values)
    func write(value: any Encodable & Sendable, expected: String) throws {
        #expect(try String(decoding: JSONEncoding.bytes(value), as: UTF8.self) == expected)
    }

    @Test("writes a JSON value as it stands")
    func json() throws {
        let value = try JSONValue(parsing: #"{"a": [1.50, null]}"#)
        #expect(
            try String(decoding: JSONEncoding.bytes(["v": value]), as: UTF8.self)
                == #"{"v":{"a": [1.50, null]}}"#)
    }

    @Test("lets containers be filled in turns, and a superclass have its own")
    func containers() throws {
        struct Turns: Encodable {
            enum Key: String, CodingKey { case a, b, c }
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Key.self)
                var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
                var list = outer.nestedUnkeyedContainer(forKey: .b)
                try outer.encode(1, forKey: .c)
                try inner.encode(2, forKey: .a)
                try list.encode(3)
                try 4.encode(to: outer.superEncoder())
                try list.encode(5)
            }
        }
        #expect(
            try String(decoding: JSONEncoding.bytes(Turns()), as: UTF8.self)
                == #"{"a":{"a":2},"b":[3,5],"c":1,"super":4}"#)
    }

    @Test(
        "of a repeated key the last value counts, in the place of the first, be the keys few or many",
        arguments: [1, 16, 17, 18, 40], 1...5 as ClosedRange<UInt64>)
    func repeatedKeys(count: Int, seed: UInt64) throws {
        struct Repeating: Encodable {
            let members: [(key: String, value: Int)]
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: JSONCodingKey.self)
                for (key, value) in members {
                    try container.encode(value, forKey: JSONCodingKey(stringValue: key))
                }
            }
        }
        var random = SeededGenerator(seed: seed)
        let members = (0..<count).map { ("k\(Int.random(in: 0..<30, using: &random))", $0) }
        let keys = members.enumerated().filter { index, member in
            !members[..<index].contains { $0.0 == member.0 }
        }.map(\.element.0)
        let expected = keys.map { key in
            "\"\(key)\":\(members.last { $0.0 == key }?.1 ?? -1)"
        }
        #expect(
            try String(decoding: JSONEncoding.bytes(Repeating(members: members)), as: UTF8.self)
                == "{\(expected.joined(separator: ","))}")
    }

    @Test(
        "many keys are encoded in time that grows with their number", .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    func manyKeys() throws {
        let count = 100_000
        let values = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key\($0)", $0) })
        let bytes = try JSONEncoding.bytes(values)
        #expect(try JSONValue(parsing: bytes).decode([String: Int].self) == values)
    }

    /// Returns the app's settings of a slatefile, with a variable of the environment.
    private func settings(_ text: String) throws -> JSONValue {
        let slatefile = #"""
            {"slate":1,"app":"a","config":\#(text),"modules":[{"id":"a.b","entry":"A.B","main":true}]}
            """#
        return try #require(
            Slatefile.read(
                Array(slatefile.utf8), path: "slatefile.json", environment: { _ in "secret" }
            ).config)
    }

    @Test("writes a value of the settings without the secrets in it")
    func secrets() throws {
        let config = try settings(
            #"{"a": ["${X}", {"b": "${X}", "$${": "$${"}, []], "c": "${X}", "d": "plain"}"#)
        var values = [config]
        var count = 0
        while let value = values.popLast() {
            let expected = value.text.replacing(#""${X}""#, with: #""•••""#)
            #expect(try String(decoding: JSONEncoding.bytes(value), as: UTF8.self) == expected)
            values += value.members.map(\.value) + value.elements
            count += 1
        }
        #expect(count == 9)
    }

    @Test(
        "values are written in time that grows with the number of secrets", .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    func manySecrets() throws {
        let count = 100_000
        let secrets = Array(repeating: #""${X}""#, count: count).joined(separator: ",")
        let list = try #require(settings(#"{"list":[\#(secrets)]}"#)["list"])
        let values = Array(list.elements)
        #expect(
            try JSONEncoding.bytes(values).count == 2 + count * #""•••","#.utf8.count - 1)
    }

    @Test("refuses what JSON has no word for", arguments: [Double.nan, .infinity])
    func notFinite(number: Double) {
        #expect(throws: EncodingError.self) { try JSONEncoding.bytes([number]) }
        #expect(throws: EncodingError.self) { try JSONEncoding.bytes(Duration.nanoseconds(1)) }
    }
}
