import Testing

@testable import ModuleHostCore

/// Values that are sent on to another process.
@Suite("JSON writer, given a value")
struct JSONWriterValueTests {
    private func written(_ value: JSONValue) -> String {
        var json = JSONWriter()
        json.value(value)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test(
        "the same value, on one line and without white space",
        arguments: [
            ("null", "null"),
            (" true ", "true"),
            ("\nfalse\n", "false"),
            // A number stays as it is written, whatever Swift could hold of it.
            ("-0", "-0"),
            ("1.50", "1.50"),
            ("1E+400", "1E+400"),
            ("12345678901234567890123456789", "12345678901234567890123456789"),
            (#""""#, #""""#),
            (#""aéb""#, #""aéb""#),
            (#""\u00e9\/\"\\\n\t""#, #""é/\"\\\n\t""#),
            (#""\ud83d\ude00 \u2028\u0000\u007f""#, #""😀 \u2028\u0000\u007f""#),
            ("[ ]", "[]"),
            ("{ }", "{}"),
            ("[ 1 ,\n\t[ [ ] , { } ] , \"a b\" ]", #"[1,[[],{}],"a b"]"#),
            (
                "{ \"b\" : { \"\\u0061\" : [ null , true ] } ,\r\n \"a\\\"\" : \"x\" }",
                #"{"b":{"a":[null,true]},"a\"":"x"}"#
            ),
        ])
    func written(text: String, line: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(written(value) == line)
        #expect(try JSONValue(parsing: line) == value)
    }

    @Test("nested as deep as is read")
    func deep() throws {
        let text = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        #expect(try written(JSONValue(parsing: text)) == text)
    }

    @Test("a part of a text is written without the rest of it")
    func part() throws {
        let value = try JSONValue(parsing: #"{"a": [1, {"b" : 2}], "c": 3}"#)
        #expect(try written(#require(value["a"])) == #"[1,{"b":2}]"#)
    }

    @Test("a member and elements, with the commas that they need")
    func member() throws {
        let value = try JSONValue(parsing: "[1 ,2]")
        var json = JSONWriter()
        json.object {
            $0.member("a", value)
            $0.member("b", value)
        }
        json.array {
            $0.value(value)
            $0.value(value)
        }
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == #"{"a":[1,2],"b":[1,2]}"# + ","
                + "[[1,2],[1,2]]")
    }

    @Test("what the environment filled in is written, and stays as it was filled in")
    func expansions() throws {
        let slatefile = try Slatefile.read(
            Array(
                #"""
                {"slate":1,"app":"a","config":{"${X}":"a ${X}\n${Y}","list":["$${X} $X", "${Y}"],
                 "none":"${EMPTY}", "number":1 },"modules":[{"id":"a.b","entry":"A.B","main":true}]}
                """#.utf8),
            path: "slatefile.json",
            environment: { ["X": "${Y}", "Y": "\"é\u{7}", "EMPTY": ""][$0] })
        let config = try #require(slatefile.config)
        let text = written(config)
        #expect(
            text
                == #"{"${X}":"a ${Y}\n\"é\u0007","list":["${X} $X","\"é\u0007"],"none":"","number":1}"#
        )
        // A reader sees what the host sees: nothing is left to be filled in.
        #expect(try JSONValue(parsing: text) == config)
    }
}
