import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Event log")
struct EventLogTests {
    private func event() -> LifecycleEvent { .state(.memoryWarning, origin: .host) }

    private func append(_ count: Int, to log: inout EventLog, keeping: Bool) -> [UInt64] {
        (0..<count).map { _ in
            var event = event()
            log.append(&event, keeping: keeping)
            return event.sequence
        }
    }

    @Test("numbers events from 0, and keeps none that no module is behind on")
    func positions() {
        var log = EventLog()
        #expect(append(3, to: &log, keeping: false) == [0, 1, 2])
        #expect(log.head == 3 && log.count == 0)
        #expect(log[2] == nil)
    }

    @Test("knows how many bytes the payloads take that it keeps")
    func bytes() throws {
        var log = EventLog()
        var sizes: [Int] = []
        for (count, keeping) in [(1000, false), (10, true), (0, true), (5000, true)] {
            var event =
                count == 0
                ? event()
                : try LifecycleEvent.message(
                    topic: "t", payload: JSONValue(parsing: "\"\(line(ofLength: count))\""),
                    origin: .host)
            log.append(&event, keeping: keeping)
            if keeping { sizes.append(event.footprint) }
        }
        #expect(sizes[0] > 10 && sizes[1] == 0 && sizes[2] > 5000 && sizes[2] < 6000)
        let sums = [sizes[0] + sizes[2], sizes[0] + sizes[2], sizes[2], sizes[2], 0]
        #expect((0...4).map { log.bytes(from: $0) } == sums)
        log.trim(before: 3)
        #expect((0...4).map { log.bytes(from: $0) } == [sizes[2], sizes[2], sizes[2], sizes[2], 0])
        _ = append(1, to: &log, keeping: false)
        #expect(log.bytes(from: 0) == 0)
    }

    @Test("keeps what a module is behind on, until it is trimmed")
    func keeps() {
        var log = EventLog()
        _ = append(2, to: &log, keeping: false)
        #expect(append(3, to: &log, keeping: true) == [2, 3, 4])
        #expect(log.count == 3)
        #expect((0..<6).map { log[$0]?.event.sequence } == [nil, nil, 2, 3, 4, nil])
        log.trim(before: 3)
        #expect((0..<6).map { log[$0]?.event.sequence } == [nil, nil, nil, 3, 4, nil])
        log.trim(before: 3)
        #expect(log.count == 2)
        log.trim(before: 99)
        #expect(log.count == 0 && log.head == 5)
        #expect(append(1, to: &log, keeping: true) == [5])
        #expect(log[5]?.event.sequence == 5)
        _ = append(1, to: &log, keeping: false)
        #expect(log.count == 0)
    }

    @Test("keeps the newest event after all, and no other")
    func keepNewest() {
        var log = EventLog()
        var first = event()
        log.append(&first, keeping: false)
        var second = event()
        log.append(&second, keeping: false)
        log.keep(first)
        #expect(log.count == 0)
        log.keep(second)
        log.keep(second)
        #expect(log.count == 1 && log[1]?.event.sequence == 1)
    }

    @Test("a claimed event reaches no overdue module until it is known where its search ended")
    func reach() throws {
        var log = EventLog()
        var plain = event()
        var claimed = try LifecycleEvent.openURL("a:b", origin: .host)
        log.append(&plain, keeping: true)
        log.append(&claimed, keeping: true)
        #expect(log[0]?.unreached == [])
        #expect(log[1]?.unreached == nil)
        log.endSearch(at: 1, before: [ModuleSlot(number: 7, id: nil)])
        log.endSearch(at: 2, before: [])
        #expect(log[1]?.unreached == [7])
    }

    @Test("is the plain array that it stands for, whatever is done to it", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var log = EventLog()
        var kept: [UInt64] = []
        for _ in 0..<500 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0..<2:
                kept += append(1, to: &log, keeping: true)
            case 2:
                let position = UInt64.random(in: 0...log.head + 1, using: &random)
                log.trim(before: position)
                kept.removeAll { $0 < position }
            default:
                if Int.random(in: 0..<20, using: &random) == 0 {
                    _ = append(1, to: &log, keeping: false)
                    kept = []
                }
            }
            #expect(log.count == kept.count)
            #expect((0...log.head).filter { log[$0] != nil } == kept)
            #expect(kept.allSatisfy { log[$0]?.event.sequence == $0 })
        }
    }
}
