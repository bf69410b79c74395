import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("InboxFolder")
struct InboxFolderTests {
    @Test("making it makes the folder, the lock and the first segment, for this user alone")
    func make() throws {
        let inbox = try InboxUnderTest()
        #expect(try inbox.state.mode(of: "inbox") == 0o700)
        #expect(try inbox.state.mode(of: "inbox/00000001.ndjson") == 0o600)
        #expect(try inbox.folder.segments() == [1])
        #expect(inbox.folder.lockPath == "\(inbox.state.path)/inbox/inbox.lock")
        // Again, it changes nothing.
        try inbox.put("\n{}\n")
        try inbox.folder.make()
        #expect(try inbox.folder.segments() == [1])
        #expect(try inbox.text() == "\n{}\n")
    }

    @Test("a folder that cannot be made says so")
    func unmakable() throws {
        let state = try TemporaryFolder()
        try state.write("", to: "inbox")
        let folder = InboxFolder(in: StateDirectory(path: state.path))
        let error = #expect(throws: InboxError.self) { try folder.make() }
        #expect(
            error?.description == "cannot create folder '\(state.path)/inbox': Not a directory")
    }

    @Test(
        "only names of eight digits or more are segments",
        arguments: [
            ("00000001.ndjson", 1), ("00000123.ndjson", 123), ("99999999.ndjson", 99_999_999),
            ("100000000.ndjson", 100_000_000), ("4294967295.ndjson", UInt32.max),
            ("00000000.ndjson", nil), ("4294967296.ndjson", nil), ("1.ndjson", nil),
            ("000000001.ndjson", nil), ("00000001.json", nil), ("00000001", nil),
            ("+0000001.ndjson", nil), ("0000000a.ndjson", nil), (".ndjson", nil),
            ("00000001.ndjson.swp", nil), ("dead-letters.ndjson", nil), ("cursor", nil),
            ("99999999999999999999.ndjson", nil),
        ] as [(String, UInt32?)])
    func names(name: String, number: UInt32?) throws {
        #expect(InboxFolder.segmentNumber(name) == number)
        let folder = InboxFolder(in: StateDirectory(path: "s"))
        if let number { #expect(folder.path(ofSegment: number) == "s/inbox/\(name)") }
    }

    @Test("segments are listed by number, whatever else is there")
    func segments() throws {
        let inbox = try InboxUnderTest()
        for number: UInt32 in [10, 2, 100_000_000] { try inbox.put("", in: number) }
        try inbox.state.write("", to: "inbox/7.ndjson")
        #expect(try inbox.folder.segments() == [1, 2, 10, 100_000_000])
    }

    @Test("what lies below the lowest position is removed, but never the newest segment")
    func removal() throws {
        let inbox = try InboxUnderTest()
        for number: UInt32 in 2...5 { try inbox.put("", in: number) }
        try inbox.folder.removeSegments(below: "3:0")
        #expect(try inbox.folder.segments() == [3, 4, 5])
        try inbox.folder.removeSegments(below: "3:4000")
        #expect(try inbox.folder.segments() == [3, 4, 5])
        try inbox.folder.removeSegments(below: "9:0")
        #expect(try inbox.folder.segments() == [5])
    }

    @Test("a folder that lost its segments goes on above every number that the cursor knows")
    func lostSegments() throws {
        let inbox = try InboxUnderTest()
        var cursor = InboxCursor(
            next: "3:100", modules: [try ModuleID("com.mm.x"): "7:5"], attempts: ["8:5": 1])
        try cursor.store(in: inbox.folder)
        try inbox.folder.removeAllSegments()
        try inbox.folder.make()
        #expect(try inbox.folder.segments() == [9])
        // A writer that is open goes on in the same way.
        let writer = try InboxWriter(inbox.folder)
        try inbox.folder.removeAllSegments()
        #expect(try writer.append("{}") == ["9:1"])
        // … but never at a place that it has used itself.
        try inbox.folder.removeAllSegments()
        #expect(try writer.append("{}") == ["10:1"])
    }
}

extension InboxFolder {
    /// Removes all segments, as no program should.
    func removeAllSegments() throws {
        for number in try segments() { try removeFile(path(ofSegment: number)) }
    }
}
