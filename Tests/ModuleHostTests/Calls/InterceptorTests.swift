import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Interceptors", .timeLimit(.minutes(10)))
struct InterceptorTests {
    /// Two modules with routes, and behind them interceptors.
    private func host(
        _ guards: String..., probe: Probe
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            ["a", "b"].map { .init(name: $0, type: "CallProbe") }
                + guards.map { .init(name: $0, type: "GuardProbe") },
            top: #""schemes": ["app"]"#, probe: probe
        ).launched()
    }

    private func open(_ url: String, _ test: HostUnderTest) async throws -> String {
        try await test.asFirst { "\(try $0.context.router.open(url))" }
    }

    @Test("interceptors see every call in slatefile order, before it is made")
    func order() async throws {
        let probe = Probe()
        let test = try await host("g", "h", probe: probe)
        let text = try await test.asFirst { module in
            _ = try module.context.router.open("app://x.b/user/mia")
            _ = try module.context.mediator.perform("x.b", "act")
            return "\(module.context.router.canOpen("app://x.b/user/mia"))"
        }
        #expect(text == "true")
        _ = await test.call("x.b", "sum", ["left": 1, "right": 2])
        #expect(
            probe.entries == [
                "g sees app://x.b/user/mia of x.a", "h sees app://x.b/user/mia of x.a", "b user",
                "g sees x.b/act of x.a", "h sees x.b/act of x.a", "b act",
                "g sees can app://x.b/user/mia of x.a", "h sees can app://x.b/user/mia of x.a",
                "g sees x.b/sum of outside", "h sees x.b/sum of outside", "b sum",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a token is not shown to interceptors")
    func token() async throws {
        let probe = Probe()
        let test = try await host("g", probe: probe)
        _ = await test.open("app://x.b/sum?left=1&right=2&token=secret")
        #expect(probe.entries == ["g sees app://x.b/sum?left=1&right=2 of outside", "b sum"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the first that refuses ends the search, and the caller receives its name and reason")
    func refuse() async throws {
        let probe = Probe()
        probe.whenJudged("g sees x.b/act of x.a") { _ in .refuse("closed on Sundays") }
        let test = try await host("g", "h", probe: probe)
        let text = try await test.asFirst { "\(try $0.context.mediator.perform("x.b", "act"))" }
        #expect(text == "refused by x.g: closed on Sundays")
        #expect(probe.entries == ["g sees x.b/act of x.a"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("what an interceptor throws refuses the call")
    func thrown() async throws {
        let probe = Probe()
        probe.whenJudged("g sees can app://x.b/act of x.a") { _ in throw TestError() }
        probe.whenJudged("g sees app://x.b/act of x.a") { _ in throw TestError() }
        let test = try await host("g", probe: probe)
        let text = try await test.asFirst { module in
            #expect(!module.context.router.canOpen("app://x.b/act"))
            return "\(try module.context.router.open("app://x.b/act"))"
        }
        #expect(text == "refused by x.g: broken")
        #expect(probe.entries("act") == [])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a call is redirected to another module, by URL and by action, and is seen again")
    func redirect() async throws {
        let probe = Probe()
        for call in ["app://x.b/user/mia", "x.b/act"] {
            probe.whenJudged("g sees \(call) of x.a") { _ in .redirect("app://x.a/user/ann") }
        }
        let test = try await host("g", probe: probe)
        #expect(try await open("app://x.b/user/mia", test) == "ann")
        let text = try await test.asFirst {
            try $0.context.mediator.perform("x.b", "act", as: String.self)
        }
        #expect(text == "ann")
        #expect(
            probe.entries == [
                "g sees app://x.b/user/mia of x.a", "g sees app://x.a/user/ann of x.a", "a user",
                "g sees x.b/act of x.a", "g sees app://x.a/user/ann of x.a", "a user",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a redirected call reaches no more than its caller may")
    func redirectFromOutside() async throws {
        let probe = Probe()
        probe.whenJudged("g sees app://x.b/half/2 of outside") { _ in .redirect("app://x.b/act") }
        let test = try await host("g", probe: probe)
        let text = await test.open("app://x.b/half/2")
        #expect(text.hasPrefix("no route for 'app://x.b/act'"), "\(text)")
        #expect(probe.entries("act") == [])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "redirections that lead on and on are an error", arguments: ["app://x.b/act", "app://%"])
    func loop(target: String) async throws {
        let probe = Probe("loop \(target)")
        for call in ["app://x.b/act", "x.b/act"] {
            probe.whenJudged("g sees \(call) of x.a") { _ in .redirect(target) }
        }
        let test = try await host("g", probe: probe)
        let isLoop = target == "app://x.b/act"
        let url = try await open("app://x.b/act", test)
        let action = try await test.asFirst { "\(try $0.context.mediator.perform("x.b", "act"))" }
        for text in [url, action] {
            #expect(
                text.hasPrefix(isLoop ? "the rewrites never end: " : "malformed URL: "),
                "\(text)")
        }
        // Eight redirections: nine looks at a URL, and one at the action before eight.
        #expect(probe.entries("sees").count == (isLoop ? 9 + 9 : 2))
        #expect(probe.entries.contains("b act") == false)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a late interceptor is not passed while asleep")
    func overdue() async throws {
        let probe = Probe()
        let door = Door()
        probe.whenJudged("g sees x.b/act of outside") { _ in
            door.pass()
            return .proceed
        }
        let test = try await host("g", "h", probe: probe)
        async let stuck = test.call("x.b", "act")
        await probe.reached("g sees x.b/act of outside")
        test.overrun()
        #expect(await stuck == "x.g took too long to answer, and is unresponsive")
        #expect(
            try await open("app://x.b/user/mia", test)
                == "refused by x.g: it is unresponsive, and cannot be asked")
        door.open()
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries == ["g sees x.b/act of outside"])
    }

    @Test("unanswered calls are reported to the interceptors that ask for them, and to the caller")
    func notFound() async throws {
        let probe = Probe()
        probe.whenJudged("g misses x.b/usr of x.a: no action 'usr' of 'x.b'; did you mean 'user'?")
        { _ in throw TestError() }
        let test = try await host("g", "h", probe: probe)
        let url = "no route for 'app://x.b/smu'; did you mean 'app://x.b/sum'?"
        let action = "no action 'usr' of 'x.b'; did you mean 'user'?"
        #expect(try await open("app://x.b/smu", test) == url)
        let text = try await test.asFirst { "\(try $0.context.mediator.perform("x.b", "usr"))" }
        #expect(text == action)
        #expect(
            probe.entries("misses") == [
                "g misses app://x.b/smu of x.a: \(url)", "h misses app://x.b/smu of x.a: \(url)",
                "g misses x.b/usr of x.a: \(action)", "h misses x.b/usr of x.a: \(action)",
            ])
        #expect(test.recorder.messages.contains("failed: broken"))
        // To ask is no miss.
        _ = try await test.asFirst { "\($0.context.router.canOpen("app://x.b/smu"))" }
        #expect(probe.entries("misses").count == 4)
        #expect(await test.stopped() == .stopped)
    }
}
