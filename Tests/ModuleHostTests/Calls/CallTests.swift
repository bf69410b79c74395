import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Calls between modules", .timeLimit(.minutes(10)))
struct CallTests {
    private func host(
        _ names: String..., probe: Probe? = nil, test: String = #function
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            names.map { .init(name: $0, type: "CallProbe") }, top: #""schemes": ["app"]"#,
            probe: probe ?? Probe(test)
        ).launched()
    }

    @Test("an action is called by module and name, with typed parameters and a typed reply")
    func perform() async throws {
        let test = try await host("a", "b")
        let text = try await test.asFirst { module in
            let sum = try module.context.mediator.perform(
                "x.b", "sum", ["left": 40, "right": 2], as: Int.self)
            let name = try module.context.mediator.perform("x.b", "user", ["name": "mia"])
            return "\(sum) \(name)"
        }
        #expect(text == "42 mia")
        #expect(test.probe.entries("b") == ["b sum", "b user"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a URL is the same call, in its long form and in its short one")
    func open() async throws {
        let test = try await host("a", "b")
        let text = try await test.asFirst { module in
            let router = module.context.router
            let long = try router.value(for: "app://x.b/sum?left=1&right=2", as: Int.self)
            let short = try router.value(for: "app://user/mia", as: String.self)
            return "\(long) \(short)"
        }
        #expect(text == "3 mia")
        // The short form is answered by the first module that can.
        #expect(test.probe.entries("user") == ["a user"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("objects travel beside the URL and the parameters, to a handler in the app")
    func userInfo() async throws {
        let probe = Probe()
        probe.whenCalled("b act") { _, call in
            "\(call.userInfo["count"] as? Int ?? 0) \(call.origin)"
        }
        let test = try await host("a", "b", probe: probe)
        let text = try await test.asFirst { module in
            let (router, mediator) = (module.context.router, module.context.mediator)
            let byURL = try router.value(
                for: "app://x.b/act", as: String.self, userInfo: ["count": 7])
            let byName = try mediator.perform(
                "x.b", "act", userInfo: ["count": 8], as: String.self)
            let none = try mediator.perform("x.b", "act", as: String.self)
            return "\(byURL), \(byName), \(none)"
        }
        #expect(text == "7 x.a, 8 x.a, 0 x.a")
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "what is wrong with a call is an error that says so",
        arguments: [
            ("app://x.b/sum?left=1", "parameter 'right' is missing: expected a whole number"),
            ("app://x.b/smu", "no route for 'app://x.b/smu'; did you mean 'app://x.b/sum'?"),
            ("app://x.b/half/3", "no route for 'app://x.b/half/3'"),
            ("app:// ", "malformed URL: byte 6 is a space; write it as %20"),
        ])
    func errors(url: String, error: String) async throws {
        let test = try await host("a", "b")
        let text = try await test.asFirst { "\(try $0.context.router.open(url))" }
        #expect(text.hasPrefix(error), "\(text)")
        #expect(try await test.asFirst { "\($0.context.router.canOpen(url))" } == "false")
        #expect(test.probe.entries("b") == [])
        #expect(await test.stopped() == .stopped)
    }

    @Test("an action or a module that is not there is an error that offers another")
    func noAction() async throws {
        let test = try await host("a", "b")
        let texts = [("x.b", "usr"), ("x.b", "nothing"), ("x.bb", "user"), ("org.else", "user")]
        var found: [String] = []
        for (module, action) in texts {
            found.append(
                try await test.asFirst { "\(try $0.context.mediator.perform(module, action))" })
        }
        #expect(
            found == [
                "no action 'usr' of 'x.b'; did you mean 'user'?",
                "no action 'nothing' of 'x.b'",
                "no module 'x.bb'; did you mean 'x.b'?", "no module 'org.else'",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a caller outside is not told of a module that it cannot reach")
    func noModule() async throws {
        let test = try await host("a", "b")
        #expect(await test.call("x.bb", "sum") == "no module 'x.bb'; did you mean 'x.b'?")
        #expect(await test.call("x.b", "smu") == "no action 'smu' of 'x.b'; did you mean 'sum'?")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reply of another type is an error that names both")
    func otherReply() async throws {
        let test = try await host("a", "b")
        let text = try await test.asFirst { module in
            "\(try module.context.router.value(for: "app://x.b/user/mia", as: Int.self))"
        }
        #expect(text == "the reply is a String, not a Int")
        #expect(await test.stopped() == .stopped)
    }

    @Test("what a handler throws reaches the caller as it is")
    func thrown() async throws {
        let probe = Probe()
        probe.whenCalled("b act") { _, _ in throw TestError() }
        let test = try await host("a", "b", probe: probe)
        let text = try await test.asFirst { module in
            do {
                return "\(try module.context.mediator.perform("x.b", "act"))"
            } catch let error as TestError {
                return "error: \(error)"
            }
        }
        #expect(text == "error: broken")
        let outside = await test.open("app://x.b/act", from: .host)
        #expect(outside == "x.b: broken")
        #expect(await test.stopped() == .stopped)
    }

    @Test("who calls from outside reaches what is public, and the rest is not there")
    func outside() async throws {
        let test = try await host("a", "b")
        #expect(await test.open("app://x.b/sum?left=1&right=2") == "3")
        #expect(await test.call("x.b", "sum", ["left": 1, "right": 2]) == "3")
        for url in ["app://x.b/act", "app://x.b/user/mia", "app://x.b/atc", "app://x.c/user/mia"] {
            let text = await test.open(url)
            #expect(text.hasPrefix("no route for '\(url)'"), "\(text)")
            #expect(!text.contains("act'?") && !text.contains("user/:name"), "\(text)")
        }
        #expect(await test.call("x.b", "act") == "no action 'act' of 'x.b'")
        #expect(await test.call("x.b", "atc") == "no action 'atc' of 'x.b'")
        #expect(await test.stopped() == .stopped)
        #expect(await test.open("app://x.b/sum?left=1&right=2") == "the host has stopped")
    }

    @Test("a call that comes before the launch waits for it")
    func early() async throws {
        let test = try HostUnderTest([.init(name: "a", type: "CallProbe")], probe: Probe("early"))
        let sum = Promise<String>()
        test.host.call("x.a", "sum", ["left": 1, "right": 2], origin: .host, token: nil) {
            guard case .success(.json(let text)) = $0 else { return sum.keep("\($0)") }
            sum.keep(String(decoding: text, as: UTF8.self))
        }
        let launched = try await test.launched()
        #expect(await sum.value == "3")
        #expect(await launched.stopped() == .stopped)
    }

    @Test("the root that the main module supplies is opened by the route that answers it")
    func root() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [
                .init(name: "a", config: #""root": "app://x.b/user/mia""#, type: "CallProbe"),
                .init(name: "b", type: "CallProbe"),
            ], top: #""schemes": ["app"]"#, probe: probe
        ).launched()
        #expect(probe.entries == ["b user"])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a chain of callers shows once what repeats to its end",
        arguments: [
            ("a", "x.a"), ("ab", "x.a → x.b"), ("aaaa", "4 × (x.a)"), ("abbbb", "x.a → 4 × (x.b)"),
            ("abcbc", "x.a → 2 × (x.b → x.c)"), ("ababa", "2 × (x.a → x.b) → x.a"),
        ])
    func chains(_ names: String, _ text: String) {
        let chain = names.map { ModuleID(checked: "x.\($0)") }
        #expect(RouteError.text(ofChain: chain) == text)
    }

    @Test("calls nest 64 deep, then an error says who called whom")
    func depth() async throws {
        let probe = Probe()
        probe.whenCalled("a act") { module, _ in
            try module.context.mediator.perform("x.b", "act", as: String.self)
        }
        probe.whenCalled("b act") { module, _ in
            try module.context.mediator.perform("x.a", "act", as: String.self)
        }
        let test = try await host("a", "b", probe: probe)
        let text = try await test.asFirst { module in
            try module.context.mediator.perform("x.b", "act", as: String.self)
        }
        #expect(text == "modules already call each other 64 deep: 32 × (x.a → x.b)")
        #expect(probe.entries("act").count == 63)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a late target answers at once that it is unresponsive, and the call is not made")
    func overdue() async throws {
        let probe = Probe()
        let door = Door()
        probe.whenCalled("b act") { _, _ in
            door.pass()
            return ""
        }
        let test = try await host("a", "b", "c", probe: probe)
        // A caller outside calls `b`, which does not return.
        async let outside = test.open("app://x.b/act", from: .host)
        await probe.reached("b act")
        test.overrun()
        #expect(await outside == "x.b took too long to answer, and is unresponsive")
        let text = try await test.asFirst { module in
            let router = module.context.router
            #expect(!router.canOpen("app://x.b/sum?left=1&right=2"))
            return "\(try router.open("app://x.b/sum?left=1&right=2"))"
        }
        #expect(text == "x.b is unresponsive, and calls do not wait for it")
        door.open()
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("b") == ["b act"])
    }

    @Test("a caller of a module that does not return is overdue with it, and receives an error")
    func lateCaller() async throws {
        let probe = Probe()
        let door = Door()
        let outcome = Promise<String>()
        probe.whenCalled("b act") { _, _ in
            door.pass()
            return "too late"
        }
        probe.whenCalled("a memory-warning") { module, _ in
            do {
                outcome.keep(try module.context.mediator.perform("x.b", "act", as: String.self))
            } catch {
                // A overdue module's own calls are served by the lane.
                let sum = try module.context.mediator.perform(
                    "x.c", "sum", ["left": 1, "right": 1], as: Int.self)
                outcome.keep("\(error); \(sum)")
            }
            return ""
        }
        let test = try await host("a", "b", "c", probe: probe)
        try test.deliver(.memoryWarning)
        await probe.reached("b act")
        test.overrun()
        await probe.reached("c memory-warning")
        door.open()
        #expect(await outcome.value == "x.b took too long to answer, and is unresponsive; 2")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a route can be added and removed while the app runs, one at a time")
    func changes() async throws {
        let test = try await host("a", "b")
        let text = try await test.asFirst { module in
            let router = module.context.router
            try router.add(
                Route("user/:name/posts") { (module: CallProbe, request: CallProbe.Named, call) in
                    "posts of \(request.name)"
                })
            let added = try router.value(for: "app://x.a/user/mia/posts", as: String.self)
            #expect(throws: RouteError.self) {
                try router.add(Route("user/:id/posts") { (module: CallProbe, call) in })
            }
            #expect(router.remove("user/:name/posts"))
            #expect(!router.remove("user/:name/posts"))
            #expect(!router.canOpen("app://x.a/user/mia/posts"))
            return "\(added), \(try router.value(for: "app://x.a/user/mia", as: String.self))"
        }
        #expect(text == "posts of mia, mia")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a handler that removes its own route has what the route holds until it returns")
    func removalByHandler() async throws {
        let probe = Probe()
        let test = try await host("a", "b", probe: probe)
        let text = try await test.asFirst { module in
            try addRemovedByHandler(to: module.context.router, probe)
            let reply = try module.context.mediator.perform("x.a", "once", as: String.self)
            return "\(reply), \(probe.entries("held"))"
        }
        #expect(text == #"removed: true, ["held ping", "held deinit"]"#)
        #expect(await test.stopped() == .stopped)
    }

    /// Adds a route whose handler removes it, and then uses an object that only the route holds.
    private func addRemovedByHandler(to router: Router, _ probe: Probe) throws {
        let held = ProbeMember("held", probe)
        try router.add(
            Route("once") { (module: CallProbe, call) in
                let isRemoved = module.context.router.remove("once")
                held.ping("")
                return "removed: \(isRemoved)"
            })
    }

    @Test("a completion comes on the lane, after what was accepted before")
    func completion() async throws {
        let test = try await host("a", "b")
        let replies = Promise<String>()
        let text = try await test.asFirst { module in
            module.context.mediator.perform("x.b", "sum", ["left": 1, "right": 2]) { result in
                module.context.router.open("app://x.b/user/mia") { second in
                    replies.keep("\((try? result.get()) ?? "") \((try? second.get()) ?? "")")
                }
            }
            return "\(test.probe.entries("sum").count)"
        }
        #expect(text == "0")
        #expect(await replies.value == "3 mia")
        #expect(await test.stopped() == .stopped)
    }

    @Test("code that is not on the lane awaits the reply")
    func offLane() async throws {
        let test = try await host("a", "b")
        let lines = Promise<(AsyncRouter, AsyncMediator)>()
        _ = try await test.asFirst { module in
            lines.keep((module.context.router.offLane, module.context.mediator.offLane))
            return ""
        }
        let (router, mediator) = await lines.value
        #expect(try await router.value(for: "app://x.b/user/mia", as: String.self) == "mia")
        #expect(await router.canOpen("app://x.b/user/mia"))
        #expect(
            try await mediator.perform("x.b", "sum", ["left": 1, "right": 2], as: Int.self) == 3)
        #expect(await test.stopped() == .stopped)
        await #expect(throws: RouteError.stopped) { try await router.open("app://x.b/user/mia") }
    }

    @Test("a URL is built from a pattern and parameters, and reads back")
    func building() async throws {
        let test = try await host("a", "b")
        let text = try await test.asFirst { module in
            let router = module.context.router
            let url = try router.url(
                for: "user/:name", of: ModuleID("x.b"), ["name": "a/b ü?&"])
            return "\(url) \(try router.value(for: url, as: String.self))"
        }
        #expect(text == "app://x.b/user/a%2Fb%20%C3%BC%3F%26 a/b ü?&")
        #expect(await test.stopped() == .stopped)
    }
}
