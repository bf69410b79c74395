import Testing

@testable import ModuleHostCore

@Suite("JSON value")
struct JSONValueTests {
    @Test("gives every value as what it is")
    func values() throws {
        let value = try JSONValue(
            parsing:
                #"{"n":null,"t":true,"f":false,"i":-12,"d":1.5,"s":"aé\n\uD83D\uDE00","a":[1,[2],3]}"#
        )
        #expect(value.kind == .object && value.count == 7)
        #expect(value["n"]?.isNull == true && value["n"]?.string == nil)
        #expect(value["t"]?.bool == true && value["f"]?.bool == false)
        #expect(value["i"]?.int == -12 && value["i"]?.double == -12)
        #expect(value["d"]?.int == nil && value["d"]?.double == 1.5)
        #expect(value["s"]?.string == "aé\n😀")
        #expect(value["a"]?.elements.map(\.text) == ["1", "[2]", "3"])
        #expect(value.members.map(\.key) == ["n", "t", "f", "i", "d", "s", "a"])
        #expect(value["x"] == nil && value["s"]?["x"] == nil && value["t"]?.count == 0)
    }

    @Test("an Int is exact or none")
    func integers() throws {
        #expect(try JSONValue(parsing: "9223372036854775807").int == .max)
        #expect(try JSONValue(parsing: "-9223372036854775808").int == .min)
        for text in ["9223372036854775808", "1.0", "1e3", "\"1\"", "[1]"] {
            #expect(try JSONValue(parsing: text).int == nil)
        }
        #expect(try JSONValue(parsing: "1e999").double == nil)
    }

    @Test("a key is found whatever it is written as")
    func keys() throws {
        let value = try JSONValue(parsing: #"{"\u0061b":1,"":2,"a/b~c":{"x":[0,7]}}"#)
        #expect(value["ab"]?.int == 1 && value[""]?.int == 2)
        #expect(value["a/b~c"]?["x"]?.elements.map(\.pointer) == ["/a~1b~0c/x/0", "/a~1b~0c/x/1"])
        #expect(value.pointer == "" && value[""]?.pointer == "/")
    }

    @Test("a column counts characters, as an editor does")
    func places() throws {
        let value = try JSONValue(parsing: "{\"é👨‍👩‍👧\":\r\n\t\"日\", \"b\": 1}")
        let members = Array(value.members)
        #expect(members.map(\.keyPlace) == [place(1, 2), place(2, 7)])
        #expect(members.map(\.value.place) == [place(2, 2), place(2, 12)])
    }

    private func place(_ line: Int, _ column: Int) -> TextPlace {
        TextPlace(line: line, column: column)
    }

    @Test("values are equal if they say the same")
    func equality() throws {
        let one = try JSONValue(parsing: #"{"a": [1, "\u0041"], "b": null}"#)
        #expect(try one == JSONValue(parsing: #"{"b":null,"a":[1,"A"]}"#))
        for other in [
            #"{"a":[1,"B"],"b":null}"#, #"{"a":[1,"A"]}"#, #"{"a":[1.0,"A"],"b":null}"#,
            #"{"a":["A",1],"b":null}"#, "[]",
        ] {
            #expect(try one != JSONValue(parsing: other))
        }
    }

    private static let spellings: [(String, String, isSame: Bool)] = [
        ("1", "1.0", true), ("1", "1e0", true), ("1", "10E-1", true), ("1", "0.1e1", true),
        ("1", "0.001e+3", true), ("-1", "-1.000", true), ("0", "-0.0e9", true),
        ("0", "0e99999", true),
        ("100", "1e2", true), ("1200e-2", "12", true), ("1", "-1", false), ("1", "1.1", false),
        ("1", "10", false), ("12", "21", false), ("0", "1e-999", false), ("1e2", "1e-2", false),
        ("9007199254740993", "9007199254740992", false), ("0.1", "0.10000000000000000001", false),
        ("123456789012345678901234567890", "123456789012345678901234567890.0", true),
        ("1e99999999999999999999", "10e99999999999999999998", true),
        ("1e100000000000000000000", "10e99999999999999999999", true),
        ("1e-100000000000000000000", "0.1e-99999999999999999999", true),
        ("1e99999999999999999999", "1e99999999999999999998", false),
        ("1e99999999999999999999", "1e-99999999999999999999", false),
        ("1e018446744073709551616", "1e0", false), ("1e00", "1E-000", true),
        (
            String(repeating: "9", count: 5000), "9" + String(repeating: "9", count: 4999) + "e0",
            true
        ),
        ("1" + String(repeating: "0", count: 5000), "1e5000", true),
    ]

    @Test("numbers are the same, however they are written and however long", arguments: spellings)
    func numbers(one: String, other: String, isSame: Bool) throws {
        for (one, other) in [(one, other), (other, one)] {
            let one = try JSONValue(parsing: #"{"a":[\#(one)]}"#)
            let other = try JSONValue(parsing: #"{"a":[\#(other)]}"#)
            #expect(one.hasSameContents(as: other) == isSame)
            #expect(one != other)
            #expect(one.hasSameContents(as: one))
        }
    }

    @Test("strings and keys are compared by their bytes")
    func accents() throws {
        let composed = try JSONValue(parsing: #"{"\u00e9": 1, "e\u0301": 2}"#)
        let other = try JSONValue(parsing: #"{"é": 2, "e\u0301": 1}"#)
        #expect(composed != other && !composed.hasSameContents(as: other))
        #expect(try JSONValue(parsing: #""\u00e9""#) != JSONValue(parsing: #""e\u0301""#))
        #expect(try JSONValue(parsing: #""\u00e9""#) == JSONValue(parsing: #""é""#))
    }
}
