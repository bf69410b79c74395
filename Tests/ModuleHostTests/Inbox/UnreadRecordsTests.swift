import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Records that were written here and are not read yet")
struct UnreadRecordsTests {
    private static func place(_ offset: UInt32) -> EventPosition {
        EventPosition(segment: 1, offset: offset)
    }

    private static func item(
        _ offset: UInt32, _ line: [UInt8], _ error: InboxRecordError? = nil
    ) -> InboxItem {
        InboxItem(
            position: place(offset), offset: Int(offset),
            end: place(offset + UInt32(line.count) + 1),
            bytes: line[...], error: error)
    }

    /// A line, and what reading it gives.
    private static func line(_ id: String) throws -> (bytes: [UInt8], record: InboxRecord) {
        let bytes = HostUnderTest.push(id)
        return (bytes, try InboxRecord(parsing: bytes[...]))
    }

    @Test("each is taken once, at its place")
    func taken() throws {
        let (a, b) = (try Self.line("a"), try Self.line("b"))
        var unread = UnreadRecords()
        unread.add(a.record, at: Self.place(1), size: a.bytes.count)
        unread.add(b.record, at: Self.place(100), size: b.bytes.count)
        #expect(unread.take(for: Self.item(1, a.bytes))?.id == "a")
        #expect(unread.take(for: Self.item(1, a.bytes)) == nil)
        #expect(unread.take(for: Self.item(100, b.bytes))?.id == "b")
    }

    @Test("what others wrote between is read, and what was passed over is forgotten")
    func between() throws {
        let (a, b) = (try Self.line("a"), try Self.line("b"))
        var unread = UnreadRecords()
        unread.add(a.record, at: Self.place(1), size: a.bytes.count)
        unread.add(b.record, at: Self.place(200), size: b.bytes.count)
        #expect(unread.take(for: Self.item(100, a.bytes)) == nil)
        #expect(unread.take(for: Self.item(1, a.bytes)) == nil)
        #expect(unread.take(for: Self.item(200, b.bytes))?.id == "b")
    }

    @Test("a line that is not what was written is read")
    func changed() throws {
        let a = try Self.line("a")
        var unread = UnreadRecords()
        unread.add(a.record, at: Self.place(1), size: a.bytes.count)
        #expect(unread.take(for: Self.item(1, a.bytes + [32])) == nil)
        #expect(unread.take(for: Self.item(1, a.bytes, InboxRecordError(.torn))) == nil)
    }

    @Test("little is held, however much waits")
    func bounded() throws {
        let a = try Self.line("a")
        var unread = UnreadRecords()
        for offset in 1...2000 {
            unread.add(a.record, at: Self.place(UInt32(offset)), size: a.bytes.count)
        }
        #expect(unread.take(for: Self.item(1024, a.bytes)) != nil)
        #expect(unread.take(for: Self.item(1025, a.bytes)) == nil)
        // All were taken or passed over: there is room again.
        unread.add(a.record, at: Self.place(5000), size: 3 << 20)
        unread.add(a.record, at: Self.place(6000), size: 2 << 20)
        unread.add(a.record, at: Self.place(7000), size: a.bytes.count)
        #expect(unread.take(for: Self.item(6000, a.bytes)) == nil)
        #expect(unread.take(for: Self.item(7000, a.bytes)) != nil)
    }
}
