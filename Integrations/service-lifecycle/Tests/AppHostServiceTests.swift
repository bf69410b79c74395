import Logging
import ModuleHostServiceLifecycle
import Testing

/// The words of the host and of the services beside it, in their order.
private final class Words: Sendable {
    private let words = Guarded<[String]>([])
    private let stream = AsyncStream<String>.makeStream()

    func say(_ word: String) {
        words.withLock { $0.append(word) }
        stream.continuation.yield(word)
    }

    /// Waits for a word.
    func wait(for word: String) async {
        for await next in stream.stream where next == word { return }
    }

    /// Those of a list that were said, in the order in which they were.
    func said(of list: Set<String>) -> [String] {
        words.withLock { $0.filter(list.contains) }
    }
}

/// A main module that says when the app ends.
final class LastWordModule: RootProvider, LaunchResponder, TerminationResponder {
    let root: String? = nil
    private let log: Log

    init(context: ModuleContext) { log = context.log }

    func didFinishLaunching(_ launch: Launch) { log.notice("launched") }

    func willTerminate() { log.notice("terminates") }
}

/// A main module whose start-up fails as soon as the app is ready.
final class FailingModule: RunningModule, RootProvider {
    let root: String? = nil

    init(context: ModuleContext) {}

    func run(isolation: isolated any Actor) async throws { throw Worker.Failure() }
}

/// A module that does not return from its last event before the test opens the door.
final class StuckModule: TerminationResponder {
    static let door = Door()

    init(context: ModuleContext) {}

    func willTerminate() { Self.door.pass() }
}

@Suite("A host as a service", .timeLimit(.minutes(2)))
struct AppHostServiceTests {
    private let words = Words()

    private func host(_ modules: String, more: String = "") throws -> AppHost {
        try AppHost(
            slatefile: #"{ "slate": 1, "app": "test", \#(more) "modules": [\#(modules)] }"#
        ) { [words] record in
            words.say(record.message)
        }
    }

    private let main =
        #"{ "id": "x.main", "entry": "ModuleHostServiceLifecycleTests.LastWordModule", "main": true }"#

    /// A service that says when it is to shut down.
    private func neighbor(_ name: String) -> ClosureService {
        ClosureService { [words] in
            try await gracefulShutdown()
            words.say(name)
        }
    }

    @Test("a group shuts it down between its neighbors, and a service in it drains then")
    func order() async throws {
        let worker =
            #"{ "id": "x.worker", "entry": "ModuleHostServiceLifecycleTests.WorkerModule" }"#
        let host = try host("\(main), \(worker)")
        let group = ServiceGroup(
            services: [neighbor("first"), AppHostService(host), neighbor("last")])
        async let end: Void = group.run()
        await words.wait(for: "begins")
        await group.triggerGracefulShutdown()
        try await end
        let order = [
            "last", "stopping: the service group shuts down", "terminates", "has drained", "first",
        ]
        #expect(words.said(of: Set(order)) == order)
    }

    @Test("cancellation stops the app in good order")
    func cancelled() async throws {
        let group = ServiceGroup(services: [AppHostService(try host(main))])
        let run = Task { try await group.run() }
        await words.wait(for: "launched")
        run.cancel()
        try await run.value
        #expect(words.said(of: ["terminates"]) == ["terminates"])
    }

    @Test("a failure of the app is thrown by the group")
    func failed() async throws {
        let failing = """
            { "id": "x.main", "entry": "ModuleHostServiceLifecycleTests.FailingModule", "main": true,
              "required": true }
            """
        let group = ServiceGroup(services: [neighbor("first"), AppHostService(try host(failing))])
        let error = await #expect(throws: HostError.self) { try await group.run() }
        #expect(error.map { "\($0)" }?.contains("the disk is on fire") == true)
    }

    @Test("a stop that takes too long is thrown by the group")
    func overdue() async throws {
        let stuck = #"{ "id": "x.stuck", "entry": "ModuleHostServiceLifecycleTests.StuckModule" }"#
        let host = try host("\(main), \(stuck)", more: #""deadlines": { "stopAll": "300ms" },"#)
        defer { StuckModule.door.open() }
        let group = ServiceGroup(services: [neighbor("first"), AppHostService(host)])
        async let end: Void = group.run()
        await words.wait(for: "launched")
        await group.triggerGracefulShutdown()
        do {
            try await end
            Issue.record("the group has not thrown")
        } catch {
            #expect("\(error)".contains("x.stuck"))
            #expect(error is HostError)
        }
    }

    @Test(
        "a neighbor that fails shuts the host down in good order, where the group is configured so")
    func neighborFails() async throws {
        let worker =
            #"{ "id": "x.worker", "entry": "ModuleHostServiceLifecycleTests.WorkerModule" }"#
        let host = try host("\(main), \(worker)")
        let failing = ClosureService { [words] in
            await words.wait(for: "begins")
            throw Worker.Failure()
        }
        let group = ServiceGroup(
            configuration: .init(
                services: ([neighbor("first"), AppHostService(host), failing] as [any Service]).map
                {
                    .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup)
                }, logger: .init(label: "test")))
        await #expect(throws: Worker.Failure.self) { try await group.run() }
        let order = [
            "stopping: the service group shuts down", "terminates", "has drained", "first",
        ]
        #expect(words.said(of: Set(order)) == order)
    }

    @Test("a host that is to shut down as soon as it begins ends in good order")
    func early() async throws {
        let group = ServiceGroup(services: [AppHostService(try host(main))])
        await group.triggerGracefulShutdown()
        try await group.run()
        let said = words.said(of: ["launched", "terminates"])
        #expect(said == [] || said == ["launched", "terminates"])
    }

    @Test("an app that stops by itself shuts the group down, where the group is configured so")
    func stopped() async throws {
        let host = try host(main)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: neighbor("first")),
                    .init(
                        service: AppHostService(host),
                        successTerminationBehavior: .gracefullyShutdownGroup),
                ], logger: .init(label: "test")))
        async let end: Void = group.run()
        await words.wait(for: "launched")
        host.stop(because: "the last guest has left")
        try await end
        let order = ["terminates", "first"]
        #expect(words.said(of: Set(order)) == order)
    }
}
