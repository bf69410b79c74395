import Testing

@testable import ModuleHostCore

@Suite("JSON reader")
struct JSONReaderTests {
    @Test(
        "accepts what RFC 8259 allows",
        arguments: [
            "0", "-0", "-1", "10", "1.5", "-0.25", "1e5", "1E+5", "1.5e-10", "0e0", "0.0",
            "123456789012345678901234567890", "1e999", "true", "false", "null", "\"\"", "\"a\"",
            #""\"\\\/\b\f\n\r\t""#, #""\u0041\u00e9\uD83D\uDE00""#, #""\uFFFF\u0000""#,
            "\"é日😀\u{7F}\"", "[]", "{}", "[1]", "[1,2]", "[[],{}]", "{\"\":0}",
            "{\"a\":{\"b\":[null]}}", " \t\r\n1 \t\r\n", "[ 1 , 2 ]", "{ \"a\" : 1 , \"b\" : 2 }",
            "{\"a\":1,\"A\":2}", "\"\u{2028}\"", "[1e0,2.0,-3]",
        ])
    func accepts(text: String) throws {
        _ = try JSONValue(parsing: text)
    }

    @Test(
        "refuses everything else, and says why",
        arguments: [
            ("", "line 1, column 1: expected a JSON value, found nothing"),
            (" \n\t", "line 1, column 1: expected a JSON value, found nothing"),
            (
                "\u{FEFF}1",
                "line 1, column 1: a byte order mark; save the file as UTF-8 without one"
            ),
            ("1 2", "line 1, column 3: nothing may follow the end of the JSON value"),
            ("{}}", "line 1, column 3: nothing may follow the end of the JSON value"),
            ("[1,]", "line 1, column 3: a comma before a closing bracket; remove it"),
            ("{\"a\":1,}", "line 1, column 7: a comma before a closing bracket; remove it"),
            ("[,1]", "line 1, column 2: a comma with no value before it; remove it"),
            ("[1,,2]", "line 1, column 4: a comma with no value before it; remove it"),
            ("[1 2]", "line 1, column 3: expected ',' after this value"),
            ("{\"a\":1 \"b\":2}", "line 1, column 7: expected ',' after this value"),
            ("{\"a\" 1}", "line 1, column 6 (/a): expected ':' after this key"),
            ("{\"a\"}", "line 1, column 5 (/a): expected ':' after this key"),
            ("{\"a\"=1}", "line 1, column 5 (/a): expected ':' after this key"),
            ("{\"a\":}", "line 1, column 6 (/a): expected a value"),
            ("[1}", "line 1, column 3: '}' does not close the '[' of line 1, column 1"),
            ("{\"a\":1]", "line 1, column 7: ']' does not close the '{' of line 1, column 1"),
            (
                "[",
                "line 1, column 2: the text ends inside the array that begins at line 1, column 1"
            ),
            (
                "{\"a\":[1,",
                "line 1, column 9: the text ends inside the array that begins at line 1, column 6"
            ),
            (
                "{\"a",
                "line 1, column 4: the text ends inside the string that begins at line 1, column 2"
            ),
            ("{1:2}", "line 1, column 2 (/1): a key must be a string in double quotes"),
            ("{[]:2}", "line 1, column 2 (/): a key must be a string in double quotes"),
            ("{a:2}", "line 1, column 2 (/a): a key must be in double quotes: \"a\""),
            (
                "{\"a\":1,\"b\":2,\"a\":3}",
                "line 1, column 14 (/a): key 'a' is here already, at line 1, column 2"
            ),
            (
                "{\"a\":1,\"\\u0061\":3}",
                "line 1, column 8 (/a): key 'a' is here already, at line 1, column 2"
            ),
            ("[1, // one\n2]", "line 1, column 5: JSON has no comments; remove it"),
            ("/* a */ 1", "line 1, column 1: JSON has no comments; remove it"),
            ("# a\n1", "line 1, column 1: JSON has no comments; remove it"),
            ("['a']", "line 1, column 2 (/0): ' is not a quote of JSON; use \""),
            ("[“a”]", "line 1, column 2 (/0): “ is not a quote of JSON; use \""),
            ("[\"a\n\"]", "line 1, column 2 (/0): this string has no closing quote on its line"),
            ("[\"a\tb\"]", "line 1, column 4 (/0): a tab in a string must be written \\t"),
            ("[\"a\u{1}\"]", "line 1, column 4 (/0): U+0001 in a string must be written \\u0001"),
            (
                "[\"\\x41\"]",
                "line 1, column 3 (/0): \\x is not an escape of JSON; for a backslash write \\\\"
            ),
            (
                "[\"\\u12g4\"]",
                "line 1, column 3 (/0): \\u must be followed by four hexadecimal digits"
            ),
            (
                "[\"\\uD83D\"]",
                "line 1, column 3 (/0): \\uD83D is half of a surrogate pair; the other half is missing"
            ),
            (
                "[\"\\uDE00\\uD83D\"]",
                "line 1, column 3 (/0): \\uDE00 is half of a surrogate pair; the other half is missing"
            ),
            ("[012]", "line 1, column 2 (/0): a number has no leading zero: 012"),
            ("[-012]", "line 1, column 2 (/0): a number has no leading zero: -012"),
            ("[+1]", "line 1, column 2 (/0): a number has no plus sign: +1"),
            (
                "[.5]",
                "line 1, column 2 (/0): a number needs digits before and after its point and exponent: .5"
            ),
            (
                "[5.]",
                "line 1, column 2 (/0): a number needs digits before and after its point and exponent: 5."
            ),
            (
                "[1e]",
                "line 1, column 2 (/0): a number needs digits before and after its point and exponent: 1e"
            ),
            ("[-]", "line 1, column 2 (/0): - is not a number"),
            ("[0x1F]", "line 1, column 2 (/0): a number is decimal: 0x1F"),
            ("[1_000]", "line 1, column 2 (/0): 1_000 is not a number"),
            ("[12px]", "line 1, column 2 (/0): 12px is not a number"),
            ("[1.2.3]", "line 1, column 2 (/0): 1.2.3 is not a number"),
            ("[NaN]", "line 1, column 2 (/0): NaN is not a number of JSON"),
            ("[-Infinity]", "line 1, column 2 (/0): -Infinity is not a number of JSON"),
            ("[True]", "line 1, column 2 (/0): expected a value, found True; did you mean true?"),
            ("[None]", "line 1, column 2 (/0): expected a value, found None; did you mean null?"),
            (
                "[hello]",
                "line 1, column 2 (/0): expected a value, found hello; a string must be in double quotes"
            ),
            ("[*]", "line 1, column 2 (/0): unexpected '*'"),
            ("[1;2]", "line 1, column 3: expected ',' after this value"),
            ("[\u{A0}1]", "line 1, column 2: unexpected no-break space (U+00A0)"),
        ])
    func refuses(text: String, message: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(Self.error(of: Array(text.utf8)) == message)
    }

    @Test(
        "refuses bytes that are not UTF-8",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80],
            [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        let message = "line 1, column 2: these bytes are not UTF-8; save the file as UTF-8"
        #expect(Self.error(of: [0x22] + bytes + [0x22]) == message)
    }

    @Test("says of other encodings and of binary files what they are")
    func encodings() {
        let utf16 = "line 1, column 1: this is UTF-16 or UTF-32; save the file as UTF-8"
        #expect(Self.error(of: [0xFF, 0xFE, 0x7B, 0]) == utf16)
        #expect(Self.error(of: [0x7B, 0, 0x7D, 0]) == utf16)
        #expect(Self.error(of: [0, 0x7B, 0, 0x7D]) == utf16)
        let binary = "this is not text: it has a NUL byte"
        #expect(
            Self.error(of: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0]) == "line 1, column 8: \(binary)")
        #expect(Self.error(of: [0]) == "line 1, column 1: \(binary)")
        #expect(
            Self.error(of: Array("{\n  \"a\": \"b\0\"}".utf8)) == "line 2, column 10: \(binary)")
    }

    @Test("reads 128 levels and no more")
    func depth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: 0x5B, count: depth) + Array(repeating: 0x5D, count: depth)
        }
        _ = try JSONValue(parsing: nested(128))
        let message = "nested deeper than 128 arrays and objects"
        #expect(Self.error(of: nested(129))?.hasSuffix(message) == true)
        #expect(Self.error(of: Array(repeating: 0x5B, count: 1 << 20))?.hasSuffix(message) == true)
    }

    @Test("reads 16 MiB and no more")
    func size() throws {
        var bytes = [UInt8](repeating: 0x20, count: 16 << 20)
        bytes[0] = UInt8(ascii: "1")
        #expect(try JSONValue(parsing: bytes).int == 1)
        bytes.append(0x20)
        let message = "line 1, column 1: 16.1 MiB is more than the 16 MiB that are read"
        #expect(Self.error(of: bytes) == message)
    }

    @Test("goes on after an error that leaves no doubt, and reports all")
    func recovers() {
        let text = """
            {
              // a comment
              "a": 01,
              "b": "x\\qy",
              "c": [1, 2,],
              'd': True,
              "b": +1
              "e": "no end,
              "f": {"g" 1}
            }
            """
        var parser = JSONParser(Array(text.utf8), diagnosticLimit: 100)
        parser.parse()
        let document = JSONDocument(bytes: parser.bytes, nodes: parser.nodes)
        let error = JSONError(parser.diagnostics.map { ($0.offset, $0.kind) }, in: document)
        #expect(parser.isWhole)
        #expect(
            error.description == """
                line 2, column 3: JSON has no comments; remove it
                line 3, column 8 (/a): a number has no leading zero: 01
                line 4, column 10 (/b): \\q is not an escape of JSON; for a backslash write \\\\
                line 5, column 13 (/c): a comma before a closing bracket; remove it
                line 6, column 3 (/d): ' is not a quote of JSON; use "
                line 6, column 8 (/d): expected a value, found True; did you mean true?
                line 7, column 3 (/b): key 'b' is here already, at line 4, column 3
                line 7, column 8 (/b): a number has no plus sign: +1
                line 7, column 10: expected ',' after this value
                line 8, column 8 (/e): this string has no closing quote on its line
                line 9, column 13 (/f/g): expected ':' after this key
                """)
    }

    static func error(of bytes: [UInt8]) -> String? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: bytes)
            return nil
        } catch {
            return error.description
        }
    }
}
