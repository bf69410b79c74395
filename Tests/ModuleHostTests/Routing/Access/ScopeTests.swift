import Testing

@testable import ModuleHostCore

@Suite("Scopes")
struct ScopeTests {
    private static let module = ModuleID(checked: "com.mm.Shop")

    private func entries(_ patterns: [String]) throws -> (RouteTable, [RouteTable.Entry]) {
        var table = try RouteTable(
            schemes: ["s", "t"], modules: [Self.module], fallback: Self.module)
        for pattern in patterns {
            try table.add(.plain(pattern, access: .authorized), of: Self.module)
        }
        return (table, table.routes)
    }

    /// The pattern that a caller with a scope reaches by a URL.
    private func reached(_ url: String, _ patterns: [String], scope: String) throws -> String? {
        let access = CallerAccess(origin: .push, grant: try .of(scope))
        let (table, _) = try entries(patterns)
        let match = try table.match(RouteURL(url)) { access.mayReach($0, $1) }
        return match?.entry.route.pattern.text
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var pattern: String
        var url: String
        var scope: String
        var isCovered: Bool
        var testDescription: String { "\(pattern) by \(url) under \(scope): \(isCovered)" }

        init(_ pattern: String, _ url: String, _ scope: String, _ isCovered: Bool) {
            (self.pattern, self.url, self.scope, self.isCovered) = (pattern, url, scope, isCovered)
        }
    }

    static let relativeRows = [
        Row("a/:id", "s://com.mm.shop/a/1", "s://com.mm.shop/*", true),
        Row("a/:id", "s://com.mm.shop/a/1", "s://com.mm.shop", false),
        Row("/", "s://com.mm.shop", "s://com.mm.shop", true),
        Row("a/:id", "s://com.mm.shop/a/1", "s://com.mm.shop/a/1", true),
        Row("a/:id", "s://com.mm.shop/a/2", "s://com.mm.shop/a/1", false),
        Row("a/:id", "s://com.mm.shop/a/1", "s://com.mm.shop/a/:x", true),
        Row("a/:id", "s://com.mm.shop/a/1", "s://com.mm.shop/b/*", false),
        Row("a/:id", "s://com.mm.shop/a/1", "s://com.mm.shops/*", false),
        Row("a/:id", "s://com.mm.shop/a/1", "s://*", true),
        Row("a/:id", "s://com.mm.shop/a/1", "s://", true),
        Row("a(/:id)", "s://com.mm.shop/a", "s://com.mm.shop/a(/:id)", true),
    ]

    @Test(
        "cover what the canonical URL of a relative route's call matches", arguments: relativeRows)
    func relative(row: Row) throws {
        #expect((try reached(row.url, [row.pattern], scope: row.scope) != nil) == row.isCovered)
    }

    static let speltRows = [
        // Without the module in the URL, with it in another case, and by the fallback.
        Row("a/:id", "s://a/1", "s://com.mm.shop/a/*", true),
        Row("a/:id", "S://COM.MM.SHOP/a/1", "s://com.mm.shop/a/*", true),
        Row("a/:id", "s://A/1", "s://com.mm.shop/a/*", true),
        Row("a/:id", "x://a/1", "s://com.mm.shop/a/*", true),
        Row("a/:id", "s://a/1", "s://a/*", false),
        Row("a/:id", "s://%61/%31", "s://com.mm.shop/a/1", true),
        // Any of the app's schemes stands for all of them.
        Row("a/:id", "s://a/1", "t://com.mm.shop/a/*", true),
        Row("a/:id", "s://a/1", "x://com.mm.shop/a/*", false),
        // A value keeps its case, and its place.
        Row(":name", "s://ANNA", "s://com.mm.shop/anna", false),
        Row(":name", "s://ANNA", "s://com.mm.shop/ANNA", true),
        Row("a/*rest", "s://a/b/c", "s://com.mm.shop/a/b/*", true),
        Row("a/:id", "s://a/x%2Fy", "s://com.mm.shop/a/x/y", false),
        Row("a/:id", "s://a/x%2Fy", "s://com.mm.shop/a/x%2Fy", true),
        Row(":name.html", "s://A.HTML", "s://com.mm.shop/A.html", true),
        // What is asked for does not count.
        Row("a/:id", "s://a/1?id=2", "s://com.mm.shop/a/1", true),
        Row("a/:id", "s://a/1?id=2", "s://com.mm.shop/a/2", false),
    ]

    @Test("see the route's own words, however the URL spells them", arguments: speltRows)
    func spelt(row: Row) throws {
        #expect((try reached(row.url, [row.pattern], scope: row.scope) != nil) == row.isCovered)
    }

    static let absoluteRows = [
        Row("s://detail/:id", "s://detail/1", "s://detail/*", true),
        Row("s://detail/:id", "s://DETAIL/1", "s://detail/1", true),
        Row("s://detail/:id", "s://detail/1", "t://detail/*", false),
        Row("s://detail/:id", "s://detail/1", "s://com.mm.shop/*", false),
        Row("https://:host/x", "https://Example.com/x", "https://example.com/*", true),
        Row("https://:host/x", "https://evil.com/x", "https://example.com/*", false),
        Row("https://*", "https://example.com/x?y=1", "https://example.com/:any", true),
    ]

    @Test("take the URL of an absolute route as it is, its scheme too", arguments: absoluteRows)
    func absolute(row: Row) throws {
        #expect((try reached(row.url, [row.pattern], scope: row.scope) != nil) == row.isCovered)
    }

    @Test("do not reach a route that differs in case by the URL of another")
    func caseIsNoDoor() throws {
        let patterns = ["user/:name", "USER/:name"]
        let lower = "s://com.mm.shop/user/*"
        let upper = "s://com.mm.shop/USER/*"
        for url in ["s://user/anna", "s://USER/anna", "s://User/anna"] {
            #expect(try reached(url, patterns, scope: lower) == "user/:name")
            #expect(try reached(url, patterns, scope: upper) == "USER/:name")
        }
    }

    @Test(
        "see the URL that a call's parameters make, and cover none that make none",
        arguments: [
            (["id": "1"], "s://com.mm.shop/a/1", true), (["id": "2"], "s://com.mm.shop/a/1", false),
            (["id": "1", "more": "x"], "s://com.mm.shop/a/1", true),
            (["id": "x/y"], "s://com.mm.shop/a/x/y", false),
            (["id": "x/y"], "s://com.mm.shop/a/:id", true), ([:], "s://*", false),
            (["id": ""], "s://*", false), (["id": ".."], "s://*", false),
            (["id": String(repeating: "x", count: 9000)], "s://*", false),
        ])
    func parameters(parameters: [String: String], scope: String, isCovered: Bool) throws {
        let (_, entries) = try entries(["a/:id"])
        let grant = try Grant.of(scope)
        #expect(grant.covers(entries[0], RouteParameters(parameters)) == isCovered)
    }

    @Test("see the URL of an absolute route that is called by its parameters")
    func absoluteParameters() throws {
        let (_, entries) = try entries(["x://d/:id"])
        #expect(try Grant.of("x://d/1").covers(entries[0], RouteParameters(["id": "1"])))
        #expect(try !Grant.of("x://d/1").covers(entries[0], RouteParameters(["id": "2"])))
    }

    static let wholeRows: [(pattern: String, scope: String, isCovered: Bool)] = [
        ("a/:id", "s://com.mm.shop/*", true), ("a/:id", "s://com.mm.shop/a/*", true),
        ("a/:id", "s://com.mm.shop/:any/:id", true), ("a/:id", "s://com.mm.shop/a/1", false),
        ("a/:id", "s://com.mm.shop/a", false), ("a/*", "s://com.mm.shop/a/:id", false),
        ("a/*", "s://com.mm.shop/a/*", true), (":n.html", "s://com.mm.shop/:x", true),
        (":n.html", "s://com.mm.shop/:x.html", true), (":n", "s://com.mm.shop/:x.html", false),
        (":n.a.html", "s://com.mm.shop/:x.html", true), ("p.html", "s://com.mm.shop/:x.html", true),
        ("p.txt.old", "s://com.mm.shop/:x.html", false),
        (".html", "s://com.mm.shop/:x.html", false),
        ("a(/b)", "s://com.mm.shop/a", false), ("a(/b)", "s://com.mm.shop/a(/b)", true),
        ("x://d/:id", "x://d/*", true), ("x://d/:id", "s://d/*", false),
        ("x://*", "x://d/*", false),
    ]

    @Test("cover a route as a whole where they cover every call of it", arguments: wholeRows)
    func whole(pattern: String, scope: String, isCovered: Bool) throws {
        let (_, entries) = try entries([pattern])
        #expect(try Grant.of(scope).coversAll(of: entries[0]) == isCovered)
    }
}
