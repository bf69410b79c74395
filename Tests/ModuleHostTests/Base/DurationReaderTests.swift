import Testing

@testable import ModuleHostCore

@Suite("Durations of the slatefile")
struct DurationReaderTests {
    static let accepted: [(String, Duration)] = [
        ("1ms", .milliseconds(1)), ("250ms", .milliseconds(250)), ("2s", .seconds(2)),
        ("1m", .seconds(60)), ("24h", .seconds(86_400)), ("86400000ms", .seconds(86_400)),
    ]

    @Test("a whole number and a unit", arguments: accepted)
    func accepts(text: String, duration: Duration) throws {
        #expect(try DurationReader.read(text) == duration)
    }

    @Test("is written in the largest unit that says it exactly")
    func text() {
        #expect(DurationReader.text(of: .milliseconds(1999)) == "1999ms")
        #expect(DurationReader.text(of: .seconds(90)) == "90s")
        #expect(DurationReader.text(of: .seconds(120)) == "2m")
        #expect(DurationReader.text(of: .seconds(86_400)) == "24h")
    }

    @Test(
        "says what is wrong with anything else",
        arguments: [
            ("5", DurationError.unitless("5")), ("", .malformed("")), ("s", .malformed("s")),
            ("-2s", .negative("-2s")), ("-2", .negative("-2")), ("0s", .zero("0s")),
            ("-0s", .negative("-0s")), ("25h", .tooLong("25h")),
            ("86400001ms", .tooLong("86400001ms")),
            ("99999999999999999999ms", .tooLong("99999999999999999999ms")),
            ("1.5s", .fractional("1.5s")), ("1,5s", .fractional("1,5s")),
            ("2 s", .malformed("2 s")), (" 2s", .malformed(" 2s")), ("2s ", .malformed("2s ")),
            ("1m30s", .malformed("1m30s")), ("2sec", .unknownUnit("sec", of: "2sec")),
            ("2S", .unknownUnit("S", of: "2S")), ("2µs", .unknownUnit("µs", of: "2µs")),
            ("٢s", .malformed("٢s")), ("0x1s", .malformed("0x1s")),
        ])
    func refuses(text: String, error: DurationError) {
        #expect(throws: error) { try DurationReader.read(text) }
    }
}
