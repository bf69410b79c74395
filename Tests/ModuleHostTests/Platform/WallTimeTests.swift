import Testing

@testable import ModuleHostCore

@Suite("WallTime")
struct WallTimeTests {
    @Test(
        "dates that are known",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, 999_999_999, "2000-02-29T00:00:00.999Z"),
            (951_868_799, 1_000_000, "2000-02-29T23:59:59.001Z"),
            (1_000_000_000, 0, "2001-09-09T01:46:40.000Z"),
            (1_709_164_800, 5_999_999, "2024-02-29T00:00:00.005Z"),
            (4_107_542_399, 0, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59.000Z"),
        ])
    func known(seconds: Int, nanoseconds: Int, text: String) {
        #expect(WallTime(seconds: seconds, nanoseconds: nanoseconds).iso8601 == text)
    }

    @Test("what four digits cannot say is held at the nearest year")
    func clamps() {
        #expect(WallTime(seconds: -1).iso8601 == "1970-01-01T00:00:00.000Z")
        #expect(WallTime(seconds: .min).iso8601 == "1970-01-01T00:00:00.000Z")
        #expect(WallTime(seconds: 253_402_300_800).iso8601 == "9999-12-31T23:59:59.999Z")
        #expect(WallTime(seconds: .max).iso8601 == "9999-12-31T23:59:59.999Z")
    }

    /// The first and the last day of each month, against a calendar that is counted out.
    @Test("every month from 1970 to 9999")
    func everyMonth() {
        var day = 0
        var bytes: [UInt8] = []
        var wrong: [String] = []
        for year in 1970...9999 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            for (month, length) in lengths.enumerated() {
                for dayOfMonth in [1, length] {
                    bytes.removeAll(keepingCapacity: true)
                    WallTime(seconds: (day + dayOfMonth - 1) * 86_400).appendISO8601(to: &bytes)
                    let digits = bytes.prefix(10).map { Int($0) - 48 }
                    let number = digits.reduce(0) { $1 < 0 ? $0 : $0 * 10 + $1 }
                    if number != (year * 100 + month + 1) * 100 + dayOfMonth {
                        wrong.append("\(year)-\(month + 1)-\(dayOfMonth): \(number)")
                    }
                }
                day += length
            }
        }
        #expect(wrong == [])
    }

    @Test("the time of day where the machine is has twelve bytes")
    func local() {
        var bytes: [UInt8] = []
        WallTime(seconds: 0, nanoseconds: 7_000_000).appendLocalTimeOfDay(to: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.wholeMatch(of: /[0-2][0-9]:[0-5][0-9]:00\.007/) != nil)
    }

    @Test("now is after this was written")
    func now() { #expect(WallTime.now().seconds > 1_700_000_000) }
}
