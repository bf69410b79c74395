import AppService
import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

/// A lane that waits for more than jobs.
@Suite("Input of the lane", .timeLimit(.minutes(10)))
struct LaneInputTests {
    /// Words that come from another thread, each of which makes a job.
    private final class Words: LaneInput {
        private let words = Guarded<[String]>([])
        private let arrival = DispatchSemaphore(value: 0)
        private let lane = Guarded<Lane?>(nil)
        let received = LockedList<String>()

        func set(_ lane: Lane?) { self.lane.withLock { $0 = lane } }

        func come(_ word: String) {
            words.withLock { $0.append(word) }
            arrival.signal()
        }

        func wait() -> Bool {
            arrival.wait()
            return words.withLock { !$0.isEmpty }
        }

        func rouse() { arrival.signal() }

        func take() {
            let taken = words.withLock { words in
                defer { words = [] }
                return words
            }
            let lane = lane.withLock(\.self)
            for word in taken { lane?.enqueue { [received] _ in received.append(word) } }
        }
    }

    @Test("what comes is taken by the lane's own thread, and jobs wake it as ever")
    func both() async throws {
        let words = Words()
        let lane = Lane(limits: Watchdog.Limits(), time: ManualTimeSource(), input: words)
        words.set(lane)
        try lane.start()
        var expected: Set<String> = []
        for number in 0..<2000 {
            if number.isMultiple(of: 3) {
                lane.enqueue { _ in words.received.append("job \(number)") }
                expected.insert("job \(number)")
            } else {
                words.come("word \(number)")
                expected.insert("word \(number)")
            }
            guard number.isMultiple(of: 5) else { continue }
            // Both find the lane asleep now and then.
            let isIdle = Promise<Bool>()
            lane.whenIdle { _ in isIdle.keep(true) }
            _ = await isIdle.value
        }
        while Set(words.received.values) != expected {
            let isIdle = Promise<Bool>()
            lane.whenIdle { _ in isIdle.keep(true) }
            _ = await isIdle.value
        }
        #expect(words.received.values.count == expected.count)
        for kind in ["job", "word"] {
            let numbers = words.received.values.filter { $0.hasPrefix(kind) }.compactMap {
                Int($0.split(separator: " ")[1])
            }
            #expect(numbers == numbers.sorted())
        }
        words.set(nil)
        lane.close()
    }
}
