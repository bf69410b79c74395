import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("NativeThread", .timeLimit(.minutes(10)))
struct NativeThreadTests {
    @Test("a thread of its own, under its name")
    func runs() async throws {
        let (identity, name) = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<(UInt, String), any Error>) in
            do {
                try NativeThread.start(name: "lane-of-a-long-name", stackSize: 1 << 18) {
                    let comm = try? readFile(at: "/proc/thread-self/comm", limit: 100)
                    continuation.resume(
                        returning: (
                            NativeThread.current, String(decoding: comm ?? [], as: UTF8.self)
                        ))
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(name == "lane-of-a-long-\n")
        // It has ended, or lives beside this one.
        #expect(identity != 0)
    }

    @Test("the environment is read whole")
    func environment() {
        let environment = CurrentProcess.environment()
        #expect(environment["PATH"]?.isEmpty == false)
        #expect(environment["NO SUCH NAME"] == nil)
    }

    @Test("a process that exists is distinguished from one that does not")
    func exists() {
        #expect(CurrentProcess.exists(CurrentProcess.id))
        #expect(CurrentProcess.exists(1))
        #expect(!CurrentProcess.exists(0))
        #expect(!CurrentProcess.exists(-1))
        #expect(!CurrentProcess.exists(.max))
    }
}
