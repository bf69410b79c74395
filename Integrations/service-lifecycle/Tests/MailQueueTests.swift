import Logging
import ModuleHostServiceLifecycle
import Testing

@testable import MailServer

@Suite("The mail queue of the README", .timeLimit(.minutes(1)))
struct MailQueueTests {
    @Test("a mail that comes after the shutdown is refused")
    func closed() async throws {
        let queue = MailQueue()
        let group = ServiceGroup(services: [queue])
        await group.triggerGracefulShutdown()
        try await group.run()
        #expect(throws: MailQueue.Closed.self) { try queue.accept("late") }
    }

    @Test("a mail that comes after the queue was cancelled is refused")
    func cancelled() async throws {
        let queue = MailQueue()
        let run = Task { try await queue.run() }
        run.cancel()
        _ = await run.result
        #expect(throws: MailQueue.Closed.self) { try queue.accept("late") }
    }
}
