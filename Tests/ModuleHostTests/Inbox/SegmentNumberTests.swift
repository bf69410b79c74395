import TestSupport
import Testing

@testable import ModuleHostCore

/// Other programs may begin a segment with any higher number.
@Suite("Segments whose numbers skip some", .timeLimit(.minutes(10)))
struct SegmentNumberTests {
    private static let skips: [UInt32] = [2, 3, 5, 1005, .max]

    /// A list of the segments, once with the system's word for what is new and once without.
    private static func lists(_ inbox: InboxUnderTest) throws -> [SegmentList] {
        [try SegmentList(watching: inbox.folder), SegmentList(inbox.folder)]
    }

    @Test("a writer goes to the highest number at once", arguments: [0, 1])
    func appending(list: Int) throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder, Self.lists(inbox)[list])
        #expect(try writer.append("{}") == ["1:1"])
        for number in Self.skips {
            try inbox.put("", in: number)
            #expect(try writer.append("{}", "{}").map(\.segment) == [number, number])
            #expect(try writer.append("{}").map(\.segment) == [number])
        }
    }

    @Test("a reader finds them in order, and reports once which are missing", arguments: [0, 1])
    func reading(list: Int) throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n")
        let reader = try InboxReader(inbox.folder, Self.lists(inbox)[list], from: nil)
        #expect(try reader.all().map(\.line) == ["{1}"])
        for number in Self.skips {
            try inbox.put("\n{\(number)}\n", in: number)
            #expect(try reader.all().map(\.line) == ["{\(number)}"])
            #expect(try reader.all() == [])
        }
        #expect(
            reader.notices == [
                .missing(4...4), .missing(6...1004), .missing(1006...UInt32.max - 1),
            ])
        #expect(
            reader.notices.prefix(2).map(\.description) == [
                "segment 4 of the inbox is missing: a writer skipped the number, or the segment "
                    + "was removed with its events",
                "segments 6 to 1004 of the inbox are missing: a writer skipped the numbers, or "
                    + "the segments were removed with their events",
            ])
    }

    @Test("a segment is seen that comes with more changes than the system keeps")
    func overflow() throws {
        let inbox = try InboxUnderTest()
        let list = try SegmentList(watching: inbox.folder)
        let writer = try InboxWriter(inbox.folder, list)
        #expect(try writer.append("{}") == ["1:1"])
        let text = try readFile(at: "/proc/sys/fs/inotify/max_queued_events", limit: 32)
        let kept = try #require(Int(String(decoding: text.dropLast(), as: UTF8.self)))
        // More than there is room for, then the segment, of which there is no notification.
        try #require(kept <= 65_536)
        for number in 0...kept / 3 { try inbox.state.write("", to: "inbox/\(number)") }
        try inbox.put("", in: 1000)
        #expect(try writer.append("{}") == ["1000:1"])
        #expect(try list.isNewest(1000))
    }

    @Test(
        "a running host delivers what stands there, appends behind it, and keeps ids by the count")
    func host() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        #expect(await test.accept("first") == "1:1")
        var received = ["1:1#1"]
        for number: UInt32 in [3, 1000, .max] {
            let line = HostUnderTest.push("\(number)")
            try writeFile([0x0A] + line + [0x0A], to: inbox.path(ofSegment: number), mode: 0o600)
            await probe.reached("a \(number):1#1")
            let place = try #require(await test.accept())
            #expect(place.segment == number)
            received += ["\(number):1#1", "\(place)#1"]
            // What was done in the last two segments that there were is known.
            if number < .max { #expect(await test.accept("first") == nil) }
            _ = await test.outcome()
            received.append(try #require(probe.received("a").last))
            test.time.advance(by: .seconds(2))
        }
        while try inbox.segments().count > 3 { test.time.advance(by: .seconds(2)) }
        #expect(try inbox.segments() == [3, 1000, .max])
        #expect(probe.received("a").filter { !received.contains($0) } == [])
        let said = test.recorder.messages.filter { $0.contains("missing: ") }
        #expect(said.count == 3 && said[0].hasPrefix("segment 2 of the inbox is missing: "))
        #expect(await test.stopped() == .stopped)
    }
}
