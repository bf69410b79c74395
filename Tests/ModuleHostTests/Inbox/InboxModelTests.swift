import TestSupport
import Testing

@testable import ModuleHostCore

/// Random histories of a log, against a reader that takes all of it at once.
@Suite("Inbox model")
struct InboxModelTests {
    /// What the log is by the rules, put together from whole files.
    private static func model(_ inbox: InboxUnderTest) throws -> [String] {
        let limits = inbox.folder.limits
        let segments = try inbox.folder.segments()
        return try segments.flatMap { number in
            let bytes = try inbox.bytes(number)
            var start = 0
            var found: [String] = []
            func add(_ end: Int, _ next: Int, _ error: InboxRecordError.Reason?) {
                let shown = bytes[start..<end].prefix(error == nil ? .max : limits.excerpt)
                let isBeyond = start >= limits.reach
                let errors = [error, isBeyond ? .beyondReach : nil].compactMap(\.self)
                let text = errors.isEmpty ? "" : "[\(InboxRecordError(errors))] "
                found.append(
                    "\(number):\(min(start, limits.reach)) \(text)"
                        + String(decoding: shown, as: UTF8.self)
                        + " \(number):\(min(next, limits.reach))")
            }
            for (end, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
                let count = end - start
                if count > limits.line {
                    add(end, end + 1, .tooLong(bytes: count, limit: limits.line))
                } else if count > 0 {
                    add(end, end + 1, nil)
                }
                start = end + 1
            }
            if start < bytes.count, number != segments.last { add(bytes.count, bytes.count, .torn) }
            return found
        }
    }

    @Test("a reader finds what is there, whatever happened", arguments: 0..<60 as Range<UInt64>)
    func history(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let inbox = try InboxUnderTest {
            $0.segment = Int.random(in: 20...400, using: &random)
            $0.line = Int.random(in: 8...80, using: &random)
            $0.reading = Int.random(in: 2...100, using: &random)
            $0.excerpt = 8
            if seed % 2 == 1 { $0.reach = Int.random(in: 50...500, using: &random) }
        }
        var writers = [try InboxWriter(inbox.folder), try InboxWriter(inbox.folder)]
        let reader = try InboxReader(inbox.folder)
        var found: [String] = []
        for _ in 0..<80 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let lines = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    line(ofLength: Int.random(in: 1...inbox.folder.limits.line, using: &random))
                }
                let index = Int.random(in: 0..<writers.count, using: &random)
                _ = try writers[index].append(lines.map { Array($0.utf8) })
            case 4:
                // A writer that was cut off, or that keeps no rule at all.
                let garbage = (0..<Int.random(in: 1...200, using: &random)).map { _ in
                    Int.random(in: 0..<20, using: &random) == 0 ? "\n" : "g"
                }
                let newest = try #require(try inbox.folder.segments().last)
                try inbox.appendBare(garbage.joined(), to: newest)
            case 5:
                let newest = try #require(try inbox.folder.segments().last)
                try inbox.put("", in: newest + 1)
            case 6:
                writers[0] = try InboxWriter(inbox.folder)
            default:
                let count = Int.random(in: 1...20, using: &random)
                found += try reader.next(atMost: count).map { Found($0).description }
            }
        }
        found += try reader.all().map(\.description)
        let model = try Self.model(inbox)
        #expect(found == model)
        // From anywhere, a new reader finds what begins there or later.
        for _ in 0..<20 {
            let segment = UInt32.random(in: 1...3, using: &random)
            let offset = UInt32.random(in: 0...300, using: &random)
            let start = EventPosition(segment: segment, offset: offset)
            if try start > reader.end() || Int(offset) > inbox.folder.limits.reach { continue }
            let rest = try inbox.read(from: start)
            #expect(rest.map(\.description) == model.suffix(rest.count))
            #expect(rest.allSatisfy { $0.position >= start })
            let skipped = try inbox.read().dropLast(rest.count)
            #expect(skipped.allSatisfy { $0.position < start })
            // No other notion of order than the positions'.
            let reached = rest.first { $0.error?.contains("which positions cannot reach") != true }
            #expect(try reader.read(at: start).map(Found.init) == reached)
        }
    }
}
