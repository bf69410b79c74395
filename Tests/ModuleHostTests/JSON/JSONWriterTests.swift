import Testing

@testable import ModuleHostCore

@Suite("JSONWriter")
struct JSONWriterTests {
    private func text(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        write(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test("commas and colons come by themselves")
    func structure() {
        let text = text {
            $0.object {
                $0.member("event", "push")
                $0.member("count", 3)
                $0.member("ok", true)
                $0.member("empty") { $0.object { _ in } }
                $0.member("list") {
                    $0.array {
                        $0.value(1)
                        $0.array { _ in }
                        $0.object { $0.member("a", false) }
                        $0.null()
                    }
                }
                $0.member("last", 1.5)
            }
        }
        #expect(
            text == #"{"event":"push","count":3,"ok":true,"empty":{},"#
                + #""list":[1,[],{"a":false},null],"last":1.5}"#)
    }

    @Test(
        "strings",
        arguments: [
            ("", #""""#), ("plain", #""plain""#), (#"a"b\c/"#, #""a\"b\\c/""#),
            ("line\nand\r\n\ttab", #""line\nand\r\n\ttab""#),
            ("\u{0}\u{1B}[31m\u{7F}\u{9B}", #""\u0000\u001b[31m\u007f\u009b""#),
            ("a\u{2028}b\u{2029}c\u{85}", #""a\u2028b\u2029c\u0085""#),
            ("Grüße, 世界 🌍", #""Grüße, 世界 🌍""#),
            ("\u{A0}\u{2027}\u{202F}", "\"\u{A0}\u{2027}\u{202F}\""),
            ("\u{202A}\u{200B}\u{FEFF}", #""\u202a\u200b\ufeff""#),
            ("é\n🌍\n世\n", #""é\n🌍\n世\n""#),
        ])
    func strings(string: String, expected: String) {
        #expect(text { $0.value(string) } == expected)
        #expect(text { $0.object { $0.member(string, 1) } } == "{\(expected):1}")
    }

    @Test(
        "whole numbers",
        arguments: [(0, "0"), (7, "7"), (-1, "-1"), (1000, "1000"), (.max, "9223372036854775807")])
    func integers(value: Int, expected: String) {
        #expect(text { $0.value(value) } == expected)
    }

    @Test("the least whole number has no positive twin")
    func leastInteger() { #expect(text { $0.value(Int.min) } == "-9223372036854775808") }

    @Test(
        "numbers, as short as they read back the same; what is none is null",
        arguments: [
            (0.1, "0.1"), (-0.0, "-0.0"), (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"),
            (.nan, "null"), (.infinity, "null"), (-.infinity, "null"),
        ])
    func doubles(value: Double, expected: String) {
        #expect(text { $0.value(value) } == expected)
    }

    @Test(
        "nanoseconds as milliseconds, exactly",
        arguments: [
            (0, "0"), (1, "0.000001"), (84_120, "0.08412"), (1_000_000, "1"),
            (12_500_000, "12.5"), (-84_000, "-0.084"),
        ])
    func milliseconds(nanoseconds: Int, expected: String) {
        #expect(
            text { $0.object { $0.member("ms", millisecondsOf: nanoseconds) } }
                == #"{"ms":\#(expected)}"#)
    }

    @Test("JSON text goes in as it is, on one line")
    func raw() {
        let payload = Array("{\r\n  \"a\": [1,\n 2]\n}".utf8)
        let text = text {
            $0.object {
                $0.member("payload", raw: payload)
                $0.member("n", 1)
            }
        }
        #expect(text == #"{"payload":{    "a": [1,  2] },"n":1}"#)
    }

    @Test("documents stand one on each line")
    func lines() {
        let text = text {
            $0.object { $0.member("n", 1) }
            $0.newline()
            $0.object { $0.member("n", 2) }
            $0.newline()
        }
        #expect(text == "{\"n\":1}\n{\"n\":2}\n")
    }

    @Test("an error of the caller comes through")
    func failure() {
        struct Refused: Error {}
        var json = JSONWriter()
        #expect(throws: Refused.self) {
            try json.object { _ throws(Refused) in throw Refused() }
        }
    }
}
