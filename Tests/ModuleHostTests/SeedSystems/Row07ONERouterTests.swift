import TestSupport
import Testing

@testable import ModuleHostCore

/// A page, as its class alone says.
final class ProfilePage: RoutedModule {
    struct User: Decodable { var name: String }

    static var routes: [Route<ProfilePage>] {
        [
            Route("profile/:name", access: .public) { (module, request: User, call) in
                "\(module.id): profile of \(request.name)"
            }
        ]
    }

    private let id: ModuleID

    init(context: ModuleContext) {
        id = context.id
        context.probe?.note("\(id) made")
    }
}

/// Another class that answers the same URLs.
final class NewProfilePage: RoutedModule {
    static var routes: [Route<NewProfilePage>] {
        [
            Route("profile/:name", access: .public) { (module, request: ProfilePage.User, call) in
                "new profile of \(request.name)"
            }
        ]
    }

    init(context: ModuleContext) {}
}

/// Row 7 of the seed systems: a URL finds the class that answers it.
@Suite("Row 7: URLs to classes", .timeLimit(.minutes(10)))
struct Row07ONERouterTests {
    private func app(
        _ pages: [HostUnderTest.Entry], _ test: String = #function
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            [.init(name: "a", type: "CallProbe")] + pages, top: #""schemes": ["app"]"#,
            probe: Probe(test)
        ).launched()
    }

    /// What a slatefile with this entry says of its routes, or what is wrong with it.
    private func routes(of entry: String) -> String {
        let text = """
            {"slate": 1, "app": "test", "schemes": ["app"], "modules": [
            {"id": "x.a", "entry": "ModuleHostTests.ProbeModule", "main": true,
            "config": {"probe": ""}},
            {"id": "x.profile", "entry": "\(entry)"}]}
            """
        do {
            let slatefile = try Slatefile.read(
                Array(text.utf8), path: "slatefile.json", environment: { _ in nil },
                checkEntry: EntryUse.checkAgainstBinary())
            let table = try RouteTable(of: slatefile)
            return table.routes.map { "\($0.module) \($0.route.pattern)" }.joined(separator: ", ")
        } catch {
            return "\(error)"
        }
    }

    @Test("a URL finds the class that the slatefile names, in its long form and in its short one")
    func find() async throws {
        let host = try await app([.init(name: "profile", type: "ProfilePage")])
        let answer = #""x.profile: profile of mia""#
        #expect(await host.open("app://x.profile/profile/mia") == answer)
        #expect(await host.open("app://profile/mia") == answer)
        #expect(await host.stopped() == .stopped)
    }

    @Test("the class is made by its name when the app runs, once for each module that names it")
    func made() async throws {
        let host = try await app([
            .init(name: "one", type: "ProfilePage"), .init(name: "two", type: "ProfilePage"),
        ])
        #expect(await host.open("app://x.two/profile/mia") == #""x.two: profile of mia""#)
        #expect(await host.open("app://x.one/profile/mia") == #""x.one: profile of mia""#)
        #expect(await host.open("app://profile/mia") == #""x.one: profile of mia""#)
        #expect(host.probe.entries == ["x.one made", "x.two made"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("nothing is registered: what the slatefile does not name answers nothing")
    func notNamed() async throws {
        let host = try await app([])
        #expect(await host.open("app://profile/mia") == "no route for 'app://profile/mia'")
        #expect(host.probe.entries.isEmpty)
        #expect(await host.stopped() == .stopped)
    }

    @Test("what the slatefile names but does not enable answers nothing, and is not made")
    func notEnabled() async throws {
        let host = try await app([
            .init(name: "profile", more: #""enabled": false"#, type: "ProfilePage")
        ])
        #expect(await host.open("app://profile/mia") == "no route for 'app://profile/mia'")
        #expect(host.probe.entries.isEmpty)
        #expect(await host.stopped() == .stopped)
    }

    @Test("another name in the slatefile is another class behind the same URL")
    func exchanged() async throws {
        let host = try await app([.init(name: "profile", type: "NewProfilePage")])
        #expect(await host.open("app://profile/mia") == #""new profile of mia""#)
        #expect(await host.stopped() == .stopped)
    }

    @Test("what URLs a class answers is known without making it: no code runs at load")
    func known() {
        #expect(routes(of: "ModuleHostTests.ProfilePage") == "x.profile profile/:name")
    }

    @Test("a name that leads to no class is an error before anything runs, and offers the nearest")
    func misspelt() {
        let text = routes(of: "ModuleHostTests.ProfilPage")
        #expect(
            text.contains(
                "no class 'ModuleHostTests.ProfilPage' in this binary; did you mean "
                    + "'ModuleHostTests.ProfilePage'?"), "\(text)")
    }
}
