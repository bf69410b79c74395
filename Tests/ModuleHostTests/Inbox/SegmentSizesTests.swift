import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("SegmentSizes")
struct SegmentSizesTests {
    /// The sizes of three segments, which are gone once they were read.
    private let sizes: SegmentSizes

    init() throws {
        let inbox = try InboxUnderTest()
        try inbox.put(line(ofLength: 100))
        try inbox.put(line(ofLength: 50), in: 2)
        try inbox.put(line(ofLength: 70), in: 4)
        var sizes = SegmentSizes()
        try sizes.look(at: inbox.folder, inbox.folder.segments())
        try inbox.folder.removeAllSegments()
        self.sizes = sizes
    }

    @Test("the distance of two positions is counted in bytes of the log")
    func distance() {
        let rows: [(EventPosition, EventPosition, Int)] = [
            ("1:10", "1:30", 20), ("1:30", "1:10", 0), ("1:10", "2:0", 90), ("1:10", "2:7", 97),
            ("1:0", "4:70", 220), ("3:0", "4:1", 1), ("2:10", "3:5", 45),
        ]
        for (start, end, bytes) in rows {
            #expect(sizes.bytes(from: start, to: end) == bytes, "\(start) \(end)")
        }
    }

    @Test(
        "a position lies a number of bytes before another, and at the start where there are fewer")
    func position() {
        let rows: [(Int, EventPosition, EventPosition)] = [
            (0, "4:70", "4:70"), (70, "4:70", "4:0"), (71, "4:70", "2:49"), (120, "4:70", "2:0"),
            (121, "4:70", "1:99"), (220, "4:70", "1:0"), (221, "4:70", "1:0"), (8, "2:7", "1:99"),
        ]
        for (bytes, end, expected) in rows {
            #expect(sizes.position(bytes, before: end) == expected, "\(bytes) \(end)")
        }
        #expect(SegmentSizes().position(1, before: "2:0") == "1:0")
    }
}
