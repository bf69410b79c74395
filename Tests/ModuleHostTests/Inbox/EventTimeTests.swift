import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The time of an event in the inbox", .timeLimit(.minutes(1)))
struct EventTimeTests {
    private func event(_ time: String?, payload: String = "") -> String {
        #"{"event":"push","payload":{"a":"\#(payload)"}\#(time.map { #","time":"\#($0)""# } ?? "")}"#
    }

    private func seconds(_ inbox: InboxUnderTest, _ segment: UInt32, _ offset: Int) -> Int? {
        inbox.folder.time(
            ofEventAt: EventPosition(segment: segment, offset: UInt32(offset)))?.seconds
    }

    @Test("it is that of the record at the position, or of the next one")
    func time() throws {
        let inbox = try InboxUnderTest()
        let first = event("1970-01-01T00:00:07Z")
        let long = event("1970-01-01T00:00:08Z", payload: String(repeating: "x", count: 40_000))
        try inbox.put("\n\(first)\n\(long)\n", in: 1)
        try inbox.put("\n\(event("1970-01-01T00:00:09Z"))\n", in: 2)
        #expect(seconds(inbox, 1, 0) == 7)
        #expect(seconds(inbox, 1, 1) == 7)
        #expect(seconds(inbox, 1, 2 + first.utf8.count) == 8)
        #expect(seconds(inbox, 1, 3 + first.utf8.count + long.utf8.count) == 9)
    }

    @Test("without a time, a whole record or a file there is none")
    func none() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\(event(nil))\nno JSON\n\(event("1970-01-01T00:00:07Z"))", in: 1)
        let count = event(nil).utf8.count + 1
        for offset in [0, count, count + 8, 10_000] { #expect(seconds(inbox, 1, offset) == nil) }
        #expect(seconds(inbox, 2, 0) == nil)
        // It may be being written.
        try inbox.appendBare("\n")
        #expect(seconds(inbox, 1, count + 8) == 7)
    }
}
