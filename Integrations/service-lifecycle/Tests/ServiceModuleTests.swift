import ModuleHostServiceLifecycle
import ModuleHostTesting
import Testing

@Suite("A service as a module", .timeLimit(.minutes(2)))
struct ServiceModuleTests {
    private let id = "test.worker"

    /// Starts a host whose worker waits in one order, with two behind it.
    private func busyHost() async throws -> (TestHost, Worker) {
        let host = try await TestHost(modules: [WorkerModule.self])
        let worker = try await host.module(WorkerModule.self) { $0.service }
        for order in [.wait, .work("a"), .work("b")] as [Worker.Order] { worker.accept(order) }
        try await host.logged("waits", by: id)
        return (host, worker)
    }

    @Test("it drains before its module is released, and the stop waits for it")
    func drains() async throws {
        let (host, worker) = try await busyHost()
        host.requestStop()
        try await host.logged("Worker shuts down gracefully", by: id)
        #expect(host.end == nil)
        // The module answers while its service drains.
        try await host.module(WorkerModule.self) { $0.context.log.notice("entered") }
        worker.release()
        #expect(await host.stop() == .stopped)
        let words = host.records.filter { $0.module == id }.map(\.message)
        let drained = try #require(words.firstIndex(of: "has drained"))
        #expect(words[..<drained].suffix(3) == ["entered", "did a", "did b"])
        #expect(try #require(words.firstIndex(of: "released")) > drained)
        #expect(!host.records.contains { $0.level >= .warning })
    }

    @Test("a service that drains for longer than 'deadlines.stop' is cancelled, and the app ends")
    func overdue() async throws {
        let (host, _) = try await busyHost()
        host.requestStop()
        try await host.logged("Worker shuts down gracefully", by: id)
        try? await host.advance(by: .seconds(10))
        try await host.logged(
            "Worker did not shut down in time, see 'deadlines.stop': it is cancelled", by: id)
        try await host.logged("was cancelled", by: id)
        #expect(await host.stop() == .stopped)
        #expect(!host.messages(of: id).contains("has drained"))
    }

    @Test("a module that keeps the lane busy does not keep a service from its shutdown")
    func busyLane() async throws {
        let host = try await TestHost(modules: [BlockingModule.self, WorkerModule.self])
        defer { BlockingModule.door.open() }
        try await host.logged("begins", by: "test.blocking")
        try await host.logged("begins", by: id)
        host.requestStop()
        try await host.logged("has drained", by: id)
        #expect(!host.messages(of: "test.blocking").contains("passed"))
        BlockingModule.door.open()
        #expect(await host.stop() == .stopped)
        #expect(host.messages(of: "test.blocking").contains("passed"))
    }

    @Test("an error of a service that shuts down is logged, and the stop goes on")
    func failsInShutdown() async throws {
        let (host, worker) = try await busyHost()
        worker.accept(.fail)
        host.requestStop()
        try await host.logged("Worker shuts down gracefully", by: id)
        worker.release()
        #expect(await host.stop() == .stopped)
        let errors = host.records.filter { $0.level >= .warning }
        #expect(
            errors.map(\.message) == ["Worker failed while it shut down: the disk is on fire"])
        #expect(errors.map(\.module) == [id])
    }

    @Test("an error of the service is one of the module, and 'retry' runs a new one")
    func retry() async throws {
        let host = try await TestHost(
            modules: [TestModule(WorkerModule.self, more: #""retry": true"#)])
        try await host.module(WorkerModule.self) { $0.service.accept(.fail) }
        try await host.logged("restarting in", by: id)
        #expect(try await host.state(of: id) == .failed("run: the disk is on fire"))
        try await host.advance(by: .seconds(1))
        #expect(try await host.state(of: id) == .running)
        try await host.module(WorkerModule.self) { $0.service.accept(.work("again")) }
        try await host.logged("did again", by: id)
        #expect(await host.stop() == .stopped)
    }

    @Test("a service that returns early has failed, and ends the app if it is required")
    func required() async throws {
        let host = try await TestHost(
            modules: [TestModule(WorkerModule.self, more: #""required": true"#)])
        try await host.module(WorkerModule.self) { $0.service.accept(.leave) }
        try await host.logged(
            "Worker returned before it was to shut down: a service runs until then, so let its run() wait for "
                + "'gracefulShutdown()'", by: id)
        guard case .failed(let end) = await host.stop() else {
            Issue.record("the app has not failed")
            return
        }
        #expect(end.contains("Worker returned"))
    }

    @Test("a reload drains the service of a module that leaves, while the app runs")
    func reload() async throws {
        let (host, worker) = try await busyHost()
        try await host.reload(modules: [])
        try await host.logged("Worker shuts down gracefully", by: id)
        worker.release()
        try await host.logged("has drained", by: id)
        #expect(host.state == .active)
        #expect(await host.stop() == .stopped)
    }

    @Test("a service drains in a process of its own, too")
    func isolated() async throws {
        let mail = TestModule(
            entry: "MailServer.MailModule", id: "test.mail", more: #""isolation": "process""#)
        let host = try await TestHost(modules: [mail], .init(executable: "MailServer"))
        try await host.call("test.mail", "send/:text", ["text": "Ada"])
        try await host.call("test.mail", "send/:text", ["text": "Ben"])
        #expect(await host.stop() == .stopped)
        #expect(
            host.records.map(\.message).filter { $0.hasPrefix("sent") } == [
                "sent: Ada", "sent: Ben",
            ])
    }
}
