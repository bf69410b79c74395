import TestSupport
import Testing

@testable import ModuleHostCore

// The page that fixes the dialect, sentence by sentence: what it says is the name of a test. Errors in
// all their words are in `URLReaderTests` and `RoutePatternTests`, hostile URLs in `HostileURLTests`.

@Suite("Dialect: reading a URL")
struct DialectURLTests {
    @Test(
        "parsed from bytes: nothing is rewritten",
        arguments: [
            "mgj://:id", "s://a?q=100%25", "s://é/城", "s://a//b/", "s://a?", "s://a?&&", "s://a#",
            "S://A?+",
        ])
    func untouched(url: String) throws {
        #expect(try RouteURL(url).text.utf8.elementsEqual(url.utf8))
    }

    @Test("a malformed URL is an error that says what and at which byte")
    func malformed() {
        #expect(throws: RouteURLError(.escape, at: 10)) { try RouteURL("s://a?q=10%") }
        #expect(throws: RouteURLError(.character(" "), at: 7)) { try RouteURL("s://城 ") }
    }

    @Test("the scheme is required, ASCII, compared without case")
    func scheme() throws {
        #expect(throws: RouteURLError(.noScheme, at: 0)) { try RouteURL("//a") }
        #expect(throws: RouteURLError(.noScheme, at: 1)) { try RouteURL("sé://a") }
        #expect(try RouteURL("Sl+a-t.e2:").scheme == "sl+a-t.e2")
        let table = try RouteTable("a", "web://b")
        #expect(table.answer("S://a") == "m a")
        #expect(table.answer("wEb://b") == "m web://b")
    }

    @Test("the authority is compared without case and is the first segment")
    func authority() throws {
        let table = try RouteTable("Ab/c")
        for url in ["s://aB/c", "s://AB/c", "s:/Ab/c", "s:///Ab/c"] {
            #expect(table.answer(url) == "m Ab/c", "\(url)")
        }
        for url in ["s:/ab/c", "s://ab/C", "s://É/c"] {
            #expect(table.answer(url) == "notFound", "\(url)")
        }
        // A to Z only: what else has two cases compares as it is.
        #expect(try RouteTable("é").answer("s://É") == "notFound")
    }

    @Test("host:port is one segment; user:password@ is refused")
    func port() throws {
        #expect(try RouteURL("s://h:80/a").segments == ["h:80", "a"])
        #expect(throws: RouteURLError(.userInfo, at: 7)) { try RouteURL("s://u:p@h") }
    }

    @Test(
        "the path is split first, each segment is decoded once afterwards: %2F never splits",
        arguments: [
            ("s://a/b%2Fc", ["a", "b/c"]), ("s://a/%252F", ["a", "%2F"]), ("s://a%2Fb", ["a/b"]),
            ("s://a/%3Fx%23y", ["a", "?x#y"]), ("s://a/%25%34%31", ["a", "%41"]),
        ])
    func split(url: String, segments: [String]) throws {
        #expect(try RouteURL(url).segments == segments)
    }

    @Test("decoded text must be valid UTF-8")
    func validity() throws {
        #expect(throws: RouteURLError(.invalidUTF8, at: 6)) { try RouteURL("s://a/%C3") }
        #expect(throws: RouteURLError(.invalidUTF8, at: 6)) { try RouteURL("s://a?%C3=1") }
        #expect(try RouteURL("s://a/%C3%A9").segments == ["a", "é"])
    }

    @Test("raw UTF-8 equals its percent-encoded form")
    func rawText() throws {
        let table = try RouteTable("家/:名")
        for url in ["s://家/x", "s://%E5%AE%B6/x", "s:/%e5%ae%b6/x"] {
            #expect(try table.parameters(url) == ["名": ["x"]])
        }
    }

    @Test("segments compare with case")
    func segmentCase() throws {
        let table = try RouteTable("a/Bc")
        #expect(table.answer("s://a/Bc") == "m a/Bc")
        #expect(table.answer("s://a/bc") == "notFound")
    }

    @Test("empty segments are dropped")
    func emptySegments() throws {
        #expect(try RouteURL("s://a//b///").segments == ["a", "b"])
        #expect(try RouteTable("a/b").answer("s://a//b//") == "m a/b")
    }

    @Test("a segment that decodes to . or .. is refused")
    func dots() {
        #expect(throws: RouteURLError(.dotSegment("."), at: 6)) { try RouteURL("s://a/%2E/b") }
        #expect(throws: RouteURLError(.dotSegment(".."), at: 4)) { try RouteURL("s://%2e.") }
    }

    @Test("the query is split on &, then at the first =; decoded once; + stays; a flag is empty")
    func query() throws {
        let url = try RouteURL("s://a?a%26b%3D=%2526&k=v=w&+=+&flag&=x&e=")
        #expect(url.query.map(\.name) == ["a&b=", "k", "+", "flag", "", "e"])
        #expect(url.query.map(\.value) == ["%26", "v=w", "+", "", "x", ""])
    }

    @Test("/, ? and : are ordinary in the query")
    func ordinary() throws {
        let url = try RouteURL("s://a?next=web://b:80/c?d=e&f")
        #expect(url.query.map(\.value) == ["web://b:80/c?d=e", ""])
    }

    @Test("the fragment is kept apart and never matched")
    func fragment() throws {
        #expect(try RouteTable("a").answer("s://a#b/c?d=e") == "m a")
        #expect(try RouteURL("s://a#b/c?d%20").fragment == "b/c?d%20")
        #expect(try RouteTable("a").parameters("s://a#?x=1") == [:])
    }
}

@Suite("Dialect: patterns")
struct DialectPatternTests {
    typealias Row = (pattern: String, url: String, parameters: [String: [String]]?)

    static let parts: [Row] = [
        ("a/w%6Frd", "s://a/word", [:]), ("a/word", "s://a/words", nil),
        ("a/:name", "s://a/x%2Fy", ["name": ["x/y"]]), ("a/:name", "s://a", nil),
        ("a/:name", "s://a/x/y", nil), ("a/:name.html", "s://a/x.html", ["name": ["x"]]),
        ("a/:name.html", "s://a/x%2Ehtml", ["name": ["x"]]), ("a/:name.html", "s://a/.html", nil),
        ("a/:name.html", "s://a/x.HTML", nil), (":name.html", "s://X.HTML", ["name": ["X"]]),
        ("a/*", "s://a", ["*": []]), ("a/*", "s://a/b/c%20d", ["*": ["b", "c d"]]),
        ("a/*name", "s://a/b/c", ["name": ["b", "c"]]), ("*", "s:", ["*": []]),
        ("a(/:b)(/c)", "s://a", [:]), ("a(/:b)(/c)", "s://a/x/c", ["b": ["x"]]),
        ("a(/:b)(/c)", "s://a/c", [:]), ("a(/:b(/:c))", "s://a/1/2", ["b": ["1"], "c": ["2"]]),
    ]

    @Test("word, :name, :name.html, *, (…)", arguments: parts)
    func part(row: Row) throws {
        #expect(try RouteTable(row.pattern).parameters(row.url) == row.parameters)
    }

    @Test("groups are expanded, longest first; 8 at most")
    func groups() throws {
        let eight = try RoutePattern("a" + (0..<8).map { "(/:g\($0))" }.joined())
        #expect(eight.variants.first?.segments.count == 9)
        #expect((try? RoutePattern(eight.text + "(/x)")) == nil)
    }

    @Test("a relative pattern belongs to its module, an absolute one starts with scheme://")
    func kinds() throws {
        let table = try RouteTable([("com.mm.a", "x"), ("com.mm.b", "t://x")])
        #expect(table.answer("s://com.mm.a/x") == "com.mm.a x")
        #expect(table.answer("s://com.mm.b/x") == "notFound")
        #expect(table.answer("t://x") == "com.mm.b t://x")
        #expect(table.answer("t://com.mm.a/x") == "notFound")
    }

    @Test("mgj:// alone means mgj://*")
    func schemeAlone() throws {
        let table = try RouteTable("mgj://")
        #expect(try table.parameters("mgj:") == ["*": []])
        #expect(try table.parameters("mgj://a/b") == ["*": ["a", "b"]])
        #expect(table.answer("s://a") == "notFound")
    }
}

@Suite("Dialect: which route answers")
struct DialectAnswerTests {
    @Test("1: rewrites are applied first, even to what a route would answer")
    func rewrites() throws {
        let table = try RouteTable(
            [("m", "a"), ("m", "b")], rewrites: [("s://a", "s://b"), ("s://m/a", "s://b")])
        #expect(table.answer("s://a") == "m b")
        #expect(table.answer("s://m/a") == "m b")
    }

    static let steps: [(routes: [(module: String, pattern: String)], expected: String)] = [
        ([("b", "s://a/x")], "b s://a/x"),
        ([("b", "s://a/*")], "b s://a/*"),
        ([("a", "x")], "a x"),
        ([("a", "*")], "a *"),
        ([("web", "*")], "web *"),
        // What stands in another module, or in this one as a whole, is not reached by its name.
        ([("b", "x"), ("b", "a/x"), ("a", "a/x")], "notFound"),
    ]

    @Test("2, 3, 5, 6: absolute patterns, the named module, the fallback, or nothing")
    func order() throws {
        // Each step answers when those before it have nothing.
        for index in Self.steps.indices {
            var table = try RouteTable(
                schemes: ["s"], modules: ["web", "b", "a"].map { ModuleID(checked: $0) },
                fallback: ModuleID(checked: "web"))
            for (module, pattern) in Self.steps[index...].reversed().flatMap(\.routes) {
                try table.add(.plain(pattern), of: ModuleID(checked: module))
            }
            #expect(table.answer("s://a/x") == Self.steps[index].expected)
        }
    }

    @Test("4: anything else goes to every module in slatefile order, specific or not")
    func modules() throws {
        let table = try RouteTable([("a", ":x"), ("b", "word"), ("b", "only")])
        #expect(table.answer("s://word") == "a :x")
        #expect(table.answer("s://only") == "a :x")
        var later = try RouteTable([("a", "other"), ("b", "word")])
        #expect(later.answer("s://word") == "b word")
        try later.add(.plain("*"), of: ModuleID(checked: "a"))
        #expect(later.answer("s://word") == "a *")
    }

    @Test("5: the fallback answers for any scheme")
    func fallback() throws {
        let table = try RouteTable([("a", "x"), ("web", "page/:n")], fallback: "web")
        #expect(table.answer("nope://page/2") == "web page/:n")
        #expect(table.answer("s://a/page/2") == "notFound")
        #expect(table.answer("nope://x") == "notFound")
    }

    static let rivals: [(url: String, winner: String, loser: String)] = [
        ("s://a/b", "a/b", "a/:x"), ("s://a/b.h", "a/:x.h", "a/:x"), ("s://a/b", "a/:x", "a/*"),
        ("s://a/b.h", "a/b.h", "a/:x.h"), ("s://a/b.g.h", "a/:x.g.h", "a/:x.h"),
        ("s://a/b/c", "a/:x/:y", ":x/b/c"), ("s://a", "a", "a/*"), ("s://a/b", "a/b", "a/b/*"),
        ("s://a/b/c", "a/b/*", "a/:x/c"), ("s://a/b.h/c", "a/:x.h/:y", "a/:x/c"),
    ]

    @Test("the more specific wins, segment by segment from the left", arguments: rivals)
    func specificity(url: String, winner: String, loser: String) throws {
        // Whatever the order of registration.
        #expect(try RouteTable(winner, loser).answer(url) == "m \(winner)")
        #expect(try RouteTable(loser, winner).answer(url) == "m \(winner)")
        #expect(try RouteTable(loser).answer(url) == "m \(loser)")
    }

    @Test("with backtracking")
    func backtracking() throws {
        let table = try RouteTable("a/b/c", "a/:x/d", "a/:x.b/e", "*r")
        for (url, pattern) in [
            ("s://a/b/c", "a/b/c"), ("s://a/b/d", "a/:x/d"), ("s://a/b.b/d", "a/:x/d"),
            ("s://a/b/e", "*r"), ("s://a/b.b/e", "a/:x.b/e"),
        ] {
            #expect(table.answer(url) == "m \(pattern)")
        }
    }
}

@Suite("Dialect: parameters")
struct DialectParameterTests {
    @Test("placeholders beat query items of the same name, however it is spelled")
    func precedence() throws {
        let table = try RouteTable("user/view/:userID", "files/*rest")
        #expect(try table.parameters("s://user/view/7?userID=evil") == ["userID": ["7"]])
        #expect(
            try table.parameters("s://user/view/7?user%49D=evil&x=1") == [
                "userID": ["7"], "x": ["1"],
            ])
        #expect(try table.parameters("s://files?rest=evil") == ["rest": []])
    }

    @Test("every value of a repeated query name is kept, in order")
    func repeated() throws {
        #expect(
            try RouteTable("a").parameters("s://a?t=3&u=&t=1&%74=2")
                == ["t": ["3", "1", "2"], "u": [""]])
    }

    @Test("names and values are found wherever they stand among many")
    func many() throws {
        // More than a URL keeps without allocating, and some of it decoded.
        let segments = (0..<30).map { "s\($0)%20" }.joined(separator: "/")
        let items = (0..<100).map { "n\($0)=%76\($0)" }.joined(separator: "&")
        let match = try RouteTable("a/*r").match(RouteURL("s://a/\(segments)?\(items)"))
        #expect(match?.parameters.values(of: "r") == (0..<30).map { "s\($0) " })
        for number in 0..<100 { #expect(match?.parameters["n\(number)"] == "v\(number)") }
        #expect(match?.parameters["n100"] == nil)
        #expect(match?.parameters.names.count == 101)
    }
}
