import Dispatch
import Synchronization
import Testing

@testable import RedisStreams

/// Work that takes longer than its caller waits.
@Suite(.timeLimit(.minutes(2))) struct TimeLimitTests {
    private let queue = DispatchQueue(label: "TimeLimitTests")

    @Test func resultIsReturned() {
        let result = TimeLimit.run(within: .seconds(60), on: queue) {
            7
        } release: { _ in
            Issue.record("released")
        }
        #expect(result == 7)
    }

    @Test func workThatIsLeftBehindIsReleasedAtItsEnd() async {
        let (mayEnd, queue) = (DispatchSemaphore(value: 0), queue)
        let released: UInt = await withCheckedContinuation { continuation in
            let result = TimeLimit.run(within: .milliseconds(1), on: queue) {
                mayEnd.wait()
                return 7
            } release: {
                continuation.resume(returning: $0)
            }
            #expect(result == nil)
            mayEnd.signal()
        }
        #expect(released == 7)
    }
}
