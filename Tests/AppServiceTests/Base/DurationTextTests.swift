import Testing

@testable import AppService

@Suite("Duration in words")
struct DurationTextTests {
    @Test(
        "three digits and the unit that suits",
        arguments: [
            (Duration.zero, "0ns"), (.nanoseconds(850), "850ns"), (.nanoseconds(12_345), "12.3µs"),
            (.nanoseconds(4_070_000), "4.07ms"), (.nanoseconds(999_999), "999µs"),
            (.milliseconds(1500), "1.5s"), (.seconds(125), "2m05s"), (.seconds(-2), "-2s"),
            (.seconds(3599), "59m59s"), (.seconds(3600), "1h00m"), (.seconds(86_399), "23h59m"),
            (.seconds(86_400), "1d00h"), (.seconds(1_047_600), "12d03h"),
        ])
    func text(duration: Duration, expected: String) {
        #expect(duration.briefText == expected)
    }

    @Test("what an Int of nanoseconds cannot say is held at its end")
    func clamps() {
        #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
        #expect(Duration(attoseconds: .max).wholeNanoseconds == .max)
    }
}
