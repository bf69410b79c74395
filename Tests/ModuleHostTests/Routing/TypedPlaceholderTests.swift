import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Dialect: placeholders with a type")
struct TypedPlaceholderTests {
    static let patterns = [
        "user/:name", "user/:id<int>", "user/:key<uuid>", "user/:day<date>", "user/me",
        "user/:page<int>.html", "user/:file.html", "user/*",
    ]

    static let uuid = "0f8fad5b-d9cb-469f-a165-70867728950E"

    static let answers: [(segment: String, pattern: String)] = [
        ("7", "user/:id<int>"), ("-7", "user/:id<int>"), ("007", "user/:id<int>"),
        ("9223372036854775807", "user/:id<int>"), ("-9223372036854775808", "user/:id<int>"),
        ("9223372036854775808", "user/:name"), ("+7", "user/:name"), ("7.0", "user/:name"),
        ("-", "user/:name"), ("%37", "user/:id<int>"), ("anna", "user/:name"), ("me", "user/me"),
        (uuid, "user/:key<uuid>"), (String(uuid.dropLast()), "user/:name"),
        (uuid.replacing("f", with: "g"), "user/:name"), ("2026-03-01", "user/:day<date>"),
        ("2026-03-01T09:41:00Z", "user/:day<date>"),
        ("2026-03-01T10:41:00.123456789%2B01:00", "user/:day<date>"),
        ("2026-02-29", "user/:name"), ("1026-03-01", "user/:name"), ("20260301", "user/:id<int>"),
        ("7.html", "user/:page<int>.html"), ("x.html", "user/:file.html"), ("7/8", "user/*"),
    ]

    @Test(
        "a type beats a placeholder without one, whatever the order of adding", arguments: answers)
    func answer(segment: String, pattern: String) throws {
        for patterns in [Self.patterns, Self.patterns.reversed()] {
            let table = try RouteTable(schemes: ["s"], patterns.map { ("m", $0) })
            #expect(table.answer("s:/user/\(segment)") == "m \(pattern)")
        }
    }

    @Test("the search goes on behind a type as behind any other part")
    func backtracking() throws {
        let table = try RouteTable("a/:n<int>/x", "a/:n/y", ":n<int>")
        #expect(table.answer("s://a/7/x") == "m a/:n<int>/x")
        #expect(table.answer("s://a/7/y") == "m a/:n/y")
        #expect(table.answer("s://a/b/x") == "notFound")
        #expect(table.answer("s://7") == "m :n<int>")
        #expect(try table.parameters("s://a/7/x?n=8") == ["n": ["7"]])
    }

    @Sendable private static func isAny(_: NoParameters) -> Bool { true }

    @Test("equal patterns are an error, whatever their names and predicates")
    func conflict() throws {
        var table = try RouteTable(Self.patterns[0], Self.patterns[1])
        let module = ModuleID(checked: "m")
        func add(_ pattern: String) throws {
            let route = Route<IdleModule>(pattern, when: Self.isAny) { (_, _: NoParameters, _) in }
            try table.add(AnyRoute(route), of: module)
        }
        for (pattern, other) in [("user/:n<int>", "user/:id<int>"), ("user/:id", "user/:name")] {
            #expect(
                throws: RouteError.conflict(pattern, of: module, with: other, ofModule: module)
            ) { try add(pattern) }
        }
        try add("user/:n<uuid>")
    }

    static let errors: [(String, String)] = [
        (":id<integer>", "'integer' at byte 4 is not a type; the types are int, uuid, date"),
        ("a/:id<itn>", "'itn' at byte 6 is not a type; did you mean 'int'?"),
        (":id<>", "'' at byte 4 is not a type; the types are int, uuid, date"),
        (":id<int", "the '<' at byte 3 has no '>'"),
        (
            ":id<int>x",
            "byte 8 is 'x', but a name is made of letters, digits, '_' and '-'; "
                + "what follows it in its segment is a type such as <int>, or begins with '.'"
        ),
        ("a<int>", "byte 1 is '<'; write it as %3C"),
    ]

    @Test("a malformed type is an error with its place", arguments: errors)
    func error(pattern: String, message: String) {
        do {
            _ = try RoutePattern(pattern)
            Issue.record("\(pattern) was read")
        } catch {
            #expect(error.description == "pattern \(quoted(pattern)): \(message)")
        }
    }

    @Test("a URL is built of values that read as the type, and of no others")
    func build() throws {
        let pattern = try RoutePattern("s://user/:id<int>.html")
        #expect(try pattern.url(RouteParameters(["id": "7"])) == "s://user/7.html")
        do {
            _ = try pattern.url(RouteParameters(["id": "x"]))
            Issue.record("built")
        } catch {
            #expect(
                error.description == "no URL of pattern 's://user/:id<int>.html': parameter 'id': "
                    + "expected a whole number of 64 bits, found 'x'")
        }
    }

    @Test("matching one pattern agrees with a table")
    func matching() throws {
        for (segment, _) in Self.answers {
            let url = try RouteURL("s:/user/\(segment)")
            for text in Self.patterns {
                let table = try RouteTable(text)
                let pattern = try RoutePattern(text)
                #expect((pattern.parameters(of: url) != nil) == (try table.match(url) != nil))
            }
        }
    }

    @Test("a rewrite and a scope have types, too")
    func rewriteAndScope() throws {
        let table = try RouteTable(
            [("m", "item/:id"), ("m", "old/:id")],
            rewrites: [(from: "s://old/:id<int>", to: "s://item/:id")])
        #expect(table.answer("s://old/7") == "m item/:id")
        #expect(table.answer("s://old/x") == "m old/:id")
    }

    @Test("the URI document has a URL that reads as the type")
    func example() throws {
        var table = try RouteTable(schemes: ["s"], modules: [ModuleID(checked: "m")])
        for (pattern, url) in [
            ("a/:id<int>", "s://m/a/1"), ("b/:day<date>", "s://m/b/2026-03-01"),
            ("c/:key<uuid>", "s://m/c/0f8fad5b-d9cb-469f-a165-70867728950e"),
        ] {
            let index = try table.add(.plain(pattern), of: ModuleID(checked: "m"))
            let entry = try #require(table[index])
            #expect(table.exampleURL(of: entry, entry.route.request) == url)
        }
    }
}
