import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Times of visits")
struct VisitTimesTests {
    private func taken(_ times: inout VisitTimes, at now: UInt64) -> Set<Int32> {
        var processes: Set<Int32> = []
        times.takeDue(at: now) { processes.insert($0) }
        return processes
    }

    @Test("each process is due at the time that was set last", arguments: 1...20)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var times = VisitTimes()
        var expected: [Int32: UInt64] = [:]
        for now in UInt64(0)..<3000 {
            for _ in 0..<Int.random(in: 0..<4, using: &generator) {
                let process = Int32.random(in: 3..<12, using: &generator)
                let due: UInt64? =
                    [
                        now, now + 1, now + 50, now + 1000, nil,
                        now + UInt64.random(in: 0..<200, using: &generator),
                    ].randomElement(using: &generator) ?? nil
                times.set(process, due)
                expected[process] = due
            }
            #expect(times.first ?? .max <= expected.values.min() ?? .max)
            let due = taken(&times, at: now)
            #expect(due == Set(expected.filter { $0.value <= now }.keys))
            for process in due { expected[process] = nil }
        }
    }

    @Test("times that were replaced go when they have come, however often that happens")
    func bounded() {
        var times = VisitTimes()
        var most = 0
        for now in UInt64(0)..<100_000 {
            // A visit each 7 ms wants a second, and each 50 ms only a moment.
            if now % 50 == 0 {
                times.set(3, now + 50)
            } else if now % 7 == 0 {
                times.set(3, now + 1000)
            }
            _ = taken(&times, at: now)
            most = max(most, times.count)
        }
        #expect(most < 50)
    }
}
