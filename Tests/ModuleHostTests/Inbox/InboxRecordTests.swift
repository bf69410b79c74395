import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("InboxRecord")
struct InboxRecordTests {
    private static func parse(_ line: String) throws -> InboxRecord {
        try InboxRecord(parsing: Array(line.utf8)[...])
    }

    @Test("a record has an event, and says how it is to be delivered")
    func whole() throws {
        let record = try Self.parse(
            #"{"event":"push","payload":{"aps":{"badge":3}},"id":"a-1","#
                + #""time":"2026-03-01T09:41:00Z","source":"here","modules":["com.mm.x","com.mm.y"],"retried":true}"#
        )
        #expect(record.event.kind == .push)
        #expect(record.event.origin == .inbox)
        #expect(record.event.payload?.text == #"{"aps":{"badge":3}}"#)
        #expect(record.id == "a-1")
        #expect(record.time == "2026-03-01T09:41:00Z")
        #expect(record.modules?.map(\.text) == ["com.mm.x", "com.mm.y"])
        #expect(record.isRetried)
    }

    @Test("only the event is needed, and the payload that it wants")
    func smallest() throws {
        let record = try Self.parse(#" {"payload":{"topic":"a"},"event":"message"}  "#)
        #expect(record.event.kind == .message)
        #expect(record.id == nil)
        #expect(record.time == nil)
        #expect(record.modules == nil)
        #expect(!record.isRetried)
    }

    @Test(
        "every event with a payload goes through the inbox, and no other",
        arguments: EventKind.allCases)
    func durable(kind: EventKind) throws {
        let durable: Set<EventKind> = [
            .push, .pushRegistered, .pushRegistrationFailed, .notificationSettings,
            .localNotification, .openURL, .userActivity, .shortcut, .message,
        ]
        // A later event is durable if it has a payload.
        let isLater = kind.place > EventKind.message.place
        #expect(kind.isDurable == (isLater ? kind.examplePayload != nil : durable.contains(kind)))
        if !kind.isDurable {
            let error = #expect(throws: InboxRecordError.self) {
                try Self.parse(#"{"event":"\#(kind.rawValue)"}"#)
            }
            #expect(
                error?.description
                    == "event '\(kind.rawValue)' has no payload, and so no place in the inbox")
        }
    }

    static let errors: [(String, String)] = [
        ("", "not valid JSON: column 1: expected a JSON value, found nothing"),
        (
            "{",
            "not valid JSON: column 2: the text ends inside the object that begins at line 1, column 1"
        ),
        (
            #"{"event":"push",}"#,
            "not valid JSON: column 16: a comma before a closing bracket; remove it"
        ),
        (
            "[]",
            #"expected an object such as {"event":"push","payload":{…}}, found an array"#
        ),
        (
            "{}",
            "'event' is missing: the name of an event, such as \"push\""
        ),
        (
            #"{"event":7}"#,
            "'event' is the name of an event, such as \"push\"; found the number 7"
        ),
        (
            #"{"event":"psuh","payload":{}}"#, "unknown event 'psuh'; did you mean 'push'?"
        ),
        (#"{"event":"zebra crossing"}"#, "unknown event 'zebra crossing'"),
        (#"{"event":"push"}"#, "event 'push' needs a payload"),
        (
            #"{"event":"message","payload":{}}"#,
            "event 'message' cannot take this payload: line 1, column 30 (/payload): "
                + "missing key 'topic'"
        ),
        (
            #"{"event":"push","payload":{},"Id":"a","retrid":true,"x":1}"#,
            "unknown member 'Id'; did you mean 'id'?; "
                + "unknown member 'retrid'; did you mean 'retried'?; unknown member 'x'"
        ),
        (
            #"{"event":"push","payload":{},"id":"","time":"yesterday","modules":"com.mm.x","retried":1}"#,
            "'id' is a string of 1 to 200 bytes; found the string \"\"; "
                + "'time' is a time such as \"2026-03-01T09:41:00Z\"; found the string \"yesterday\"; "
                + "'modules' is an array of module ids, at least one; found the string \"com.mm.x\"; "
                + "'retried' is true or false; found the number 1"
        ),
        (
            #"{"event":"push","payload":{},"id":5,"time":5,"source":5,"modules":[]}"#,
            "'id' is a string of 1 to 200 bytes; found the number 5; "
                + "'time' is a time such as \"2026-03-01T09:41:00Z\"; found the number 5; "
                + "'source' is a string of 1 to 64 bytes; found the number 5; "
                + "'modules' is an array of module ids, at least one; found an empty one"
        ),
        (
            #"{"event":"push","payload":{},"modules":["push"]}"#,
            "'modules': 'push' is not a reverse-domain name; write \"com.mm.push\"?"
        ),
        (
            #"{"event":"push","payload":{},"modules":[1]}"#,
            "'modules' is an array of module ids, at least one; found the number 1"
        ),
        (
            #"{"event":"push","payload":{},"id":"a","id":"b"}"#,
            "not valid JSON: column 39: key 'id' is here already, at line 1, column 30"
        ),
    ]

    @Test("the error of a line that is not a record names all that is wrong", arguments: errors)
    func error(line: String, text: String) {
        let error = #expect(throws: InboxRecordError.self) { try Self.parse(line) }
        #expect(error?.description == text)
    }

    @Test("an id has at most 200 bytes")
    func longID() throws {
        let payload = #""event":"push","payload":{}"#
        let longest = String(repeating: "é", count: 100)
        #expect(try Self.parse("{\(payload),\"id\":\"\(longest)\"}").id == longest)
        #expect(throws: InboxRecordError.self) {
            try Self.parse("{\(payload),\"id\":\"\(longest)x\"}")
        }
    }

    @Test("any bytes at all are a record or an error in words")
    func anyBytes() {
        var random = SeededGenerator(seed: 4)
        let start = Array(#"{"event":"push","payload":{"aps":{}},"id":"é\n"}"#.utf8)
        for _ in 0..<3000 {
            var line = start
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<line.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: line[place] = UInt8.random(in: 0...255, using: &random)
                case 1: line.remove(at: place)
                default: line.insert(start.randomElement(using: &random) ?? 0, at: place)
                }
            }
            do throws(InboxRecordError) { _ = try InboxRecord(parsing: line[...]) } catch {
                #expect(!error.description.isEmpty)
                #expect(!error.description.utf8.contains(UInt8(ascii: "\n")))
            }
        }
    }

    @Test("what is written is read the same, and is one line")
    func roundTrip() throws {
        let payload = try JSONValue(parsing: "{\n \"topic\": \"a\u{2028}b\"\n}")
        let modules = [try ModuleID("com.mm.x")]
        let line = InboxRecord.line(
            .message, payload: payload, id: "a\nb\"", time: "2026-03-01T09:41:00.5Z",
            modules: modules, isRetried: true)
        #expect(!line.contains(UInt8(ascii: "\n")))
        let record = try InboxRecord(parsing: line[...])
        #expect(record.payload == payload)
        #expect(record.id == "a\nb\"")
        #expect(record.time == "2026-03-01T09:41:00.5Z")
        #expect(record.modules == modules)
        #expect(record.isRetried)
        #expect(
            String(decoding: InboxRecord.line(.push, payload: .emptyObject), as: UTF8.self)
                == #"{"event":"push","payload":{}}"#)
    }

    @Test("to be delivered once more, a record keeps all but whom it is for")
    func retry() throws {
        let record = try Self.parse(
            #"{"event":"open-url","payload":{"url":"mm://a/b?token=secret"},"id":"i","modules":["com.mm.x"]}"#
        )
        #expect(
            String(decoding: record.lineForRetry(), as: UTF8.self)
                == #"{"event":"open-url","payload":{"url":"mm://a/b?token=secret"},"id":"i","modules":["com.mm.x"],"retried":true}"#
        )
        #expect(
            String(decoding: record.lineForRetry(for: [try ModuleID("com.mm.y")]), as: UTF8.self)
                == #"{"event":"open-url","payload":{"url":"mm://a/b?token=secret"},"id":"i","modules":["com.mm.y"],"retried":true}"#
        )
    }
}
