import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("URLs that are opened instead of failed modules", .timeLimit(.minutes(10)))
struct InsteadTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("InsteadTests")

    /// Module `l`, which fails in `init`; and `w`, which shows every page of the web.
    private func entries(
        _ instead: String, _ more: String = "", type: String = "ShopProbe", others: [Entry] = []
    ) -> [Entry] {
        [
            Entry(name: "a", type: "CallProbe"),
            Entry(
                name: "l", more: #""instead": "\#(instead)""# + (more.isEmpty ? "" : ", " + more),
                type: type),
            Entry(name: "w", type: "WebProbe"),
        ] + others
    }

    private func host(
        _ entries: [Entry], top: String = "", isBroken: Bool = true
    ) async throws -> HostUnderTest {
        if isBroken { probe.whenLazy("l init") { _ in throw TestError() } }
        return try await HostUnderTest(
            entries, top: #""schemes": ["t"]"# + (top.isEmpty ? "" : ", " + top), probe: probe
        ).launched()
    }

    private func openness(
        _ url: String, _ test: HostUnderTest
    ) async throws -> CallDispatcher.Openness {
        try await withCheckedThrowingContinuation { continuation in
            test.host.openness(
                of: url, origin: .control(uid: 1000, pid: 42), token: nil
            ) { continuation.resume(with: $0) }
        }
    }

    @Test(
        "the parameters of a URL are carried over",
        arguments: [
            ("https://m/shop", "t://x.l/detail/7?x=1&x=2#f", "https://m/shop?id=7&x=1&x=2#f"),
            (
                "https://m/shop/:id.html?from=app", "t://x.l/detail/7?x=1",
                "https://m/shop/7.html?from=app&x=1"
            ),
            (
                "https://m/?d=:id&x=0#top", "t://x.l/detail/a%2Fb?x=1#f",
                "https://m/?d=a%2Fb&x=0#top"
            ),
            ("https://m/s/*", "t://X.L/detail/a%2Fb?y=%26", "https://m/s/detail/a%2Fb?y=%26"),
            ("https://m/*path", "t://x.l/files/a/b%20c", "https://m/a/b%20c"),
            ("https://m/*", "t://x.l", "https://m/"),
            // A short one that no other module answers counts as one of the module.
            ("https://m/*", "t://detail/7", "https://m/detail/7"),
        ])
    func url(_ instead: String, _ url: String, _ opened: String) async throws {
        let test = try await host(entries(instead))
        #expect(await test.open(url) == "\"\(opened)\"")
        let openness = try await openness(url, test)
        #expect(openness.isOpen)
        #expect(openness.instead?.module.text == "x.l" && openness.instead?.url == instead)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "scalar parameters of an action become query items",
        arguments: [
            ("https://m/shop", #"{"id": 7, "x": true}"#, "https://m/shop?id=7&x=true"),
            ("https://m/d/:id", #"{"id": "a b", "x": 1.5, "n": null}"#, "https://m/d/a%20b?x=1.5"),
            ("https://m/*", #"{"id": "7", "x": "&"}"#, "https://m/detail/7?x=%26"),
        ])
    func action(_ instead: String, _ parameters: String, _ opened: String) async throws {
        let test = try await host(entries(instead))
        let object = RouteParameters(try JSONValue(parsing: parameters))
        #expect(await test.call("x.l", "detail", object) == "\"\(opened)\"")
        let inside = try await test.asFirst { module in
            try module.context.mediator.perform("x.l", "detail", object, as: String.self)
        }
        #expect(inside == opened)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "what has no form in the URL is an error",
        arguments: [
            (
                "https://m/", #"{"id": 7, "items": [1]}"#,
                "parameter 'items' is an array or an object, which cannot be part of a URL"
            ),
            (
                "https://m/:id", #"{"id": {"n": 7}}"#,
                "parameter 'id' is an array or an object, which cannot be part of a URL"
            ),
            ("https://m/:other", #"{"id": 7}"#, "the call has no parameter 'other'"),
            ("https://m/*", "{}", "the path of the call is not known"),
            (
                "https://m/*", #"{"id": ["7"]}"#,
                "parameter 'id' is an array or an object, which cannot be part of a URL"
            ),
        ])
    func noForm(_ instead: String, _ parameters: String, _ reason: String) async throws {
        let test = try await host(entries(instead))
        let object = RouteParameters(try JSONValue(parsing: parameters))
        #expect(
            await test.call("x.l", "detail", object)
                == "x.l cannot be called now: it failed: init: broken; and not by its \"instead\" "
                + "'\(instead)': \(reason)")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that runs answers itself, and a short URL passes on first")
    func runs() async throws {
        let test = try await host(entries("https://m/*"), isBroken: false)
        #expect(await test.open("t://x.l/detail/7") == #""x.l detail""#)
        #expect(await test.call("x.l", "detail", ["id": "7"]) == #""x.l detail""#)
        #expect(try await openness("t://x.l/detail/7", test).instead == nil)
        #expect(await test.stopped() == .stopped)

        let other = try await host(
            entries("https://m/*", others: [Entry(name: "k", type: "ShopProbe")]))
        #expect(await other.open("t://detail/7") == #""x.k detail""#)
        #expect(await other.open("t://x.l/detail/7") == #""https://m/detail/7""#)
        #expect(await other.stopped() == .stopped)
    }

    @Test("the caller reaches no route that it may not, before or after")
    func access() async throws {
        let test = try await host(entries("t://x.a/act"))
        // `act` of a is for the app alone.
        #expect(await test.open("t://x.l/detail/7").hasPrefix("no route for 't://x.a/act"))
        #expect(try await !openness("t://x.l/detail/7", test).isOpen)
        // And so is `internal` of the failed module: there is nothing for which a URL is opened.
        #expect(await test.open("t://x.l/internal").hasPrefix("no route for 't://x.l/internal'"))
        #expect(await test.call("x.l", "internal").hasPrefix("no action 'internal'"))
        #expect(
            try await test.asFirst {
                "\(try $0.context.router.open("t://x.l/internal"))"
            } == "")
        #expect(probe.entries.filter { $0 == "a act" }.count == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one call takes one at most")
    func once() async throws {
        probe.whenLazy("k init") { _ in throw TestError() }
        let test = try await host(
            entries(
                "t://x.k/*",
                others: [
                    Entry(name: "k", more: #""instead": "https://m/k/*""#, type: "ShopProbe")
                ]))
        #expect(
            await test.open("t://x.l/detail/7")
                == "x.k cannot be called now: it failed: init: broken")
        #expect(await test.open("t://x.k/detail/7") == #""https://m/k/detail/7""#)
        #expect(await test.stopped() == .stopped)
    }

    @Test("interceptors and rewrites see the URL")
    func redirected() async throws {
        let test = try await host(
            entries("https://m/*", others: [Entry(name: "g", type: "GuardProbe")]),
            top: #""rewrites": [{"from": "https://m/*p", "to": "https://r/*p"}]"#)
        #expect(await test.open("t://x.l/detail/7") == #""https://r/detail/7""#)
        probe.whenJudged("g sees https://m/detail/7 of outside") { _ in .refuse("not today") }
        #expect(await test.open("t://x.l/detail/7") == "refused by x.g: not today")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a program that never ran has no routes, and its URLs go there, too")
    func program() async throws {
        func command(_ name: String, _ more: String = "") -> Entry {
            Entry(
                name: name, more: #""instead": "https://m/*""# + more,
                command: ["/nonexistent/program"])
        }
        let lazy = command("q", #", "launch": "lazy", "provides": ["page/:number"]"#)
        let test = try await HostUnderTest(
            [
                Entry(name: "a", type: "CallProbe"), command("p"), lazy,
                Entry(name: "w", type: "WebProbe"), Entry(name: "f", type: "CatchAllProbe"),
            ], top: #""schemes": ["t"], "fallback": "x.f""#, probe: probe
        ).launched()
        #expect(await test.open("t://x.p/some/page?x=1") == #""https://m/some/page?x=1""#)
        #expect(await test.open("t://x.q/page/7") == #""https://m/page/7""#)
        #expect(await test.open("t://x.q/other") == #""https://m/other""#)
        #expect(
            await test.call("x.p", "page").hasSuffix(
                "'https://m/*': the path of the call is not known"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("the log has a line for each change, and the status shows it")
    func shown() async throws {
        let isBroken = Atomic(true)
        probe.whenLazy("l init") { _ in
            if isBroken.load(ordering: .relaxed) { throw TestError() }
        }
        let test = try await host(
            entries("https://m/*", #""retry": true"#), isBroken: false)
        func lines() -> [String] {
            test.recorder.records.filter { $0.module == "x.l" && $0.message.hasPrefix("its URLs") }
                .map(\.message)
        }
        #expect(lines() == ["its URLs and calls go to 'https://m/*' until it runs again"])
        #expect(await test.statuses()[1].instead == "https://m/*")
        #expect(test.host.metrics.withLock { $0.instead.map(\.module.text) } == ["x.l"])
        isBroken.store(false, ordering: .relaxed)
        test.time.advance(by: .milliseconds(125))
        _ = await test.recorder.first { $0.message == "its URLs and calls come to it again" }
        #expect(lines().count == 2)
        #expect(await test.open("t://x.l/detail/7") == #""x.l detail""#)
        #expect(test.host.metrics.withLock { $0.instead.isEmpty })
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reload changes it for a module that has failed")
    func reloaded() async throws {
        let test = try await host(entries("https://m/*"))
        #expect(
            try await test.reload(entries("https://n/*"), top: #""schemes": ["t"]"#).text
                == "applied: adjusted x.l")
        #expect(await test.open("t://x.l/detail/7") == #""https://n/detail/7""#)
        #expect(await test.stopped() == .stopped)
    }
}

/// A module with pages that another place has, too.
final class ShopProbe: RoutedModule, ConfiguredModule {
    struct Configuration: Decodable { var probe: String }
    struct Detail: Decodable { var id: String }

    static var routes: [Route<ShopProbe>] {
        [
            Route("/", access: .public) { (module, _) in "\(module.context.id) root" },
            Route("detail/:id", action: "detail", access: .public) {
                (module, request: Detail, _) in "\(module.context.id) detail"
            },
            Route("files/*path", access: .public) { (module, _) in "\(module.context.id) files" },
            Route("internal") { (module, _) in "\(module.context.id) internal" },
        ]
    }

    private let context: ModuleContext

    init(context: ModuleContext) throws {
        self.context = context
        let name = String(context.id.text.split(separator: ".").last ?? "")
        try Probe.named(try context.config(Configuration.self).probe)?.actLazily(
            "\(name) init", nil)
    }
}

/// A module that opens every page of the web.
final class WebProbe: RoutedModule {
    static var routes: [Route<WebProbe>] {
        [Route("https://*", access: .public) { (_, call) in call.url?.text ?? "?" }]
    }

    init(context: ModuleContext) {}
}
