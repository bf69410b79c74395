import Testing

@testable import ModuleHostCore

@Suite("Trees of causes")
struct CauseTreeTests {
    private let trace: TraceID

    init() throws { trace = try #require(TraceID(String(repeating: "a", count: 32))) }

    private func delivery(
        _ topic: String, id: UInt64, in parent: UInt64 = 0, at position: UInt64? = nil
    ) -> HostRecord {
        var delivery = HostRecord.Delivery(kind: .message, duration: .zero)
        delivery.topic = topic
        delivery.position = position.flatMap { EventPosition(rawValue: 1 << 32 | $0) }
        delivery.trace = TraceSpan(trace, id: id, parent: parent)
        return HostRecord(time: WallTime(seconds: 0), .delivered(delivery))
    }

    private func sending(
        _ topic: String, in parent: UInt64, at position: UInt64
    ) throws -> HostRecord {
        let place = try #require(EventPosition(rawValue: 1 << 32 | position))
        return HostRecord(
            time: WallTime(seconds: 0),
            .sent(
                HostRecord.Sending(
                    kind: .message, topic: topic, position: place,
                    trace: TraceSpan(trace, parent: parent))))
    }

    /// The topics, with two spaces for each entry above, and `+` for a sending.
    private func rows(_ entries: [HostRecord]) -> [String] {
        CauseTree(entries).rows.map { entry, depth in
            let indent = String(repeating: "  ", count: depth)
            switch entry.fact {
            case .delivered(let delivery): return indent + (delivery.topic ?? "")
            case .sent(let sending): return indent + "+" + (sending.topic ?? "")
            default: return indent + entry.text
            }
        }
    }

    @Test("an entry stands below the one in which it happened, and that was added later")
    func order() throws {
        let entries = [
            try sending("b", in: 1, at: 7), delivery("c", id: 3, in: 1),
            delivery("a", id: 1), delivery("d", id: 4, in: 3),
            delivery("b", id: 5, at: 7), delivery("e", id: 6, in: 5), delivery("z", id: 9),
        ]
        #expect(rows(entries) == ["a", "  +b", "    b", "      e", "  c", "    d", "z"])
    }

    @Test("what the record has not kept leaves the rest on the first level, or below the sending")
    func gaps() throws {
        let entries = [
            delivery("b", id: 2, in: 1), try sending("c", in: 1, at: 7),
            delivery("c", id: 3, in: 8, at: 7),
        ]
        #expect(rows(entries) == ["b", "+c", "  c"])
        // Of an inbox that was removed, and of the next one.
        #expect(
            rows([delivery("old", id: 2, at: 7), try sending("new", in: 1, at: 7)])
                == ["old", "+new"])
        #expect(rows([]) == [])
    }

    @Test("entries of a damaged file that are below each other are all there, once")
    func cycles() throws {
        let entries = [
            delivery("a", id: 1, in: 2), delivery("b", id: 2, in: 1), delivery("c", id: 3, in: 3),
            delivery("d", id: 0), delivery("e", id: 4, in: 1),
        ]
        #expect(rows(entries) == ["c", "d", "a", "  b", "  e"])
    }

    @Test("a chain of as many entries as are shown")
    func chain() {
        let entries = (1...1000).reversed().map { delivery("\($0)", id: $0, in: $0 - 1) }
        let rows = CauseTree(entries).rows
        #expect(rows.map(\.depth) == Array(0..<1000))
    }
}
