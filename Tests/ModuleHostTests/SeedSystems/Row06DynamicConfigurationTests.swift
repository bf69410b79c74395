import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// A native page.
final class DetailPage: RoutedModule {
    struct Item: Decodable { var id: String }

    static var routes: [Route<DetailPage>] {
        [
            Route("detail/:id", access: .public) { (module, request: Item, call) in
                "native \(request.id)"
            },
            Route("admin/:id") { (module, request: Item, call) in "admin \(request.id)" },
        ]
    }

    init(context: ModuleContext) {}
}

/// Shows what it is given, as a browser would.
final class WebPage: RoutedModule {
    static var routes: [Route<WebPage>] {
        [
            Route("https://*", access: .public) { (module, call) in
                "web \(call.url?.text ?? "")"
            }
        ]
    }

    init(context: ModuleContext) {}
}

/// Shows what nothing else does.
final class LastPage: RoutedModule {
    static var routes: [Route<LastPage>] {
        [Route("*", access: .public) { (module, call) in "last \(call.url?.text ?? "")" }]
    }

    init(context: ModuleContext) {}
}

/// A home screen whose entries, with where they lead, come from the configuration.
final class HomePage: ConfiguredModule, RoutedModule, ConfigurationResponder {
    struct Configuration: Decodable {
        struct Entry: Decodable {
            var title: String
            var routerURL: String
        }

        var probe: String
        var entries: [Entry]
    }

    struct Tap: Decodable { var title: String }

    static var routes: [Route<HomePage>] {
        [
            Route("tap/:title", access: .public) { (module, request: Tap, call) -> String in
                guard let entry = module.entries.first(where: { $0.title == request.title }) else {
                    throw TestError(description: "no entry '\(request.title)'")
                }
                return try module.context.router.value(for: entry.routerURL)
            }
        ]
    }

    private let context: ModuleContext
    private var entries: [Configuration.Entry]

    init(context: ModuleContext) throws {
        self.context = context
        entries = try context.config(Configuration.self).entries
    }

    func configurationDidChange(_ change: ConfigurationChange) throws {
        entries = try context.config(Configuration.self).entries
        context.probe?.note("changed")
    }
}

/// Row 6 of the seed systems: where URLs lead is configuration.
@Suite("Row 6: routes by configuration", .timeLimit(.minutes(10)))
struct Row06DynamicConfigurationTests {
    private static let toWeb =
        #""rewrites": [{"from": "app://detail/:id", "to": "https://m.example/detail?id=:id"}]"#

    private func top(_ more: String...) -> String {
        ([#""schemes": ["app"]"#] + more).joined(separator: ", ")
    }

    private func app(
        _ top: String, entries: String = "", with more: [HostUnderTest.Entry] = [],
        _ test: String = #function
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            [
                .init(name: "a", type: "CallProbe"), .init(name: "detail", type: "DetailPage"),
                .init(name: "web", type: "WebPage"),
                .init(name: "home", config: #""entries": [\#(entries)]"#, type: "HomePage"),
            ] + more, top: top, probe: Probe(test)
        ).launched()
    }

    @Test("a broken native page is swapped for its web page by configuration alone")
    func swapped() async throws {
        let native = try await app(top())
        #expect(await native.open("app://detail/7") == #""native 7""#)
        #expect(await native.stopped() == .stopped)
        let web = try await app(top(Self.toWeb))
        #expect(await web.open("app://detail/7") == #""web https://m.example/detail?id=7""#)
        #expect(
            try await web.asFirst { try $0.context.router.value(for: "app://detail/7") }
                == "web https://m.example/detail?id=7")
        #expect(await web.stopped() == .stopped)
    }

    @Test("what is swapped in gets the parameters, and a value stays a value")
    func parameters() async throws {
        let host = try await app(top(Self.toWeb))
        #expect(
            await host.open("app://detail/a%26b%3Dc%23d?from=home&id=evil")
                == #""web https://m.example/detail?id=a%26b%3Dc%23d&from=home""#)
        #expect(await host.stopped() == .stopped)
    }

    @Test("a rewrite opens no door: what a caller may not reach stays out of reach")
    func access() async throws {
        let host = try await app(
            top(#""rewrites": [{"from": "app://detail/:id", "to": "app://admin/:id"}]"#))
        let text = await host.open("app://detail/7")
        #expect(text.hasPrefix("no route for '"), "\(text)")
        #expect(
            try await host.asFirst { try $0.context.router.value(for: "app://detail/7") }
                == "admin 7")
        #expect(await host.stopped() == .stopped)
    }

    @Test("what nothing answers goes to the fallback that the slatefile names, of any scheme")
    func fallback() async throws {
        let without = try await app(top())
        #expect(await without.open("other://x") == "no route for 'other://x'")
        #expect(await without.stopped() == .stopped)
        let with = try await app(
            top(#""fallback": "x.last""#), with: [.init(name: "last", type: "LastPage")])
        #expect(await with.open("other://x") == #""last other://x""#)
        #expect(await with.open("app://x.detail/none") == #""last app://x.detail/none""#)
        #expect(await with.open("app://detail/7") == #""native 7""#)
        #expect(await with.stopped() == .stopped)
    }

    @Test("entries of a screen carry the URL that they lead to")
    func routerURL() async throws {
        let host = try await app(
            top(Self.toWeb),
            entries: """
                {"title": "offers", "routerURL": "app://detail/9"},
                {"title": "gone", "routerURL": "app://gone"}
                """)
        #expect(
            await host.open("app://tap/offers") == #""web https://m.example/detail?id=9""#)
        #expect(await host.open("app://tap/none") == "x.home: no entry 'none'")
        let gone = await host.open("app://tap/gone")
        #expect(gone.hasPrefix("x.home: no route for 'app://gone'"), "\(gone)")
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "a table that makes no sense is refused whole, before anything runs",
        arguments: [
            (
                "unbound",
                #""rewrites": [{"from": "app://detail/:id", "to": "https://m.example/:ib"}]"#,
                "'from' does not always bind ':ib'; did you mean ':id'?"
            ),
            (
                "relative",
                #""rewrites": [{"from": "detail/:id", "to": "https://m.example/:id"}]"#,
                "'detail/:id' must begin with a scheme"
            ),
            ("fallback", #""fallback": "x.wep""#, "did you mean 'x.web'?"),
        ])
    func invalid(name: String, member: String, message: String) throws {
        let error = #expect(throws: SlatefileError.self) {
            try HostUnderTest(
                [.init(name: "a"), .init(name: "web", type: "WebPage")], top: top(member),
                probe: Probe("invalid \(name)"))
        }
        #expect(error.map { "\($0)" }?.contains(message) == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("rewrites that lead in a circle are an error of the slatefile, which prints the circle")
    func circle() throws {
        try invalid(
            name: "circle",
            member: """
                "rewrites": [{"from": "app://detail/:id", "to": "app://old/:id"}, \
                {"from": "app://old/:id", "to": "app://detail/:id"}]
                """,
            message: "the rewrites never end: app://old/x → app://detail/x → app://old/x")
    }

    // MARK: While the app runs

    /// Reads the slatefile again as `text`, as `hostd reload` does, and waits for the outcome.
    private func reload(_ host: HostUnderTest, as text: String) async throws -> ReloadReport {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "slatefile.json")
        let reloader = SlatefileReloader(
            host.host, options: HostDaemonOptions(slatefile: folder.path("slatefile.json")),
            log: host.recorder.log)
        return await withCheckedContinuation { continuation in
            reloader.reload(.asked(.host)) { continuation.resume(returning: $0) }
        }
    }

    private func slatefile(_ probe: Probe, _ top: String, entries: String) -> String {
        """
        {"slate": 1, "app": "test", \(top), "modules": [
        {"id": "x.a", "entry": "ModuleHostTests.CallProbe", "main": true,
         "config": {"probe": "\(probe.name)"}},
        {"id": "x.detail", "entry": "ModuleHostTests.DetailPage",
         "config": {"probe": "\(probe.name)"}},
        {"id": "x.web", "entry": "ModuleHostTests.WebPage", "config": {"probe": "\(probe.name)"}},
        {"id": "x.home", "entry": "ModuleHostTests.HomePage",
         "config": {"probe": "\(probe.name)", "entries": [\(entries)]}}]}
        """
    }

    @Test("where the entries lead changes while the app runs")
    func reloaded() async throws {
        let host = try await app(
            top(), entries: #"{"title": "offers", "routerURL": "app://detail/9"}"#)
        #expect(await host.open("app://tap/offers") == #""native 9""#)
        let report = try await reload(
            host,
            as: slatefile(
                host.probe, top(),
                entries: #"{"title": "offers", "routerURL": "https://m.example/9"}"#))
        #expect(report.summary == "config changed: x.home")
        #expect(host.probe.entries("changed") == ["changed"])
        #expect(await host.open("app://tap/offers") == #""web https://m.example/9""#)
        #expect(await host.stopped() == .stopped)
    }

    @Test("changed rewrites hold at once, and those that are gone no longer")
    func reloadedRewrites() async throws {
        let host = try await app(top())
        let with = try await reload(
            host, as: slatefile(host.probe, top(Self.toWeb), entries: ""))
        #expect(with.summary == "rewrites")
        #expect(await host.open("app://detail/7") == #""web https://m.example/detail?id=7""#)
        let without = try await reload(host, as: slatefile(host.probe, top(), entries: ""))
        #expect(without.summary == "rewrites")
        #expect(await host.open("app://detail/7") == #""native 7""#)
        #expect(await host.stopped() == .stopped)
    }

    @Test("a slatefile that is invalid changes nothing, and is named in the log")
    func reloadedInvalid() async throws {
        let entry = #"{"title": "offers", "routerURL": "app://detail/9"}"#
        let host = try await app(top(), entries: entry)
        let report = try await reload(
            host,
            as: slatefile(
                host.probe, top(), entries: #"{"title": "offers", "routerUrl": "app://x"}"#))
        #expect(report.exitCode == .invalidSlatefile)
        let log = host.recorder.messages
        #expect(
            log.contains {
                $0.hasPrefix("reload refused, the current slatefile stays in effect (host):")
            },
            "\(log)")
        #expect(await host.open("app://tap/offers") == #""native 9""#)
        #expect(await host.stopped() == .stopped)
    }
}
