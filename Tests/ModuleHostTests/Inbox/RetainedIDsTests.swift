import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("RetainedIDs")
struct RetainedIDsTests {
    private static func record(_ id: String?, event: String = "push") -> String {
        let id = id.map { ",\"id\":\"\($0)\"" } ?? ""
        return "{\"event\":\"\(event)\",\"payload\":{\"id\":\"inner\"}\(id)}"
    }

    /// An inbox with records of these ids, and where they stand.
    private static func inbox(
        _ ids: [String?], segment: Int = 8 << 20
    ) throws -> (InboxUnderTest, [EventPosition]) {
        let inbox = try InboxUnderTest { $0.segment = segment }
        let writer = try InboxWriter(inbox.folder)
        let positions = try ids.flatMap { try writer.append(record($0)) }
        return (inbox, positions)
    }

    @Test("a record repeats the first one with its id")
    func original() throws {
        let (inbox, places) = try Self.inbox(["a", nil, "b", "a", "a"])
        var ids = RetainedIDs()
        try ids.scan(inbox.folder)
        #expect(ids.count == 4)
        let reader = try InboxReader(inbox.folder)
        #expect(try ids.original(of: "a", before: places[0], in: reader) == nil)
        #expect(try ids.original(of: "a", before: places[3], in: reader)?.position == places[0])
        #expect(try ids.original(of: "a", before: places[4], in: reader)?.position == places[0])
        #expect(try ids.original(of: "a", before: nil, in: reader)?.position == places[0])
        #expect(try ids.original(of: "b", before: places[2], in: reader) == nil)
        #expect(try ids.original(of: "c", before: nil, in: reader) == nil)
        #expect(try ids.original(of: "inner", before: nil, in: reader) == nil)
    }

    @Test("an id is noted and compared in one step", arguments: [true, false])
    func inserted(isScanned: Bool) throws {
        let (inbox, places) = try Self.inbox(["a", "b", "a", "b", "a"])
        var ids = RetainedIDs()
        if isScanned { try ids.scan(inbox.folder) }
        let reader = try InboxReader(inbox.folder)
        let originals = try zip(["a", "b", "a", "b", "a"], places).map {
            try ids.insert($0, at: $1, findingOriginalIn: reader)?.position
        }
        #expect(originals == [nil, nil, places[0], places[1], places[0]])
        #expect(ids.count == 5)
    }

    @Test("a line that was rejected keeps no record with its id away")
    func rejected() throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder)
        let places = try writer.append(
            Self.record("a", event: "psuh"), Self.record("a", event: "phus"), Self.record("a"),
            Self.record("a"))
        var ids = RetainedIDs()
        try ids.scan(inbox.folder)
        let reader = try InboxReader(inbox.folder)
        #expect(try ids.original(of: "a", before: places[2], in: reader) == nil)
        #expect(try ids.original(of: "a", before: places[3], in: reader)?.position == places[2])
    }

    @Test("an id that was noted where nothing stands is none")
    func nothingThere() throws {
        let (inbox, _) = try Self.inbox(["a"])
        var ids = RetainedIDs()
        ids.insert("b", at: "1:1")
        ids.insert("c", at: "1:3")
        ids.insert("d", at: "7:0")
        let reader = try InboxReader(inbox.folder)
        for id in ["b", "c", "d"] {
            #expect(try ids.original(of: id, before: nil, in: reader) == nil)
        }
    }

    @Test("the ids of removed segments are forgotten, unless the log has them once more")
    func removal() throws {
        let (inbox, places) = try Self.inbox(["a", "b", "a", "a", "c"], segment: 10)
        var ids = RetainedIDs()
        try ids.scan(inbox.folder)
        #expect(ids.count == 5)
        let reader = try InboxReader(inbox.folder)
        ids.removeSegments(below: 2)
        #expect(ids.count == 4)
        #expect(try ids.original(of: "a", before: nil, in: reader)?.position == places[2])
        ids.removeSegments(below: 4)
        #expect(ids.count == 2)
        #expect(try ids.original(of: "a", before: nil, in: reader)?.position == places[3])
        #expect(try ids.original(of: "b", before: nil, in: reader) == nil)
        ids.removeSegments(below: 9)
        #expect(ids.count == 0)
    }

    /// Notes ids of one segment.
    private static func fill(_ ids: inout RetainedIDs, _ segment: UInt32, _ count: Int) {
        for number in 0..<count {
            ids.insert(
                "\(segment)-\(number)",
                at: EventPosition(segment: segment, offset: UInt32(number)))
        }
    }

    @Test("an id takes at most 16 bytes, however many the log has")
    func room() {
        var ids = RetainedIDs()
        var counts: [Int] = []
        for count in 1...20_000 {
            ids.insert("\(count)", at: EventPosition(segment: 1, offset: UInt32(count)))
            // The tables of a few ids have free slots: at most 8 each.
            if ids.size > 16 * count + 256 * 8 * 12 { counts.append(count) }
        }
        #expect(counts == [])
        #expect(ids.count == 20_000)
    }

    @Test("an id may stand at the last of all positions")
    func lastPosition() throws {
        let (inbox, _) = try Self.inbox(["a"])
        var ids = RetainedIDs()
        ids.insert("x", at: EventPosition(segment: 1, offset: .max))
        #expect(try ids.original(of: "x", before: nil, in: InboxReader(inbox.folder)) == nil)
    }

    @Test("removed ids give their room back", arguments: [500, 900, 1300, 1700, 2100])
    func removedRoom(size: Int) {
        var ids = RetainedIDs()
        for segment in 1...8 { Self.fill(&ids, UInt32(segment), size) }
        for segment in 2...6 { ids.removeSegments(below: UInt32(segment)) }
        #expect(ids.count == 3 * size)
        // All of it, when one of four segments has gone last.
        #expect(ids.size <= 16 * 3 * size + 256 * 8 * 12)
        ids.removeSegments(below: .max)
        #expect(ids.count == 0)
        #expect(ids.size == 256 * 8 * 12)
    }

    @Test(
        "where one of many segments goes at a time, the ids of at most half as many more have room")
    func roomOfLongLog() {
        var ids = RetainedIDs()
        for segment in 1...40 { Self.fill(&ids, UInt32(segment), 500) }
        for segment in 41...120 {
            Self.fill(&ids, UInt32(segment), 500)
            ids.removeSegments(below: UInt32(segment - 39))
            #expect(ids.count == 40 * 500)
            #expect(ids.size <= 16 * 60 * 500)
        }
    }

    @Test("ids that a segment had many times give their room back, too")
    func removedRepetitions() {
        var ids = RetainedIDs()
        for number in 0..<12_000 {
            let position = EventPosition(segment: UInt32(number % 2 + 1), offset: UInt32(number))
            ids.insert("\(number / 2 % 1000)", at: position)
        }
        ids.removeSegments(below: 2)
        #expect(ids.count == 6000)
        ids.removeSegments(below: 3)
        #expect(ids.count == 0)
        #expect(ids.size <= 256 * 8 * 12)
    }

    @Test("what is noted of a removed segment has no effect")
    func insertionBelow() {
        var ids = RetainedIDs()
        Self.fill(&ids, 3, 10)
        ids.removeSegments(below: 3)
        let size = ids.size
        Self.fill(&ids, 2, 5000)
        #expect(ids.size == size)
        #expect(ids.count == 10)
        ids.removeSegments(below: 4)
        Self.fill(&ids, 3, 10)
        #expect(ids.count == 0)
    }

    @Test("the order in which ids are noted makes no difference, nor does noting them twice")
    func order() throws {
        let (inbox, places) = try Self.inbox(Array(repeating: "a", count: 24), segment: 500)
        let segments = Set(places.map(\.segment)).sorted()
        #expect(segments.count == 3)
        let reader = try InboxReader(inbox.folder)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<20 {
            var ids = RetainedIDs()
            for place in (places + places).shuffled(using: &random) { ids.insert("a", at: place) }
            #expect(ids.count == places.count)
            for segment in segments {
                let left = places.filter { $0.segment >= segment }
                ids.removeSegments(below: segment)
                #expect(ids.count == left.count)
                #expect(try ids.original(of: "a", before: nil, in: reader)?.position == left[0])
                #expect(try ids.original(of: "a", before: left[0], in: reader) == nil)
                #expect(try ids.original(of: "a", before: left[1], in: reader)?.position == left[0])
            }
            ids.removeSegments(below: .max)
            #expect(ids.count == 0)
        }
    }

    @Test("ids with one hash are distinguished", arguments: [0, 1, 7, .max] as [UInt64])
    func collisions(hash: UInt64) throws {
        let texts = (0..<40).map { "\($0 % 20)" }
        let (inbox, places) = try Self.inbox(texts, segment: 700)
        #expect(Set(places.map(\.segment)).count > 2)
        var ids = RetainedIDs { _ in hash }
        try ids.scan(inbox.folder)
        let reader = try InboxReader(inbox.folder)
        for (place, text) in zip(places[..<20], texts) {
            #expect(try ids.original(of: text, before: place, in: reader) == nil)
            #expect(try ids.original(of: text, before: nil, in: reader)?.position == place)
        }
        for (number, place) in places[20...].enumerated() {
            #expect(
                try ids.original(of: texts[number], before: place, in: reader)?.position
                    == places[number])
        }
        #expect(try ids.original(of: "20", before: nil, in: reader) == nil)
        #expect(ids.count == 40)
    }

    @Test("lines with one id that are not records are read once", arguments: [3, 30])
    func rejectedMany(count: Int) throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder)
        let lines = Array(repeating: Self.record("a", event: "psuh"), count: count)
        let places = try (lines + [Self.record("a"), Self.record("a")]).flatMap {
            try writer.append($0)
        }
        var ids = RetainedIDs()
        try ids.scan(inbox.folder)
        #expect(ids.count == count + 2)
        let reader = try InboxReader(inbox.folder)
        for place in [places[count + 1], nil] {
            let original = try ids.original(of: "a", before: place, in: reader)
            #expect(original?.position == places[count])
            #expect(ids.count == 2)
        }
        ids.insert("a", at: places[count])
        #expect(ids.count == 2)
    }

    @Test("the original is the one that a search of the whole log finds", arguments: 1...12)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let texts = (0..<Int.random(in: 1...30, using: &random)).map { "\($0)" }
        let log = (0..<60).map { _ in
            (
                id: texts.randomElement(using: &random) ?? "",
                isRecord: Int.random(in: 0..<3, using: &random) > 0
            )
        }
        let inbox = try InboxUnderTest { $0.segment = 1000 }
        let writer = try InboxWriter(inbox.folder)
        let places = try log.flatMap {
            try writer.append(Self.record($0.id, event: $0.isRecord ? "push" : "psuh"))
        }
        let reader = try InboxReader(inbox.folder)
        let hashes = UInt64.random(in: 1...5, using: &random)
        var ids = RetainedIDs { bytes in
            bytes.reduce(0) { $0 &* 31 &+ UInt64($1) } % hashes &* 0x5555_5555_5555_5555
        }
        var known: Set<EventPosition> = []
        var removed: UInt32 = 0
        for _ in 0..<300 {
            let index = Int.random(in: 0..<60, using: &random)
            ids.insert(log[index].id, at: places[index])
            if places[index].segment >= removed { known.insert(places[index]) }
            if Int.random(in: 0..<100, using: &random) == 0 {
                let segment = places.randomElement(using: &random)?.segment ?? 1
                ids.removeSegments(below: segment)
                removed = max(removed, segment)
                known = known.filter { $0.segment >= segment }
            }
            let asked = Int.random(in: 0..<60, using: &random)
            let first = places.indices.first {
                $0 < asked && known.contains(places[$0]) && log[$0].isRecord
                    && log[$0].id == log[asked].id
            }
            let original = try ids.original(
                of: log[asked].id, before: places[asked], in: reader)
            #expect(original?.position == first.map { places[$0] })
        }
    }

    // MARK: Finding the id

    static let lines: [(String, String?)] = [
        (#"{"event":"push","id":"a"}"#, "a"),
        (#"{"id":"a","event":"push"}"#, "a"),
        (#"{ "id" : "a" }"#, "a"),
        (#"{"id":""}"#, ""),
        (#"{"id":"a\"b\\"}"#, #"a"b\"#),
        (#"{"\u0069d":"\u00e9"}"#, "é"),
        (#"{"payload":{"id":"x"},"id":"a"}"#, "a"),
        (#"{"payload":["id","x",{"id":"y"}],"id":"a"}"#, "a"),
        (#"{"payload":{"id":"x"}}"#, nil),
        (#"{"payload":"id","event":"push"}"#, nil),
        (#"{"event":"id","time":"x"}"#, nil),
        (#"{"event":"\"id\":\"x\""}"#, nil),
        (#"{"idx":"a","i":"d","":"x"}"#, nil),
        (#"{"id":5,"x":"a"}"#, nil),
        (#"{"id":{"id":"x"}}"#, nil),
        (#"{"id":["x"]}"#, nil),
        ("", nil), ("{", nil), (#"{"id"#, nil), (#"{"id":"a"#, nil), (#"{"id":"a\"#, nil),
        ("}}}}\"", nil), ("\\", nil),
    ]

    @Test("the id is found without reading the rest", arguments: lines)
    func scan(line: String, id: String?) {
        let padded = Array("##\(line)".utf8)
        let found = IDScanner.id(in: padded[2...])
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == id)
    }

    @Test("it is the id that the record has, whatever else the record has")
    func agreement() throws {
        var random = SeededGenerator(seed: 5)
        let texts = ["id", "a\"", "\\", "{", "}", "[", ":", ",", "é", "\u{0}", "🚀", "\"id\":\"x\""]
        func text() -> String {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in
                texts.randomElement(using: &random) ?? ""
            }.joined()
        }
        for _ in 0..<2000 {
            var payload = JSONWriter()
            payload.object {
                $0.member("x" + text(), text())
                $0.member("id") { $0.array { $0.value(text()) } }
            }
            let id = Bool.random(using: &random) ? text() : nil
            let line = InboxRecord.line(
                .push, payload: try JSONValue(parsing: payload.bytes), id: id)
            #expect(try InboxRecord(parsing: line[...]).id == id)
            #expect(IDScanner.id(in: line[...]).map { String(decoding: $0, as: UTF8.self) } == id)
        }
    }

    @Test("any bytes at all can be scanned")
    func anyBytes() {
        var random = SeededGenerator(seed: 6)
        let alphabet = Array("{}[]\",:\\id u0069".utf8)
        for _ in 0..<5000 {
            let line = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            _ = IDScanner.id(in: line[...])
        }
    }
}
