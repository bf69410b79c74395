import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("InboxReader")
struct InboxReaderTests {
    // MARK: Lines

    @Test(
        "lines are found however they are written",
        arguments: [
            ("", []),
            ("\n", []),
            ("\n\n\n", []),
            ("\n{1}\n", ["1:1 {1} 1:5"]),
            ("{1}\n{2}\n", ["1:0 {1} 1:4", "1:4 {2} 1:8"]),
            ("\n{1}\n\n\n\n{2}\n", ["1:1 {1} 1:5", "1:8 {2} 1:12"]),
            ("{1}\r\n", ["1:0 {1}\r 1:5"]),
            ("\0\0\n{2}\n", ["1:0 \0\0 1:3", "1:3 {2} 1:7"]),
            // Without an end: it is waited for.
            ("{1}", []),
            ("\n{1}\n{2", ["1:1 {1} 1:5"]),
        ])
    func lines(text: String, found: [String]) throws {
        let inbox = try InboxUnderTest()
        try inbox.put(text)
        #expect(try inbox.read().map(\.description) == found)
        #expect(try inbox.read(atMost: 1).map(\.description) == found)
    }

    @Test("however few bytes are read at a time", arguments: [2, 3, 5, 16])
    func reading(count: Int) throws {
        let inbox = try InboxUnderTest {
            $0.reading = count
            $0.line = 8
            $0.excerpt = 3
        }
        try inbox.put("\n{1}\n123456789\n12345678\n\n\n1234567890123456\n{2}\nabcdefghij", in: 1)
        try inbox.put("\n{3}\n{to", in: 2)
        try inbox.put("abcdefghijklm\n{4}", in: 3)
        let tooLong = { (count: Int) in
            "[a line of \(count) bytes; a record has at most 8]"
        }
        let torn = "[the line has no end: its writer was interrupted]"
        #expect(
            try inbox.read().map(\.description) == [
                "1:1 {1} 1:5", "1:5 \(tooLong(9)) 123 1:15", "1:15 12345678 1:24",
                "1:26 \(tooLong(16)) 123 1:43", "1:43 {2} 1:47", "1:47 \(torn) abc 1:57",
                "2:1 {3} 2:5", "2:5 \(torn) {to 2:8", "3:0 \(tooLong(13)) abc 3:14",
            ])
    }

    @Test("a line of a mebibyte is a record, one byte more is none; its memory is not kept")
    func longLines() throws {
        let inbox = try InboxUnderTest()
        let limit = inbox.folder.limits.line
        try inbox.put(
            "\n\(line(ofLength: limit))\n\(line(ofLength: limit + 1))\n{1}\n"
                + "\(line(ofLength: 5 * limit))\n{2}\n")
        let items = try InboxReader(inbox.folder).next(atMost: 10, bytes: .max)
        #expect(items.map(\.bytes.count) == [limit, 4096, 3, 4096, 3])
        #expect(
            items.map { $0.error?.description } == [
                nil, "a line of 1048577 bytes; a record has at most 1048576", nil,
                "a line of 5242880 bytes; a record has at most 1048576", nil,
            ])
        // The excerpt is no part of a larger piece.
        #expect(items[3].bytes.startIndex == 0)
    }

    @Test("a call ends when it has enough bytes, but gives one line at least")
    func bytes() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n" + String(repeating: "\(line(ofLength: 100))\n", count: 10))
        let reader = try InboxReader(inbox.folder)
        #expect(try reader.next(atMost: 10, bytes: 250).count == 3)
        #expect(try reader.next(atMost: 10, bytes: 200).count == 2)
        #expect(try reader.next(atMost: 10, bytes: 1).count == 1)
        #expect(try reader.next(atMost: 10).count == 4)
        #expect(reader.position == "1:1011")
    }

    // MARK: The end of the log

    @Test("a record that was torn at any byte is waited for, and costs no other anything")
    func tornTails() throws {
        let record = Array("\n{\"event\":\"push\"}\n".utf8)
        for cut in 0..<record.count {
            let inbox = try InboxUnderTest()
            try inbox.put(Array("\n{1}\n".utf8) + record[..<cut])
            let reader = try InboxReader(inbox.folder)
            #expect(try reader.all().map(\.line) == ["{1}"])
            #expect(try reader.next(atMost: 10).isEmpty)
            // The next writer, whichever it is.
            #expect(try InboxWriter(inbox.folder).append("{2}").count == 1)
            let rest = try reader.all()
            #expect(rest.last?.line == "{2}")
            // What was there becomes a line of its own: hardly ever JSON, but that is not known here.
            let torn = String(decoding: record[..<cut].dropFirst(), as: UTF8.self)
            #expect(rest.dropLast().map(\.line) == (torn.isEmpty ? [] : [torn]))
            #expect(try inbox.read().dropFirst() == rest[...])
        }
    }

    @Test("a torn tail that a segment ends with is an error when the next one begins")
    func tornSegment() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n\n{to")
        let reader = try InboxReader(inbox.folder)
        #expect(try reader.all().map(\.line) == ["{1}"])
        #expect(reader.position == "1:6")
        try inbox.put("\n{2}\n", in: 2)
        #expect(
            try reader.all().map(\.description) == [
                "1:6 [the line has no end: its writer was interrupted] {to 1:9", "2:1 {2} 2:5",
            ])
    }

    @Test("what is appended is found, also in new segments")
    func goesOn() throws {
        let inbox = try InboxUnderTest { $0.segment = 20 }
        let writer = try InboxWriter(inbox.folder)
        let reader = try InboxReader(inbox.folder)
        var found: [EventPosition] = []
        var written: [EventPosition] = []
        for number in 0..<20 {
            written += try writer.append("{\(number)}", "{}")
            found += try reader.all().map(\.position)
            #expect(found == written)
        }
        #expect(try inbox.folder.segments() == Array(1...7))
        #expect(try reader.end() == EventPosition(segment: 7, offset: UInt32(inbox.bytes(7).count)))
        // Also where nothing was read since.
        _ = try writer.append("{}")
        let newest = try #require(try inbox.folder.segments().last)
        let size = UInt32(try inbox.bytes(newest).count)
        #expect(try reader.end() == EventPosition(segment: newest, offset: size))
    }

    @Test("what is not yet committed is not seen: its writer has the lock")
    func uncommitted() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n")
        let reader = try InboxReader(inbox.folder)
        // After the reader looked.
        try inbox.appendBare("\n{2}\n")
        #expect(try reader.next(atMost: 1).map { Found($0).line } == ["{1}"])
        let lock = try Descriptor(lockFile: inbox.folder.lockPath)
        #expect(try lock.tryLock(.shared), "the reader does not keep the lock")
        #expect(try reader.next(atMost: 10).map { Found($0).line } == ["{2}"])
    }

    // MARK: Where it begins

    static let starts: [(EventPosition?, [String], String?)] = [
        (nil, ["{1}", "{2}", "{3}", "{4}"], nil),
        // Of the first segment there is: none was taken away below it.
        ("1:7", ["{1}", "{2}", "{3}", "{4}"], nil),
        ("2:0", ["{1}", "{2}", "{3}", "{4}"], nil),
        ("2:1", ["{1}", "{2}", "{3}", "{4}"], nil),
        // Inside of a record.
        ("2:2", ["{2}", "{3}", "{4}"], nil),
        ("2:4", ["{2}", "{3}", "{4}"], nil),
        ("2:5", ["{2}", "{3}", "{4}"], nil),
        ("2:6", ["{3}", "{4}"], nil),
        ("2:9", ["{3}", "{4}"], nil),
        // Behind the end of a segment that is not the newest.
        ("2:10", ["{3}", "{4}"], nil),
        ("2:999", ["{3}", "{4}"], nil),
        // In one that is gone.
        ("3:5", ["{3}", "{4}"], nil),
        ("4:5", ["{4}"], nil),
        ("4:9", [], nil),
        (
            "4:10", [],
            "position 4:10 is past the end of the inbox; continuing at its end, 4:9"
        ),
        ("5:0", [], "position 5:0 is past the end of the inbox; continuing at its end, 4:9"),
    ]

    @Test("it begins at the given place, or at the next one there is", arguments: starts)
    func start(position: EventPosition?, lines: [String], notice: String?) throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n{2}\n", in: 2)
        try inbox.put("\n{3}\n{4}\n", in: 4)
        try removeFile(inbox.folder.path(ofSegment: 1))
        let reader = try InboxReader(inbox.folder, from: position)
        #expect(reader.notices.map(\.description) == [notice].compactMap(\.self))
        #expect(try reader.all().map(\.line) == lines)
        // Whatever the start, it goes on.
        _ = try InboxWriter(inbox.folder).append("{5}")
        #expect(try reader.all().map(\.line) == ["{5}"])
        // Single records are found by the same rule.
        if let position, notice == nil {
            let single = try reader.read(at: position).map { Found($0).line }
            #expect(single == (lines.first ?? "{5}"))
        }
    }

    @Test("an empty log has an end, whatever the cursor says; what comes then is new")
    func empty() throws {
        let inbox = try InboxUnderTest()
        try inbox.folder.removeAllSegments()
        let reader = try InboxReader(inbox.folder, from: "3:7")
        #expect(try reader.all() == [])
        try inbox.put("\n{1}\n", in: 4)
        #expect(try reader.all().map(\.line) == ["{1}"])
    }

    @Test("behind a torn tail at the end of the log it begins with what follows")
    func pastTornTail() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n{to")
        let reader = try InboxReader(inbox.folder, from: "1:100")
        #expect(reader.notices == [.pastEnd("1:100", end: "1:8")])
        _ = try InboxWriter(inbox.folder).append("{2}")
        #expect(try reader.all().map(\.description) == ["1:9 {2} 1:13"])
    }

    @Test("a log that was cut off below is continued at its end, and this is reported")
    func shortened() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n{2}\n{3}\n")
        let reader = try InboxReader(inbox.folder)
        #expect(try reader.all().count == 3)
        try SegmentFile(
            opening: inbox.folder.path(ofSegment: 1), number: 1, isWritable: true
        ).truncate(to: 5)
        #expect(try reader.all() == [])
        #expect(
            reader.notices.map(\.description) == [
                "inbox truncated: read up to 1:13, found the end at 1:5; segments were removed or "
                    + "cut. Continuing at the end"
            ])
        _ = try InboxWriter(inbox.folder).append("{4}")
        #expect(try reader.all().map(\.line) == ["{4}"])
    }

    @Test("a segment that is removed while it is read is read to its end")
    func removedSegment() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n{2}\n")
        try inbox.put("\n{3}\n", in: 2)
        let reader = try InboxReader(inbox.folder)
        #expect(try reader.next(atMost: 1).count == 1)
        try inbox.folder.removeSegments(below: "2:0")
        #expect(try reader.all().map(\.line) == ["{2}", "{3}"])
    }

    @Test("what cannot be read is an error, and nothing is lost")
    func unreadable() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n")
        try inbox.put("\n{3}\n", in: 3)
        let reader = try InboxReader(inbox.folder)
        try makeFolders(inbox.folder.path(ofSegment: 2))
        #expect(try reader.all().map(\.line) == ["{1}", "{3}"])
        let other = try InboxReader(inbox.folder)
        for _ in 0..<2 {
            let error = #expect(throws: InboxError.self) { try other.next(atMost: 10) }
            #expect(
                error?.description
                    == "cannot open '\(inbox.folder.path(ofSegment: 2))': Invalid argument")
        }
        try inbox.state.move("inbox/00000002.ndjson", to: "elsewhere")
        #expect(try other.all().map(\.line) == ["{1}", "{3}"])
    }

    // MARK: Single records

    @Test("single records are read by their positions, in any order")
    func single() throws {
        let inbox = try InboxUnderTest { $0.segment = 100 }
        let writer = try InboxWriter(inbox.folder)
        var positions: [EventPosition] = []
        for number in 0..<60 { positions += try writer.append("{\(number)}") }
        let reader = try InboxReader(inbox.folder)
        var random = SeededGenerator(seed: 2)
        for _ in 0..<100 {
            let number = Int.random(in: 0..<60, using: &random)
            let item = try #require(try reader.read(at: positions[number]))
            #expect(Found(item).line == "{\(number)}")
            #expect(item.position == positions[number])
        }
        // One after the other, by where each ends.
        var place = positions[0]
        for number in 0..<60 {
            let item = try #require(try reader.read(at: place))
            #expect(Found(item).line == "{\(number)}")
            place = item.end
        }
        #expect(try reader.read(at: place) == nil)
        #expect(reader.position == "1:0", "it does not move the reader")
        positions += try writer.append("{60}")
        #expect(try reader.read(at: place).map { Found($0).line } == "{60}")
    }
}
