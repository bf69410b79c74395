import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The report of hostd timeline", .timeLimit(.minutes(1)))
struct TimelineReportTests {
    private let now = WallTime(seconds: 10_000)

    private func record(_ seconds: [Int], starts: Set<Int> = []) throws -> RecordContents {
        let ring = try RecordRing(inMemory: RecordRing.sizes.lowerBound)
        for second in seconds {
            ring.add(
                HostRecord(
                    time: WallTime(seconds: second, nanoseconds: 5),
                    starts.contains(second)
                        ? .started(version: "1", processID: second) : .signal("s\(second)")))
        }
        return try #require(ring.contents)
    }

    private func times(
        _ record: RecordContents, _ since: String, limit: Int = 1000
    ) throws -> [Int] {
        let start = try #require(TimelineReport.Start(since))
        return TimelineReport(
            of: record, isRunning: true, from: start, limit: limit, at: now
        ).entries.map(\.time.seconds)
    }

    @Test("the entries since the newest start, a time, some time ago, and all")
    func since() throws {
        let record = try record([100, 200, 9000, 9900, 9990], starts: [100, 9000])
        #expect(try times(record, "launch") == [9000, 9900, 9990])
        #expect(try times(record, "all") == [100, 200, 9000, 9900, 9990])
        #expect(try times(record, "100s") == [9900, 9990])
        #expect(try times(record, "1970-01-01T02:45:00Z") == [9900, 9990])
        #expect(try times(record, "1m") == [9990])
        #expect(try times(record, "1s") == [])
        #expect(try times(record, "all", limit: 2) == [9900, 9990])
        for text in ["", "5", "yesterday", "-1m", "1970-01-01"] {
            #expect(TimelineReport.Start(text) == nil, "\(text)")
        }
    }

    @Test("a clock that is set back, between entries of any time")
    func clockSetBack() throws {
        let record = try record([9990, 9995, 9000, 9999])
        #expect(try times(record, "1m") == [9999])
        let far = try self.record([.max - 9, .min + 9, 5])
        var json = JSONWriter()
        TimelineReport(of: far, isRunning: true, from: .all, limit: 9, at: now).write(to: &json)
        #expect(throws: Never.self) { try JSONValue(parsing: json.bytes) }
    }

    @Test(
        "as JSON: what is left out, from when on the record knows, and times from the first entry")
    func json() throws {
        let record = try record([100, 9900, 9990])
        func json(_ limit: Int) throws -> JSONValue {
            var json = JSONWriter()
            TimelineReport(
                of: record, isRunning: false, from: .all, limit: limit, at: now
            ).write(to: &json)
            return try JSONValue(parsing: json.bytes)
        }
        let all = try json(3)
        #expect(all["running"]?.bool == false)
        #expect(all["knownSince"]?.string == "1970-01-01T00:01:40.000Z")
        let entries = Array(try #require(all["entries"]).elements)
        #expect(entries.map { $0["atMs"]?.int } == [0, 9_800_000, 9_890_000])
        #expect(entries[0]["text"]?.string == "s100")
        let cut = try json(2)
        #expect(cut["cut"]?.bool == true)
        #expect(cut["from"]?.string == "1970-01-01T02:45:00.000Z")
        #expect(cut["knownSince"]?.string == "1970-01-01T00:01:40.000Z")
    }
}
