import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("An embedded host", .timeLimit(.minutes(10)))
struct EmbeddedHostTests {
    /// A module with a route, a public one, and a file.
    private final class Shop: RoutedModule, RootProvider, BackgroundResponder, MessageResponder,
        TerminationResponder
    {
        let topics = ["bought"]
        private var count = 0
        private let context: ModuleContext

        init(context: ModuleContext) { self.context = context }

        var root: String? { nil }

        static var routes: [Route<Shop>] {
            [
                Route("count", access: .public) { (module, _) in module.count },
                Route("secret") { (_, _) in true },
            ]
        }

        func receive(_ message: Message) throws {
            count += try message.payload?.decode(Int.self) ?? 1
        }

        func didEnterBackground() throws {
            try writeFile("\(count)".utf8, to: "\(context.stateDirectory)/count")
        }

        func willTerminate() { context.log.notice("the shop is closed") }
    }

    /// A module with work that goes on until it is cancelled, for which a stop waits.
    private final class Draining: LaunchResponder, TerminationResponder {
        private let context: ModuleContext
        private var hold: ModuleHold?

        init(context: ModuleContext) { self.context = context }

        func didFinishLaunching(_ launch: Launch) throws {
            try context.perform("drain", deadline: .seconds(3600)) { [log = context.log] in
                for await _ in AsyncStream<Never>.makeStream().stream {}
                log.notice("the work is cancelled")
            }
        }

        func willTerminate() throws { hold = try context.hold(.terminate, "it drains") {} }
    }

    private final class Broken: Module {
        struct OutOfOrder: Error {}
        init(context: ModuleContext) throws { throw OutOfOrder() }
    }

    private func slatefile(_ others: String = "") -> String {
        """
        { "slate": 1, "app": "shop", "schemes": ["slate"], "modules": [
          { "id": "com.mm.shop", "entry": "\(EntryUse.entry(of: Shop.self))", "main": true }\(others)
        ] }
        """
    }

    private func host(
        _ others: String = "", _ settings: AppHost.Settings = .init(),
        log: LogRecorder = LogRecorder()
    ) throws -> AppHost {
        try AppHost(slatefile: slatefile(others), settings: settings) { log.write($0) }
    }

    /// Runs a host for the time of a closure, then cancels the task that runs it.
    private func running(
        _ host: AppHost, _ body: @escaping @Sendable (AppHost) async throws -> Void
    ) async throws {
        let run = Task { try await host.run() }
        try await body(host)
        run.cancel()
        try await run.value
    }

    @Test("requests wait for READY; cancellation of its task stops it in good order")
    func requests() async throws {
        let log = LogRecorder()
        let host = try host(log: log)
        try await running(host) { host in
            try await host.post("bought", try JSONValue(parsing: "2"))
            #expect(try await host.open("slate://count").decode(Int.self) == 2)
            #expect(try await host.call("com.mm.shop", "count").text == "2")
            #expect(try await host.canOpen("slate://secret"))
            await #expect(throws: RouteError.self) {
                try await host.open("slate://secret", from: .control(uid: 65534, pid: 0))
            }
            #expect(try await host.deliver(.resignActive))
            #expect(try await !host.deliver(.resignActive))
            #expect(host.state == .inactive)
            #expect(try await host.modules().map(\.state) == [.running])
            let metrics = try await host.metricsText()
            #expect(metrics.contains(#",module="com.mm.shop",state="running"} 1"#))
            // It has no inbox.
            #expect(!metrics.contains("hostd_inbox"))
        }
        #expect(log.records.contains { $0.message == "the shop is closed" })
        #expect(host.state == .terminated)
        await #expect(throws: RouteError.stopped) { try await host.open("slate://count") }
        await #expect(throws: RouteError.stopped) { try await host.modules() }
        await #expect(throws: RouteError.stopped) { try await host.metricsText() }
    }

    @Test("a host without a state directory has no files: a module that wants one has an error")
    func noFiles() async throws {
        let log = LogRecorder()
        let host = try host(log: log)
        try await running(host) { try await $0.deliver(.background) }
        #expect(
            log.records.first { $0.level == .error }?.message
                == "failed: cannot write '/nonexistent/this-host-has-no-state-directory/count': No such file or "
                + "directory")
    }

    @Test("a state directory is created, and belongs to one host until that has ended")
    func stateDirectory() async throws {
        let folder = try TemporaryFolder()
        let settings = AppHost.Settings(stateDirectory: folder.path("state"))
        let first = try host("", settings)
        let error = #expect(throws: HostError.self) { try host("", settings) }
        #expect("\(try #require(error))".contains("runs on the state directory"))
        try await running(first) { try await $0.deliver(.background) }
        #expect(try folder.text(of: "state/count") == "0")
        // Neither an inbox nor a socket was asked for.
        #expect(try namesInFolder(folder.path("state")).sorted() == ["count", "hostd.pid"])
        let second = try host("", settings)
        second.stop(because: "it is not needed")
        _ = try host("", settings)
    }

    @Test("a cancelled request returns, even of a host that is never run")
    func cancelledRequest() async throws {
        let host = try host()
        let request = Task { try await host.call("com.mm.shop", "count") }
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        host.stop(because: "it was never run")
        try await host.run()
    }

    @Test("a host is run once; one that is stopped before ends at once")
    func once() async throws {
        let host = try host()
        try await running(host) { host in
            _ = try await host.modules()
            let error = await #expect(throws: HostError.self) { try await host.run() }
            #expect(
                "\(try #require(error))"
                    == "this host was run before: a host is run once, so create another one")
        }
        await #expect(throws: HostError.self) { try await host.run() }

        let log = LogRecorder()
        let stopped = try self.host(log: log)
        stopped.stop(because: "it is not needed")
        try await stopped.run()
        #expect(log.records.isEmpty)
        await #expect(throws: RouteError.stopped) { try await stopped.open("slate://count") }
    }

    @Test("a stop by the program ends the run")
    func stop() async throws {
        let host = try host()
        let run = Task { try await host.run() }
        #expect(try await host.open("slate://count").text == "0")
        host.stop(because: "the test says so")
        try await run.value
    }

    @Test("a stop that runs out of time cancels the work of modules")
    func overdueWork() async throws {
        let log = LogRecorder()
        let entry = EntryUse.entry(of: Draining.self)
        let host = try AppHost(
            slatefile: slatefile(#", { "id": "com.mm.drain", "entry": "\#(entry)" }"#)
                .replacing(
                    #""app""#, with: #""deadlines": { "stop": "1h", "stopAll": "50ms" }, "app""#)
        ) { log.write($0) }
        let run = Task { try await host.run() }
        try await host.post("begun")
        host.stop(because: "the test says so")
        let error = await #expect(throws: HostError.self) { try await run.value }
        #expect("\(try #require(error))".hasSuffix("still busy: com.mm.drain"))
        _ = await log.first(containing: "the work is cancelled")
    }

    @Test("a required module that fails is the error of the run")
    func failed() async throws {
        let broken =
            #", { "id": "com.mm.broken", "entry": "\#(EntryUse.entry(of: Broken.self))", "required": true }"#
        let host = try host(broken)
        let error = await #expect(throws: HostError.self) { try await host.run() }
        #expect(
            "\(try #require(error))"
                == "the app failed: required module 'com.mm.broken' failed in init: OutOfOrder()")
    }

    @Test("every error of a slatefile comes at once")
    func invalid() throws {
        let error = #expect(throws: HostError.self) {
            try AppHost(slatefile: #"{ "slate": 1, "ap": "x", "modules": [] }"#) { _ in }
        }
        guard case .invalid(let slatefile)? = error else {
            Issue.record("\(error as (any Error)?)")
            return
        }
        #expect(slatefile.diagnostics.count == 3)
        let missing = #expect(throws: HostError.self) {
            try AppHost(slatefileAt: "/nonexistent/slatefile.json") { _ in }
        }
        guard case .unreadable? = missing else {
            Issue.record("\(missing as (any Error)?)")
            return
        }
    }

    @Test("a Swift module with a process of its own needs a line in main")
    func moduleProcess() throws {
        // As in a program that does not call it: no test does.
        let entry = EntryUse.entry(of: Broken.self)
        let isolated = #", { "id": "com.mm.b", "entry": "\#(entry)", "isolation": "process" }"#
        let error = #expect(throws: HostError.self) { try host(isolated) }
        #expect(
            "\(try #require(error))"
                == "module 'com.mm.b' has a process of its own, which runs this program: call "
                + "'AppHost.exitIfModuleProcess()' first in main, or leave \"isolation\" out")
    }
}
