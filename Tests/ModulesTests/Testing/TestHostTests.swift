import AppService
import ModuleHostTesting
import Testing

@testable import ModuleHostCore
@testable import Modules

/// Tests of the host that authors of modules test with.
@Suite("TestHost", .timeLimit(.minutes(10)))
struct TestHostTests {
    /// A service of ``Counter``.
    protocol Counting { func current() -> Int }

    protocol ResetResponder { func reset() throws }

    struct Odd: Error, Equatable {}

    struct Amount: Codable, Equatable, Sendable { var by: Int }

    /// Private and nested: an entry of a slatefile could not name it.
    private final class Counter: RoutedModule, BackgroundResponder, MessageResponder,
        ServiceProvider, ResetResponder
    {
        let topics = ["count"]
        private(set) var count = 0
        private(set) var positions: [EventPosition?] = []
        private let context: ModuleContext

        init(context: ModuleContext) throws {
            self.context = context
            try context.services.register((any Counting).self) { [weak self] in
                Snapshot(count: self?.count ?? 0)
            }
        }

        struct Snapshot: Counting {
            let count: Int
            func current() -> Int { count }
        }

        static var routes: [Route<Counter>] {
            [
                Route("add", access: .public) { (module, amount: Amount, _) in
                    guard amount.by != 13 else { throw Odd() }
                    module.count += amount.by
                    return Amount(by: module.count)
                },
                Route("secret") { (_, _) in },
            ]
        }

        static var services: [Any.Type] { [(any Counting).self] }

        func reset() throws { count = 0 }

        func didEnterBackground() { context.log.info("counted \(count)") }

        func receive(_ message: Message) throws {
            positions.append(context.position)
            count += try message.payload?.decode(Int.self) ?? 1
        }

        func startTimer() {
            context.timer(after: .seconds(3600)) { [weak self] in self?.count += 100 }
        }
    }

    // MARK: What a test does with a host

    @Test("calls, messages and events of a private class reach it, in a host of its own")
    func reaches() async throws {
        let end = try await TestHost.run(modules: [Counter.self]) { host in
            #expect(try await host.open("slate://add?by=2").decode(Amount.self) == Amount(by: 2))
            #expect(try await host.call("test.counter", "add", Amount(by: 3)).text == #"{"by":5}"#)
            try await host.post("count", 4)
            try await host.post("count")
            #expect(try await host.module(Counter.self) { $0.count } == 10)
            #expect(try await host.service((any Counting).self) { $0.current() } == 10)
            let delivery = try #require(try await host.deliver(.background))
            #expect((delivery.event, delivery.delivered, delivery.failed) == (.background, 1, 0))
            #expect(host.messages(of: "test.counter") == ["counted 10"])
            #expect(host.state == .background)
            #expect(
                host.events == [
                    .launch, .activate, .openURL, .message, .message, .resignActive, .background,
                ])
            #expect(
                try await host.send(to: (any ResetResponder).self) { try $0.reset() }.delivered == 1
            )
            #expect(try await host.module(Counter.self) { $0.count } == 0)
            #expect(try await host.state(of: "test.counter") == .running)
        }
        #expect(end == .stopped)
    }

    @Test("a caller receives the errors that any caller receives")
    func errors() async throws {
        let host = try await TestHost(modules: [Counter.self])
        let failure = await #expect(throws: HandlerFailure.self) {
            try await host.open("slate://add?by=13")
        }
        #expect(failure?.description == "test.counter: Odd()")
        await #expect(throws: RouteError.self) {
            try await host.open("slate://secret", from: .control(uid: 1000, pid: 42))
        }
        #expect(try await host.canOpen("slate://secret"))
        #expect(try await !host.canOpen("slate://nothing"))
        await #expect(throws: Odd.self) { try await host.module(Counter.self) { _ in throw Odd() } }
        await #expect(throws: EventError.self) { try await host.deliver(.push) }
    }

    @Test("the clock stands still until the test moves it")
    func clock() async throws {
        try await TestHost.run(modules: [Counter.self]) { host in
            try await host.module(Counter.self) { $0.startTimer() }
            try await host.advance(by: .seconds(3599))
            #expect(try await host.module(Counter.self) { $0.count } == 0)
            try await host.advance(by: .seconds(1))
            #expect(try await host.module(Counter.self) { $0.count } == 100)
        }
    }

    @Test("a module is code of the test: its context calls and posts")
    func context() async throws {
        try await TestHost.run(modules: [Counter.self]) { host in
            try await host.context(of: "test.counter") { try $0.post("count", 5) }
            try await host.settle()
            let id = try await host.context(of: "test.main") { context in
                _ = try context.mediator.perform(
                    "test.counter", "add", RouteParameters(["by": "1"]))
                return context.id.text
            }
            #expect(id == "test.main")
            #expect(try await host.module(Counter.self) { $0.count } == 6)
        }
    }

    @Test("entries, settings and schemes stand in the list")
    func list() async throws {
        let settings = TestHost.Settings(environment: ["ROOT": "demo://home"], schemes: ["demo"])
        let host = try await TestHost(
            modules: [
                TestModule(Counter.self, id: "com.mm.counter"),
                TestModule(entry: "Modules.MainModule", config: #"{"root": "${ROOT}"}"#),
                "Modules.JournalModule",
            ], settings
        )
        #expect(host.events == [.launch, .openURL, .activate])
        #expect(try await host.open("demo://add?by=1").text == #"{"by":1}"#)
        #expect(try host.folder.text(of: "journal.ndjson").contains("demo://home"))
    }

    @Test("with an inbox, events have a position, and a second one of an id is not delivered")
    func durable() async throws {
        let folder = try TemporaryFolder()
        let settings = TestHost.Settings(folder: folder, isDurable: true)
        let first = try await TestHost(modules: [Counter.self], settings)
        #expect(try await first.deliver(.message, #"{"topic": "count"}"#, id: "a")?.delivered == 1)
        #expect(try await first.deliver(.message, #"{"topic": "count"}"#, id: "a") == nil)
        let positions = try await first.module(Counter.self) { $0.positions }
        #expect(positions.count == 1 && positions[0] != nil)
        #expect(await first.stop() == .stopped)
        let second = try await TestHost(modules: [Counter.self], settings)
        #expect(try await second.deliver(.message, #"{"topic": "count"}"#, id: "a") == nil)
    }

    @Test("an error of the test stops the host")
    func throwing() async throws {
        let kept = Guarded<TestHost?>(nil)
        await #expect(throws: Odd.self) {
            try await TestHost.run(modules: [Counter.self]) { host in
                kept.withLock { $0 = host }
                throw Odd()
            }
        }
        #expect(kept.withLock { $0?.end } == .stopped)
    }

    // MARK: Faults

    @Test("a module that is made unresponsive misses nothing, and holds up no other")
    func stalled() async throws {
        try await TestHost.run(modules: [TestModule(Counter.self), "Modules.JournalModule"]) {
            host in
            let stall = try await host.stall("test.counter")
            #expect(try await host.state(of: "test.counter") == .unresponsive)
            #expect(try await host.post("count", 1)?.unresponsive == 1)
            let error = await #expect(throws: RouteError.self) {
                try await host.open("slate://add?by=1")
            }
            #expect(error == .overdue(try ModuleID("test.counter")))
            #expect(try host.folder.text(of: "journal.ndjson").contains("count"))
            try await stall.end()
            #expect(try await host.module(Counter.self) { $0.count } == 1)
        }
    }

    @Test("a stop ends a stall that the test has not ended")
    func stalledAtStop() async throws {
        let end = try await TestHost.run(modules: [Counter.self]) { host in
            _ = try await host.stall("test.counter")
        }
        #expect(end == .stopped)
    }

    @Test(
        "a full disk fails each write in the folder, of modules and of the inbox, and of no other host"
    )
    func fullDisk() async throws {
        let journal = TestModule(entry: "Modules.JournalModule")
        let host = try await TestHost(modules: [journal], .init(isDurable: true))
        let other = try await TestHost(modules: [journal], .init(isDurable: true))
        host.isDiskFull = true
        #expect(host.isDiskFull && !other.isDiskFull)
        await #expect(throws: (any Error).self) { try await host.deliver(.push, "{}") }
        #expect(try await host.deliver(.background)?.failed == 1)
        #expect(host.messages(of: "test.journal").last?.contains("No space left on device") == true)
        #expect(try await other.deliver(.push, "{}")?.delivered == 1)
        host.isDiskFull = false
        #expect(try await host.deliver(.push, "{}")?.delivered == 1)
        #expect(await host.stop() == .stopped)
    }

    // MARK: Calls and reloads

    /// A module that signs in by calls of another.
    private final class Client: RoutedModule {
        private let context: ModuleContext

        init(context: ModuleContext) { self.context = context }

        static var routes: [Route<Client>] {
            [
                Route("twice") { (module, _) in
                    _ = try module.context.router.open("slate://add?by=1")
                    _ = try module.context.mediator.perform(
                        "test.counter", "add", RouteParameters(["by": "2"]))
                }
            ]
        }
    }

    @Test("a recorder has each call, with its caller")
    func calls() async throws {
        let host = try await TestHost(modules: [Counter.self, Client.self, CallRecorder.self])
        try await host.open("slate://twice")
        _ = try? await host.open("slate://nothing")
        let calls = try await host.calls
        #expect(
            calls.map(\.description) == [
                "slate://twice by host", "slate://add?by=1 by test.client",
                "test.counter/add by test.client", "slate://nothing by host",
            ])
        #expect(calls[2].parameters == ["by": ["2"]])
    }

    @Test("a reload exchanges modules; one that cannot be made leaves everything as it was")
    func reload() async throws {
        let host = try await TestHost(modules: [Counter.self])
        try await host.open("slate://add?by=1")
        try await host.reload(modules: [TestModule(Counter.self), TestModule(Client.self)])
        try await host.open("slate://twice")
        #expect(try await host.module(Counter.self) { $0.count } == 4)
        let broken = TestModule(TestHostErrorTests.Failing.self)
        let error = await #expect(throws: TestHostError.self) {
            try await host.reload(modules: [TestModule(Counter.self), broken])
        }
        #expect(
            "\(try #require(error))".hasPrefix("the reload was rolled back, and the modules are"))
        #expect(try await host.module(Counter.self) { $0.count } == 4)
        #expect(try await host.state(of: "test.client") == .running)
    }

    // MARK: A host that the test releases

    /// A module that says when it ends, and holds the background open for good.
    private final class Leaver: Module, BackgroundResponder, ConfiguredModule {
        struct Configuration: Decodable, Sendable { var holds: Bool }
        let ended: Promise<Void>
        private let context: ModuleContext
        private let holds: Bool
        private var hold: ModuleHold?
        static let last = Guarded<[String: Promise<Void>]>([:])

        init(context: ModuleContext) throws {
            self.context = context
            holds = try context.config(Configuration.self).holds
            ended = Self.last.withLock { $0[context.id.text] } ?? Promise()
        }

        deinit { ended.keep(()) }

        func didEnterBackground() throws {
            if holds { hold = try context.hold("the test") }
        }
    }

    @Test(
        "one that is released while it runs stops by itself, and leaves nothing",
        arguments: [
            false, true,
        ])
    func released(isStalled: Bool) async throws {
        let id = "test.leaver-\(isStalled)"
        let ended = Promise<Void>()
        Leaver.last.withLock { $0[id] = ended }
        let path: String
        let core = WeakBox<AppHost>()
        do {
            let host = try await TestHost(modules: [
                TestModule(Leaver.self, id: id, config: #"{"holds": false}"#)
            ])
            path = host.folder.path
            core.set(host.host)
            if isStalled { _ = try await host.stall(id) }
        }
        await ended.value
        while core.object != nil || !TemporaryFolder(at: path).names.isEmpty { await Task.yield() }
    }

    @Test("one that is released with a hold open ends with the deadline of its stop")
    func releasedWithHold() async throws {
        let id = "test.leaver-hold"
        let ended = Promise<Void>()
        Leaver.last.withLock { $0[id] = ended }
        do {
            _ = try await TestHost(
                slatefile: """
                    { "slate": 1, "app": "test", "deadlines": { "stop": "50ms", "stopAll": "1s" },
                      "modules": [
                        { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true },
                        { "id": "\(id)", "entry": "\(EntryUse.entry(of: Leaver.self))",
                          "config": { "holds": true } }
                      ] }
                    """)
        }
        await ended.value
    }

    @Test("any number run side by side")
    func sideBySide() async throws {
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...50 {
                group.addTask {
                    let host = try await TestHost(modules: [Counter.self])
                    try await host.call("test.counter", "add", Amount(by: number * 100))
                    return try await host.module(Counter.self) { $0.count }
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(counts == Set((1...50).map { $0 * 100 }))
    }
}
