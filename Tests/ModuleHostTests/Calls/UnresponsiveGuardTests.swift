import TestSupport
import Testing

@testable import ModuleHostCore

/// An interceptor that guards the calls of one module.
final class PatternGuard: ConfiguredModule, CallInterceptor, MemoryWarningResponder {
    struct Configuration: Decodable { var probe: String }

    static var guardedCalls: [String]? { ["app://x.b/*"] }

    private let probe: Probe?

    init(context: ModuleContext) throws {
        probe = Probe.named(try context.config(Configuration.self).probe)
    }

    func intercept(_ call: InterceptedCall) -> Interception {
        probe?.note("asked")
        return .proceed
    }

    func didReceiveMemoryWarning() { probe?.stand("guard memory-warning") }
}

/// An interceptor that guards every call, and may be late from its launch on.
final class SleepyGuard: ConfiguredModule, CallInterceptor, LaunchResponder {
    struct Configuration: Decodable { var probe: String }

    private let probe: Probe?

    init(context: ModuleContext) throws {
        probe = Probe.named(try context.config(Configuration.self).probe)
    }

    func didFinishLaunching(_ launch: Launch) { probe?.stand("guard launch") }

    func intercept(_ call: InterceptedCall) -> Interception {
        probe?.stand("guard asked")
        return .proceed
    }
}

/// An interceptor whose patterns are malformed.
final class BrokenGuard: Module, CallInterceptor {
    static var guardedCalls: [String]? { ["x.b/*", "app://:", "app://x.b?a=:a"] }

    init(context: ModuleContext) {}

    func intercept(_ call: InterceptedCall) -> Interception { .proceed }
}

@Suite("Interceptors that do not respond", .timeLimit(.minutes(10)))
struct UnresponsiveGuardTests {
    private static let refused = "refused by x.g: it is unresponsive, and cannot be asked"

    @Test("only the calls that it guards are refused, whatever the URL that leads to the route")
    func patterns() async throws {
        let probe = Probe()
        let door = probe.close("guard memory-warning")
        let test = try await HostUnderTest(
            [
                .init(name: "a", type: "CallProbe"), .init(name: "b", type: "CallProbe"),
                .init(name: "c", type: "PickerProbe"), .init(name: "g", type: "PatternGuard"),
            ],
            top: #""schemes": ["app"], "rewrites": [{"from": "app://old", "to": "app://x.b/act"}]"#,
            probe: probe
        ).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("guard memory-warning")
        test.overrun()
        let refused = [
            "app://x.b/user/mia", "app://X.B/act", "app://old", "app://x.b/half/3",
        ]
        for url in refused {
            let text = try await test.asFirst { module in
                #expect(!module.context.router.canOpen(url))
                return "\(try module.context.router.open(url))"
            }
            #expect(text == Self.refused, "\(url)")
        }
        let text = try await test.asFirst { module in
            let mediator = module.context.mediator
            #expect(throws: RouteError.self) { try mediator.perform("x.b", "act") }
            // Its parameters build no URL, so what it means cannot be decided.
            #expect(throws: RouteError.self) {
                try mediator.perform("x.b", "user", ["name": ".."])
            }
            _ = try mediator.perform("x.a", "act")
            _ = try module.context.router.open("app://x.c/open")
            return try module.context.router.value(for: "app://user/ann", as: String.self)
        }
        #expect(text == "ann")
        #expect(await test.call("x.a", "sum", ["left": "1", "right": "2"]) == "3")
        #expect(await test.open("app://x.b/act").hasPrefix("no route for"))
        #expect(probe.entries("asked") == [])
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "the first call of a lazy command is refused, too: its routes are known once it is made",
        arguments: ["", #", "provides": ["keep/:text"]"#], ["PatternGuard", "SleepyGuard"])
    func lazyCommand(more: String, type: String) async throws {
        let probe = Probe("lazy \(type) \(more)")
        let door = probe.close(
            type == "PatternGuard" ? "guard memory-warning" : "guard asked")
        func command(_ name: String) -> HostUnderTest.Entry {
            HostUnderTest.Entry(
                name: name, more: #""launch": "lazy"\#(more)"#,
                command: [HostProcess.program("MisbehavingModule"), "good"])
        }
        let test = try await HostUnderTest(
            [
                .init(name: "a", type: "CallProbe"), command("b"), command("c"), command("d"),
                .init(name: "g", type: type),
            ], top: #""schemes": ["app"]"#, processes: .quick, probe: probe
        ).launched()
        if type == "PatternGuard" {
            try test.deliver(.memoryWarning)
            await probe.reached("guard memory-warning")
        } else {
            test.host.call("x.a", "act", [:], origin: .host, token: nil) { _ in }
            await probe.reached("guard asked")
        }
        test.overrun()
        #expect(await test.call("x.b", "echo", ["text": "one"]) == Self.refused)
        #expect(await test.open("app://x.b/echo/one") == Self.refused)
        let other = await test.open("app://x.c/echo/one")
        #expect(other == (type == "PatternGuard" ? #"{"text":"one"}"# : Self.refused))
        door.open()
        await test.caughtUp()
        #expect(await test.open("app://x.d/echo/one") == #"{"text":"one"}"#)
        #expect(await test.stopped() == .stopped)
    }

    @Test("malformed patterns are errors of the check, and guard every call")
    func malformed() throws {
        let calls = GuardedCalls(of: BrokenGuard.self, schemes: ["app"])
        #expect(
            calls.errors == [
                "guarded call 'x.b/*': it has no scheme; begin it with one of the app's, such as slate://",
                "guarded call: pattern 'app://:': the ':' at byte 6 has no name after it; "
                    + "for the sign itself write %3A",
                "guarded call 'app://x.b?a=:a': a query is never matched; leave it out",
            ])
        let table = try RouteTable(["a"].map { ("m", $0) })
        #expect(calls.cover(try #require(table.routes.first), RouteParameters()))
        #expect(throws: SlatefileError.self) {
            try HostUnderTest.slatefile([.init(name: "a", type: "BrokenGuard")], probe: Probe())
        }
    }

    @Test("a root that was refused is opened when its guard returns", arguments: [true, false])
    func root(isLateAtLaunch: Bool) async throws {
        let probe = Probe("root \(isLateAtLaunch)")
        let place = isLateAtLaunch ? "guard launch" : "guard asked"
        let door = probe.close(place)
        let test = try HostUnderTest(
            [
                .init(name: "a", config: #""root": "app://x.b/act""#, type: "CallProbe"),
                .init(name: "b", type: "CallProbe"), .init(name: "g", type: "SleepyGuard"),
            ], top: #""schemes": ["app"]"#, probe: probe)
        try test.host.launch()
        await probe.reached(place)
        test.overrun(isLateAtLaunch ? .seconds(20) : .seconds(5))
        _ = await test.recorder.first(containing: "the root is opened again when x.g responds")
        #expect(probe.entries("act") == [])
        door.open()
        await probe.reached("b act")
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("act") == ["b act"])
    }
}
