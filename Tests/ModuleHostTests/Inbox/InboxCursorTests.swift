import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("InboxCursor")
struct InboxCursorTests {
    @Test("it is read as it was stored, and counts how often it was")
    func roundTrip() throws {
        let inbox = try InboxUnderTest()
        var cursor = InboxCursor(
            next: "3:4096",
            modules: [try ModuleID("com.mm.push"): "2:17", try ModuleID("com.mm.a"): "3:0"],
            attempts: ["3:4096": 1, "2:17": 2], uncertainBefore: "3:5000")
        try cursor.store(in: inbox.folder)
        #expect(
            try inbox.state.text(of: "inbox/cursor")
                == #"{"next":"3:4096","modules":{"com.mm.a":"3:0","com.mm.push":"2:17"},"#
                + #""attempts":{"2:17":2,"3:4096":1},"uncertainBefore":"3:5000","sequence":1}"#
                + "\n")
        #expect(try inbox.state.mode(of: "inbox/cursor") == 0o600)
        var read = try InboxCursor.load(from: inbox.folder).get()
        #expect(read.next == cursor.next)
        #expect(read.modules == cursor.modules)
        #expect(read.attempts == cursor.attempts)
        #expect(read.uncertainBefore == "3:5000")
        #expect(read.sequence == 1)
        #expect(read.lowest == "2:17")
        try read.store(in: inbox.folder)
        try read.store(in: inbox.folder)
        #expect(try InboxCursor.load(from: inbox.folder).get().sequence == 3)
    }

    @Test("one that says nothing yet is short, and has no lowest position")
    func empty() throws {
        let inbox = try InboxUnderTest()
        var cursor = InboxCursor()
        #expect(cursor.lowest == nil)
        try cursor.store(in: inbox.folder)
        #expect(try inbox.state.text(of: "inbox/cursor") == "{\"sequence\":1}\n")
        #expect(try InboxCursor.load(from: inbox.folder).get().next == nil)
    }

    @Test("without one the inbox is read from its start, which is said")
    func missing() throws {
        let inbox = try InboxUnderTest()
        let path = inbox.folder.cursorPath
        #expect(throws: InboxCursorError.missing(path: path)) {
            try InboxCursor.load(from: inbox.folder).get()
        }
        #expect(
            InboxCursorError.missing(path: path).description
                == "no cursor '\(path)': the inbox is read from its start")
    }

    static let brokenTexts: [(String, String)] = [
        ("", "line 1, column 1: expected a JSON value, found nothing"),
        (
            "{\"next\":\"3:4",
            "line 1, column 13: the text ends inside the string that begins at line 1, column 9"
        ),
        ("7", "'sequence' is not a number"),
        (#"{"next":"3:4096"}"#, "'sequence' is not a number"),
        (#"{"sequence":-1}"#, "'sequence' is not a number"),
        (#"{"sequence":1,"next":"0:1"}"#, "'next' is not a position"),
        (#"{"sequence":1,"next":4}"#, "'next' is not a position"),
        (#"{"sequence":1,"modules":{"x":"1:1"}}"#, "'modules' has no position for 'x'"),
        (
            #"{"sequence":1,"modules":{"com.mm.x":1}}"#, "'modules' has no position for 'com.mm.x'"
        ),
        (#"{"sequence":1,"attempts":{"1:1":"a"}}"#, "'attempts' has no number for '1:1'"),
        (#"{"sequence":1,"attempts":{"x":1}}"#, "'attempts' has no number for 'x'"),
    ]

    @Test("a broken one is none, and it is said what is wrong with it", arguments: brokenTexts)
    func broken(text: String, reason: String) throws {
        let inbox = try InboxUnderTest()
        try inbox.state.write(text, to: "inbox/cursor")
        let error = #expect(throws: InboxCursorError.self) {
            try InboxCursor.load(from: inbox.folder).get()
        }
        #expect(
            error?.description
                == "the cursor '\(inbox.folder.cursorPath)' is broken (\(reason)): the inbox is read "
                + "from its start, and events that were done are delivered again")
    }

    @Test("one that cannot be read is broken too")
    func unreadable() throws {
        let inbox = try InboxUnderTest()
        try makeFolders(inbox.folder.cursorPath)
        #expect(
            throws: InboxCursorError.broken(
                path: inbox.folder.cursorPath, "is a folder, not a file")
        ) { try InboxCursor.load(from: inbox.folder).get() }
    }

    @Test("one that cannot be stored leaves the one before, and its number")
    func failedStore() throws {
        let inbox = try InboxUnderTest()
        var cursor = InboxCursor(next: "1:5")
        try cursor.store(in: inbox.folder)
        try inbox.state.move("inbox", to: "elsewhere")
        cursor.next = "1:9"
        #expect(throws: InboxError.self) { try cursor.store(in: inbox.folder) }
        #expect(cursor.sequence == 1)
        try inbox.state.move("elsewhere", to: "inbox")
        #expect(try InboxCursor.load(from: inbox.folder).get().next == "1:5")
        // What it speaks of reaches the disk, and the file itself does not.
        try inbox.state.move("inbox/cursor", to: "cursor")
        try makeFolders(inbox.folder.cursorPath)
        #expect(throws: InboxError.self) { try cursor.store(in: inbox.folder) }
        #expect(cursor.sequence == 1)
    }

    @Test("a cursor past the end of the log is clamped by the reader")
    func clamped() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n")
        var cursor = InboxCursor(next: "1:500")
        try cursor.store(in: inbox.folder)
        let next = try InboxCursor.load(from: inbox.folder).get().next
        let reader = try InboxReader(inbox.folder, from: next)
        #expect(reader.position == "1:5")
        #expect(reader.notices == [.pastEnd("1:500", end: "1:5")])
    }
}
