import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// A module with two pages that everyone may open.
final class PageProbe: RoutedModule, ConfiguredModule {
    struct Configuration: Decodable { var probe: String }
    struct Text: Decodable { var text: String }

    static var routes: [Route<PageProbe>] {
        [
            Route("page", access: .public) { (module, _) in module.context.id.text },
            Route("secret", access: .public) { (module, _) in module.context.id.text },
            Route("echo/:text", access: .public) { (_, request: Text, _) in request.text },
        ]
    }

    private let context: ModuleContext

    init(context: ModuleContext) throws {
        self.context = context
        let probe = Probe.named(try context.config(Configuration.self).probe)
        let name = String(context.id.text.split(separator: ".").last ?? "")
        try probe?.actLazily("\(name) init", nil)
    }
}

/// A module whose page is for the app alone.
final class LocalPageProbe: RoutedModule {
    static var routes: [Route<LocalPageProbe>] {
        [Route("secret") { (module, _) in module.context.id.text }]
    }

    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }
}

/// A module that answers whatever no other does.
final class CatchAllProbe: RoutedModule {
    static var routes: [Route<CatchAllProbe>] {
        [Route("*", access: .public) { (_, call) in "caught \(call.url?.withoutQuery ?? "?")" }]
    }

    init(context: ModuleContext) {}
}

@Suite("URLs of modules that have failed", .timeLimit(.minutes(10)))
struct FailedModuleURLTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("FailedModuleURLTests")
    private let scheme = #""schemes": ["t"]"#
    private let failed = "x.l cannot be called now: it failed: "

    private func lazy(_ name: String, _ more: String = "") -> Entry {
        Entry(
            name: name, more: #""launch": "lazy""# + (more.isEmpty ? "" : ", " + more),
            type: "LazyProbe")
    }

    private func canOpen(_ url: String, _ test: HostUnderTest) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            test.host.canOpen(url, origin: .control(uid: 1000, pid: 42), token: nil) {
                continuation.resume(with: $0)
            }
        }
    }

    private func expect(
        _ url: String, _ answer: String, canOpen isOpen: Bool = true, _ test: HostUnderTest,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(await test.open(url) == answer, sourceLocation: location)
        #expect(try await canOpen(url, test) == isOpen, sourceLocation: location)
    }

    @Test(
        "a short one passes on to the next module with the route, whatever it failed in",
        arguments: ["init", "launch"], [true, false])
    func next(_ step: String, _ isLazy: Bool) async throws {
        probe.whenLazy("l \(step)") { _ in throw TestError() }
        let first = isLazy ? lazy("l") : Entry(name: "l", type: "LazyProbe")
        let test = try await HostUnderTest(
            [Entry(name: "a", type: "CallProbe"), first, Entry(name: "k", type: "LazyProbe")],
            top: scheme, probe: probe
        ).launched()
        try await expect("t://touch/4", "4", test)
        try await expect("t://touch/5", "5", test)
        #expect(probe.entries.filter { $0.hasSuffix("touch") } == ["k touch", "k touch"])
        #expect(await test.statuses()[1].state == .failed)
        // One that names it does not, nor does a call.
        try await expect("t://x.l/touch/4", failed + "\(step): broken", canOpen: false, test)
        try await expect("t://X.L/touch/4", failed + "\(step): broken", canOpen: false, test)
        #expect(
            await test.call("x.l", "touch", ["number": "4"]) == failed + "\(step): broken")
        #expect(await test.stopped() == .stopped)
    }

    @Test("it passes all that have failed, those that need a failed one included")
    func several() async throws {
        probe.whenLazy("l init") { _ in throw TestError() }
        probe.whenLazy("j launch") { _ in throw TestError() }
        let test = try await HostUnderTest(
            [
                Entry(name: "a", type: "CallProbe"), Entry(name: "l", type: "LazyProbe"),
                Entry(name: "n", more: #""needs": ["x.l"]"#, type: "LazyProbe"),
                lazy("m", #""needs": ["x.l"]"#), lazy("j"), lazy("k"),
            ], top: scheme, probe: probe
        ).launched()
        try await expect("t://touch/4", "4", test)
        #expect(probe.entries.filter { $0.hasSuffix("touch") } == ["k touch"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("it passes on to the fallback, and without one the first failure is the answer")
    func fallback() async throws {
        probe.whenLazy("l init") { _ in throw TestError() }
        let entries = [
            Entry(name: "a", type: "CallProbe"), Entry(name: "l", type: "LazyProbe"),
            Entry(name: "f", type: "CatchAllProbe"),
        ]
        let test = try await HostUnderTest(
            entries, top: scheme + #", "fallback": "x.f""#, probe: probe
        ).launched()
        try await expect("t://touch/4", #""caught t://touch/4""#, test)
        try await expect("t://x.l/touch/4", failed + "init: broken", canOpen: false, test)
        #expect(await test.stopped() == .stopped)

        let without = try await HostUnderTest(
            Array(entries.prefix(2)), top: scheme, probe: probe
        ).launched()
        try await expect("t://touch/4", failed + "init: broken", canOpen: false, without)
        #expect(await without.stopped() == .stopped)
    }

    @Test("a rewritten one names what it is rewritten to")
    func rewritten() async throws {
        probe.whenLazy("l init") { _ in throw TestError() }
        let rewrites =
            #", "rewrites": [{"from": "t://named/:n", "to": "t://x.l/touch/:n"}, "#
            + #"{"from": "t://short/:n", "to": "t://touch/:n"}]"#
        let test = try await HostUnderTest(
            [
                Entry(name: "a", type: "CallProbe"), Entry(name: "l", type: "LazyProbe"),
                Entry(name: "k", type: "LazyProbe"),
            ], top: scheme + rewrites, probe: probe
        ).launched()
        try await expect("t://named/4", failed + "init: broken", canOpen: false, test)
        try await expect("t://short/4", "4", test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("none reaches a route that its caller may not")
    func access() async throws {
        probe.whenLazy("l init") { _ in throw TestError() }
        let test = try await HostUnderTest(
            [
                Entry(name: "a", type: "CallProbe"), Entry(name: "l", type: "PageProbe"),
                Entry(name: "m", type: "LocalPageProbe"),
            ], top: scheme, probe: probe
        ).launched()
        try await expect("t://secret", failed + "init: broken", canOpen: false, test)
        let inside = try await test.asFirst { module in
            "\(module.context.router.canOpen("t://secret")) \(try module.context.router.open("t://secret"))"
        }
        #expect(inside == "true x.m")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a lazy module whose next try is due is tried first")
    func retried() async throws {
        let isBroken = Atomic(true)
        probe.whenLazy("l init") { _ in
            if isBroken.load(ordering: .relaxed) { throw TestError() }
        }
        let test = try await HostUnderTest(
            [Entry(name: "a", type: "CallProbe"), lazy("l"), Entry(name: "k", type: "LazyProbe")],
            top: scheme, probe: probe
        ).launched()
        #expect(await test.open("t://touch/4") == "4")
        isBroken.store(false, ordering: .relaxed)
        // Not before its try is due.
        #expect(await test.open("t://touch/5") == "5")
        test.time.advance(by: .milliseconds(125))
        await test.settled()
        #expect(await test.open("t://touch/6") == "6")
        #expect(
            probe.entries.filter { $0.hasSuffix("touch") } == ["k touch", "k touch", "l touch"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a process that ended too often has failed, and its short URLs pass on")
    func givenUp() async throws {
        let test = try await IsolatedTest(
            "abort", "--after", "1", top: scheme, others: [Entry(name: "e", type: "PageProbe")],
            probe: probe
        ).launched()
        #expect(await test.host.open("t://echo/a") == #"{"text":"a"}"#)
        for _ in 0..<2 { try test.host.deliver(.message, #"{"topic": "news"}"#) }
        _ = await test.host.recorder.first { $0.message.hasPrefix("process failed") }
        try await expect("t://echo/a", #""a""#, test.host)
        #expect(
            await test.host.open("t://x.b/echo/a").contains("cannot be called now: it failed"))
        #expect(await test.host.stopped() == .stopped)
    }

    @Test("a guard that does not respond guards the routes to which a URL passes on, too")
    func guarded() async throws {
        let door = probe.close("guard memory-warning")
        probe.whenLazy("l init") { _ in throw TestError() }
        let test = try await HostUnderTest(
            [
                Entry(name: "a"), Entry(name: "l", type: "FailingActProbe"),
                Entry(name: "b", type: "CallProbe"), Entry(name: "g", type: "PatternGuard"),
            ], top: #""schemes": ["app"]"#, probe: probe
        ).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("guard memory-warning")
        test.overrun()
        #expect(
            await test.open("app://half/4")
                == "refused by x.g: it is unresponsive, and cannot be asked")
        door.open()
        await test.caughtUp()
        #expect(await test.stopped() == .stopped)
    }
}

/// A module with a route that another one has, too, and that fails.
final class FailingActProbe: RoutedModule {
    static var routes: [Route<FailingActProbe>] {
        [
            Route("half/:number", access: .public) {
                (module, request: CallProbe.Number, _) in request.number
            }
        ]
    }

    init(context: ModuleContext) throws { throw TestError() }
}
