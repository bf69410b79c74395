import FoundationEssentials
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Parameters as a request")
struct ParameterDecoderTests {
    enum Color: String, Codable, CaseIterable, Sendable {
        case red
        case green
    }
    struct Point: Codable, Hashable, Sendable {
        var x: Int
        var y: Int?
    }
    struct Everything: Decodable, Sendable {
        var int: Int?
        var byte: UInt8?
        var big: Int128?
        var double: Double?
        var flag: Bool?
        var text: String?
        var color: Color?
        var colors: [Color]?
        var ids: [Int]?
        var time: DateTime?
        var date: Date?
        var wait: Duration?
        var point: Point?
        var points: [Point]?
        var grid: [[Int]]?
        var set: Set<String>?
        var json: JSONValue?
        var words: [String: String]?
    }
    struct Needed: Decodable, Sendable {
        var id: Int
        var color: Color
        var tags: [String]
    }

    func everything(_ query: String) throws -> Everything {
        let table = try RouteTable("r/*rest")
        let match = try #require(try table.match(RouteURL("s://r?\(query)")))
        return try match.parameters.decode()
    }

    @Test("reads every kind of value")
    func kinds() throws {
        #expect(try everything("int=-9223372036854775808").int == .min)
        #expect(try everything("int=007&byte=255").byte == 255)
        #expect(try everything("big=170141183460469231731687303715884105727").big == .max)
        #expect(try everything("double=-1.5e3").double == -1500)
        for (text, value) in [("true", true), ("1", true), ("false", false), ("0", false)] {
            #expect(try everything("flag=\(text)").flag == value)
        }
        #expect(try everything("text=").text == "")
        #expect(try everything("color=green&colors=red&colors=green").colors == [.red, .green])
        #expect(try everything("ids=3&ids=1").ids == [3, 1])
        #expect(
            try everything("time=2026-03-01T10:41:00.5%2B01:00").time?.description
                == "2026-03-01T09:41:00.5Z")
        #expect(
            try everything("date=2026-03-01T09:41:00Z").date
                == Date(timeIntervalSince1970: 1_772_358_060))
        #expect(try everything("wait=250ms").wait == .milliseconds(250))
        #expect(try everything(#"point=%7B%22x%22:1%7D"#).point == Point(x: 1))
        #expect(
            try everything(#"points=%7B%22x%22:1%7D&points=%7B%22x%22:2%7D"#).points?.map(\.x) == [
                1, 2,
            ])
        #expect(try everything("grid=[1,2]&grid=[]").grid == [[1, 2], []])
        #expect(try everything("set=a&set=b&set=a").set == ["a", "b"])
        #expect(try everything("json=[null]").json?.count == 1)
        #expect(try everything("words=%7B%22a%22:%22b%22%7D").words == ["a": "b"])
        #expect(try everything("other=1").int == nil)
    }

    static let errors: [(query: String, message: String)] = [
        ("int=red", "parameter 'int': expected a whole number, found 'red'"),
        ("int=1.0", "parameter 'int': expected a whole number, found '1.0'"),
        ("int=+1", "parameter 'int': expected a whole number, found '+1'"),
        ("int=", "parameter 'int': expected a whole number, found ''"),
        ("byte=256", "parameter 'byte': 256 does not fit UInt8"),
        ("byte=-1", "parameter 'byte': -1 does not fit UInt8"),
        ("double=nan", "parameter 'double': expected a number, found 'nan'"),
        ("double=0x10", "parameter 'double': expected a number, found '0x10'"),
        ("double=1e999", "parameter 'double': 1e999 does not fit Double"),
        ("flag=yes", "parameter 'flag': expected true, false, 1 or 0, found 'yes'"),
        ("flag", "parameter 'flag': expected true, false, 1 or 0, found ''"),
        ("color=blue", "parameter 'color': expected one of 'red', 'green', found 'blue'"),
        ("colors=red&colors=x", "parameter 'colors': expected one of 'red', 'green', found 'x'"),
        ("ids=1&ids=b", "parameter 'ids': expected a whole number, found 'b'"),
        ("int=1&int=2", "parameter 'int' is given 2 times; it takes one value"),
        ("color=red&color=red", "parameter 'color' is given 2 times; it takes one value"),
        ("wait=1s&wait=1s&wait=1s", "parameter 'wait' is given 3 times; it takes one value"),
        (
            "time=2026-02-29T00:00:00Z",
            "parameter 'time': '2026-02-29T00:00:00Z': expected a time such as 2026-03-01T09:41:00Z"
        ),
        (
            "date=yesterday",
            "parameter 'date': expected a time such as 2026-03-01T09:41:00Z, found 'yesterday'"
        ),
        ("wait=5", "parameter 'wait': '5': a duration needs its unit: \"5ms\", \"5s\" or \"5m\"?"),
        (
            "point=%7B%22x%22:true%7D",
            "parameter 'point': '{\"x\":true}': line 1, column 6 (/x): expected a whole number, found true"
        ),
        ("point=x", "parameter 'point': 'x': line 1, column 1: unknown word 'x'; write \"x\""),
    ]

    @Test("names parameter, value and what was expected", arguments: errors)
    func error(query: String, message: String) {
        do {
            _ = try everything(query)
            Issue.record("taken")
        } catch {
            if message.contains("unknown word") {
                #expect("\(error)".hasPrefix("parameter 'point': 'x': line 1, column 1"))
            } else {
                #expect("\(error)" == message)
            }
        }
    }

    static let missing: [(KeyValuePairs<String, [String]>, String)] = [
        ([:], "parameter 'id' is missing: expected a whole number"),
        (["id": ["1"]], "parameter 'color' is missing: expected one of 'red', 'green'"),
        (
            ["id": ["1"], "color": ["red"]],
            "parameter 'tags' is missing: expected values, each text"
        ),
    ]

    @Test("says what is missing", arguments: missing)
    func report(parameters: KeyValuePairs<String, [String]>, message: String) {
        do {
            _ = try RouteParameters(parameters).decode(Needed.self)
            Issue.record("taken")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test("takes a catch-all as an array, an empty one too, and a placeholder before the query")
    func path() throws {
        struct Files: Decodable { var rest: [String] }
        struct Item: Decodable { var id: Int }
        let table = try RouteTable("files/*rest", "item/:id")
        let files = try #require(try table.match(RouteURL("s://files/a%2Fb/c?rest=evil")))
        #expect(try files.parameters.decode(Files.self).rest == ["a/b", "c"])
        let none = try #require(try table.match(RouteURL("s://files?rest=evil")))
        #expect(try none.parameters.decode(Files.self).rest == [])
        let item = try #require(try table.match(RouteURL("s://item/7?id=8&id=9")))
        #expect(try item.parameters.decode(Item.self).id == 7)
        #expect(item.parameters.values(of: "id") == ["7"])
    }

    @Test("refuses a request that is no set of parameters")
    func request() {
        #expect(throws: ParameterError(name: "", kind: .request("an array"))) {
            try RouteParameters(["a": "1"]).decode([Int].self)
        }
        #expect(throws: ParameterError(name: "", kind: .request("a single value"))) {
            try RouteParameters(["a": "1"]).decode(Int.self)
        }
    }

    @Test("takes the parameters of a call that is JSON")
    func json() throws {
        let value = try JSONValue(
            parsing: #"{"int":1,"flag":true,"ids":[1,2],"point":{"x":1},"text":"1","color":null}"#)
        let request = try RouteParameters(value).decode(Everything.self)
        #expect(request.int == 1 && request.flag == true && request.ids == [1, 2])
        #expect(request.point == Point(x: 1) && request.text == "1" && request.color == nil)
    }

    @Test("describes a request without one")
    func description() {
        let description = RequestDescription(of: Needed.self)
        #expect(description.isComplete)
        #expect(description.fields.map(\.name) == ["id", "color", "tags"])
        #expect(description.fields.map(\.type) == ["Int", "Color", "Array<String>"])
        #expect(
            description.fields.map(\.expectation)
                == ["a whole number", "one of 'red', 'green'", "values, each text"])
        #expect(description.fields.map(\.isList) == [false, false, true])
        #expect(description.fields.map(\.example) == ["1", "red", "text"])

        let all = RequestDescription(of: Everything.self)
        #expect(all.isComplete && all.fields.count == 18)
        #expect(!all.fields.contains { !$0.isOptional })
        #expect(
            all.fields.first { $0.name == "date" }?.expectation
                == "a time such as 2026-03-01T09:41:00Z")
    }

    @Test("describes a request that takes no made-up value as far as it goes")
    func partialDescription() {
        struct Picky: Decodable {
            struct Never: Error {}
            struct Odd: Decodable { init(from decoder: any Decoder) throws { throw Never() } }
            var a: Int
            var b: Odd
            var c: Int
        }
        let description = RequestDescription(of: Picky.self)
        #expect(!description.isComplete)
        #expect(description.fields.map(\.name) == ["a", "b"])
    }
}

@Suite("DateTime")
struct DateTimeTests {
    static let texts: [(String, String?)] = [
        ("2026-03-01T09:41:00Z", "2026-03-01T09:41:00Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2000-02-29T23:59:59.123456789Z", "2000-02-29T23:59:59.123456789Z"),
        ("9999-12-31T23:59:59-00:00", "9999-12-31T23:59:59Z"),
        ("2026-03-01T00:30:00+01:00", "2026-02-28T23:30:00Z"),
        ("2026-03-01", nil), ("2026-03-01T09:41Z", nil), ("2026-03-01 09:41:00Z", nil),
        ("2026-13-01T00:00:00Z", nil), ("2100-02-29T00:00:00Z", nil), ("2026-03-01T24:00:00Z", nil),
        ("2026-03-01T09:41:00", nil), ("2026-03-01T09:41:00Zx", nil), ("1969-12-31T23:59:59Z", nil),
        ("2026-03-01T09:41:00.Z", nil), ("", nil),
    ]

    @Test("reads and writes ISO 8601", arguments: texts)
    func text(text: String, expected: String?) {
        #expect(DateTime(text)?.description == expected)
    }
}
