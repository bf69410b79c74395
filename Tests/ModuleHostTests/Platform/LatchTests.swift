import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Latch", .timeLimit(.minutes(10)))
struct LatchTests {
    @Test("closed until it is opened, open for every thread that comes later")
    func stays() {
        let latch = Latch()
        #expect(!latch.wait(within: .zero))
        #expect(!latch.wait(within: .milliseconds(1)))
        latch.open()
        for _ in 0..<3 { #expect(latch.wait(within: .zero)) }
        latch.open()
        #expect(latch.wait(within: .zero))
    }

    @Test("once opened it lets all waiting threads pass")
    func waiters() async throws {
        let latch = Latch()
        let ready = DispatchSemaphore(value: 0)
        let passed = (0..<8).map { _ in Promise<Bool>() }
        for passed in passed {
            try NativeThread.start(name: "waiter") {
                ready.signal()
                passed.keep(latch.wait(within: .seconds(60)))
            }
        }
        for _ in passed { ready.wait() }
        latch.open()
        for passed in passed { #expect(await passed.value) }
    }
}
