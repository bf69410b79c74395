import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("DeadLetters")
struct DeadLettersTests {
    private static let time = WallTime(seconds: 1_772_358_060, nanoseconds: 123_000_000)

    private static func event(
        _ position: EventPosition, _ line: String = #"{"event":"push","payload":{}}"#,
        modules: [ModuleID]? = nil
    ) -> DeadLetter {
        DeadLetter(
            time: time, reason: "why", position: position, modules: modules, line: Array(line.utf8))
    }

    @Test("an event is written as one line, with all that is known")
    func format() throws {
        let inbox = try InboxUnderTest()
        let rejected = DeadLetters(inbox.folder)
        let whole = DeadLetter(
            time: Self.time, reason: "the host died three times", position: "3:4096", id: "a-1",
            attempt: 3, modules: [try ModuleID("com.mm.x")], line: Array(#"{"event":"push"}"#.utf8))
        try rejected.append([whole])
        let garbage = DeadLetter(
            time: Self.time, reason: "no JSON", position: "3:5000", line: [0xFF, 0x00, 0x0A, 0x41])
        try rejected.append([garbage])
        #expect(
            try inbox.state.text(of: "inbox/dead-letters.ndjson")
                == #"{"time":"2026-03-01T09:41:00.123Z","reason":"the host died three times","#
                + #""position":"3:4096","id":"a-1","attempt":3,"modules":["com.mm.x"],"#
                + #""line":"{\"event\":\"push\"}"}"# + "\n"
                + #"{"time":"2026-03-01T09:41:00.123Z","reason":"no JSON","position":"3:5000","#
                + #""base64":"/wAKQQ=="}"# + "\n")
        #expect(try inbox.state.mode(of: "inbox/dead-letters.ndjson") == 0o600)
        #expect(try rejected.contents().events == [whole, garbage])
    }

    @Test("without a file there are none")
    func none() throws {
        let inbox = try InboxUnderTest()
        let rejected = DeadLetters(inbox.folder)
        #expect(try rejected.contents() == .init())
        #expect(try rejected.take { _ in true } == [])
        try rejected.append([])
        #expect(try rejected.contents() == .init())
    }

    @Test("those that are asked for are taken out, the others stay, also what cannot be read")
    func take() throws {
        let inbox = try InboxUnderTest()
        let rejected = DeadLetters(inbox.folder)
        try rejected.append(["1:1", "1:5", "1:5", "2:1"].map { Self.event($0) })
        let file = try AppendFile(path: inbox.folder.deadLettersPath)
        // A writer was cut off here.
        try file.append(Array("{\"time\":\"20".utf8))
        try rejected.append([Self.event("2:9")])
        #expect(try rejected.contents().unreadable == 1)
        #expect(try rejected.take { $0.position == "1:5" }.map(\.position) == ["1:5", "1:5"])
        #expect(try rejected.take { $0.position == "1:5" } == [])
        #expect(try rejected.contents().events.map(\.position) == ["1:1", "2:1", "2:9"])
        #expect(try rejected.contents().unreadable == 1)
        #expect(try inbox.state.mode(of: "inbox/dead-letters.ndjson") == 0o600)
        #expect(try rejected.take { _ in true }.count == 3)
        #expect(try inbox.state.text(of: "inbox/dead-letters.ndjson") == "{\"time\":\"20\n")
    }

    @Test("a dead letter is retried for the modules that did not receive it")
    func retry() throws {
        let modules = [try ModuleID("com.mm.x"), try ModuleID("com.mm.y")]
        #expect(
            String(decoding: try Self.event("1:1", modules: modules).lineForRetry(), as: UTF8.self)
                == #"{"event":"push","payload":{},"modules":["com.mm.x","com.mm.y"],"retried":true}"#
        )
        #expect(
            String(decoding: try Self.event("1:1").lineForRetry(), as: UTF8.self)
                == #"{"event":"push","payload":{},"retried":true}"#)
        let error = #expect(throws: InboxRecordError.self) {
            try Self.event("1:1", "x").lineForRetry()
        }
        #expect(
            error?.description
                == "not valid JSON: column 1: expected a value, found x; a string must be in double quotes"
        )
    }

    @Test("a file that cannot be written or read says so")
    func unusable() throws {
        let inbox = try InboxUnderTest()
        let path = inbox.folder.deadLettersPath
        try makeFolders(path)
        let rejected = DeadLetters(inbox.folder)
        let error = #expect(throws: InboxError.self) { try rejected.append([Self.event("1:1")]) }
        #expect(error?.description == "cannot open '\(path)': Is a directory")
        let other = #expect(throws: InboxError.self) { try rejected.contents() }
        #expect(other?.description == "\(path): is a folder, not a file")
    }

    @Test("a link in the file's place is not followed, and nothing is made behind it")
    func links() throws {
        let inbox = try InboxUnderTest()
        try #require(symlink(inbox.state.path("target"), inbox.folder.deadLettersPath) == 0)
        let rejected = DeadLetters(inbox.folder)
        let what = "it is a symbolic link, which is not followed here"
        let error = #expect(throws: InboxError.self) { try rejected.append([Self.event("1:1")]) }
        #expect(
            error?.description
                == "cannot open '\(inbox.folder.deadLettersPath)': \(what): remove it")
        let other = #expect(throws: InboxError.self) { try rejected.contents() }
        #expect(other?.description == "\(inbox.folder.deadLettersPath): \(what)")
        #expect(!inbox.state.names.contains("target"))
    }

    @Test("what an earlier version wrote, with empty lines, is read")
    func emptyLines() throws {
        let inbox = try InboxUnderTest()
        let rejected = DeadLetters(inbox.folder)
        try rejected.append([Self.event("1:1"), Self.event("1:5")])
        let text = try inbox.state.text(of: "inbox/dead-letters.ndjson")
        #expect(!text.contains("\n\n") && !text.hasPrefix("\n"))
        let lines = text.split(separator: "\n").map { "\n\($0)\n" }
        try inbox.state.write(lines.joined(), to: "inbox/dead-letters.ndjson")
        #expect(try rejected.contents().events.map(\.position) == ["1:1", "1:5"])
        #expect(try rejected.contents().unreadable == 0)
    }

    @Test("bytes and their text in base 64 are two ways to say the same")
    func base64() {
        let rows = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ]
        for (bytes, text) in rows {
            #expect(Base64.text(of: Array(bytes.utf8)) == text)
            #expect(Base64.bytes(of: text) == Array(bytes.utf8))
        }
        let all = (0...255).map { UInt8($0) }
        #expect(Base64.bytes(of: Base64.text(of: all)) == all)
        for text in ["Zg", "Zg=", "Zg===", "Z", "Zh==", "Zm9v\n", "Zm-v", "=Zg=", "Zm9vé"] {
            #expect(Base64.bytes(of: text) == nil, "\(text)")
        }
    }
}
