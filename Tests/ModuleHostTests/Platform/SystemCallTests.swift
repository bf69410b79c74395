import Glibc
import Testing

@testable import ModuleHostCore

@Suite("System calls that signals interrupt", .timeLimit(.minutes(10)))
struct SystemCallTests {
    @Test(
        "made again only where a failed one was interrupted",
        arguments: [
            ([(0, 0)], 0), ([(3, EINTR)], 3), ([(-1, EINTR), (-1, EINTR), (2, EINTR)], 2),
            ([(-1, EIO)], -1), ([(-1, EINTR), (-1, EIO)], -1),
        ] as [([(Int, Int32)], Int)])
    func again(results: [(Int, Int32)], expected: Int) {
        var calls = 0
        let result = retryingInterrupted {
            // One call too many would trap here.
            let (result, code) = results[calls]
            calls += 1
            errno = code
            return result
        }
        #expect(result == expected)
        #expect(calls == results.count)
    }
}
