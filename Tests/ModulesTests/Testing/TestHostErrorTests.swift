import ModuleHostCore
import ModuleHostTesting
import Testing

@Suite("Errors of TestHost", .timeLimit(.minutes(10)))
struct TestHostErrorTests {
    final class Plain: Module {
        init(context: ModuleContext) {}
    }

    final class Failing: Module {
        struct Broken: Error {}
        init(context: ModuleContext) throws { throw Broken() }
    }

    /// The error of a closure, in words.
    private func error(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "none"
        } catch {
            return "\(error)"
        }
    }

    @Test("an event without meaning says in which state the app is")
    func ignored() async throws {
        try await TestHost.run(modules: [Plain.self]) { host in
            #expect(
                await error { try await host.deliver(.foreground) }
                    == "event 'foreground' has no meaning while the app is active, so no module received it; "
                    + "bring the app to another state before")
        }
    }

    @Test("a module that is not there: the error lists those that are, and why one failed")
    func noModule() async throws {
        try await TestHost.run(modules: [Failing.self]) { host in
            let modules =
                "runs in this host; its modules are test.main (ModuleHostTesting.RootlessMain, running), "
                + "test.failing (ModulesTests.TestHostErrorTests_Failing, failed: init: Broken())"
            #expect(
                await error { try await host.module(Plain.self) { _ in } }
                    == "no module of class Plain \(modules)")
            #expect(
                await error { _ = try await host.state(of: "a.b") } == "no module 'a.b' \(modules)")
            #expect(
                await error { _ = try await host.stall("a.b") } == "no module 'a.b' \(modules)")
        }
    }

    @Test("a module that needs a process needs an executable")
    func executable() async throws {
        let module = TestModule(Plain.self, more: #""isolation": "process""#)
        #expect(
            await error { _ = try await TestHost(modules: [module]) }
                == "module 'test.plain' has a process of its own: name the executable of your package that "
                + "links it, as 'TestHost.Settings(executable: \"my-app\")', or test it without \"isolation\""
        )
        let missing = await error {
            _ = try await TestHost(modules: [module], .init(executable: "no-such-program"))
        }
        #expect(missing.hasPrefix("there is no executable '"))
        #expect(
            missing.hasSuffix(
                "/no-such-program': it is built with the tests if the package has an executable target of this "
                    + "name"))
    }

    @Test("what needs a process or an inbox says so")
    func needs() async throws {
        try await TestHost.run(modules: [Plain.self]) { host in
            #expect(
                await error { try await host.killProcess(of: "test.plain") }
                    == "module 'test.plain' has no process: only one with a \"command\" or with "
                    + "\"isolation\": \"process\" can be killed")
            #expect(
                await error { try await host.deliver(.push, "{}", id: "a") }
                    == "this host has no inbox: make it with 'TestHost.Settings(isDurable: true)'")
        }
    }

    @Test("a wait for what never happens ends, with what was logged")
    func patience() async throws {
        try await TestHost.run(modules: [Plain.self]) { host in
            let text = await error {
                try await host.logged("nothing of the kind", within: .milliseconds(1))
            }
            #expect(
                text.hasPrefix(
                    "waited 0.001 seconds for a log line with \"nothing of the kind\": check that it can happen, "
                        + "and call 'advance(by:)' if it waits for the clock, which stands still. The last log "
                        + "lines:"))
            #expect(text.contains("\n  notice ready: 2 modules"))
        }
    }

    @Test("an app that ends before READY says why")
    func failed() async throws {
        let text = await error {
            _ = try await TestHost(modules: [TestModule(Failing.self, more: #""required": true"#)])
        }
        #expect(
            text.hasPrefix(
                "the app ended before READY: required module 'test.failing' failed in init: Broken(). Its last log "
                    + "lines:"), "\(text)")
    }

    @Test("after the end each method says that the app has stopped")
    func stopped() async throws {
        let host = try await TestHost(modules: [Plain.self])
        #expect(await host.stop() == .stopped)
        #expect(await host.stop() == .stopped)
        let stopped = "\(RouteError.stopped)"
        #expect(await error { try await host.deliver(.background) } == stopped)
        #expect(await error { try await host.open("slate://a") } == stopped)
        #expect(await error { try await host.module(Plain.self) { _ in } } == stopped)
        #expect(await error { _ = try await host.state(of: "test.plain") } == stopped)
        #expect(await error { try await host.advance(by: .seconds(1)) } == stopped)
    }

    @Test("a cancelled test does not wait")
    func cancelled() async throws {
        try await TestHost.run(modules: [Plain.self]) { host in
            let waiting = Task { try await host.logged("nothing of the kind") }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }
}
