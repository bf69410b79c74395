import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("RoutePattern")
struct RoutePatternTests {
    static let errors: [(String, String)] = [
        ("", "it is empty; the root of a module is '/'"),
        ("1a://b", "'1a' is not a scheme; letters, digits, '+', '-' and '.' make one"),
        ("mgj:/a", "'mgj:/' belongs to no module and to no scheme; write mgj:///"),
        ("app://user@host", "byte 10 is an '@': a name or password before the host is not allowed"),
        ("a b", "byte 1 is a space; write it as %20"),
        ("a%4", "byte 1 is a '%' without two hexadecimal digits; for the sign itself write %25"),
        ("a/%FF", "byte 2 is escaped, but no UTF-8"),
        ("a/../b", "no URL has the segment '..' at byte 2"),
        ("a/%2E", "no URL has the segment '.' at byte 2"),
        ("a/:", "the ':' at byte 2 has no name after it; for the sign itself write %3A"),
        ("a/:.html", "the ':' at byte 2 has no name after it; for the sign itself write %3A"),
        (":id/:id", "the name 'id' at byte 4 is there already"),
        (":id/*id", "the name 'id' at byte 4 is there already"),
        (":a(/:b)/c(/:a)", "the name 'a' at byte 11 is there already"),
        (":id?id=:id", "the name 'id' at byte 4 is there already"),
        (
            ":a:b",
            "byte 2 is ':', but a name is made of letters, digits, '_' and '-'; "
                + "what follows it in its segment is a type such as <int>, or begins with '.'"
        ),
        (
            "a/*/b",
            "the '*' at byte 2 does not begin the last segment; for the sign itself write %2A"
        ),
        (
            "a/b*",
            "the '*' at byte 3 does not begin the last segment; for the sign itself write %2A"
        ),
        (
            "*a(/b)",
            "the '*' at byte 0 does not begin the last segment; for the sign itself write %2A"
        ),
        ("a(/b", "the parenthesis at byte 1 has no partner"),
        ("a/b)", "the parenthesis at byte 3 has no partner"),
        ("a()", "the group at byte 1 is empty"),
        ("(a)(b)(c)(d)(e)(f)(g)(h)(i)", "the group at byte 24 is one more than the 8 allowed"),
        ("a?b", "'b' at byte 2 declares no query parameter; write name=:name"),
        ("a?b=:c", "'b=:c' at byte 2 declares no query parameter; write name=:name"),
        ("a?b=:b&b=:b", "the name 'b' at byte 7 is there already"),
        ("a#b", "the fragment at byte 1 is never matched; leave it out"),
        (
            String(repeating: "a/", count: 65),
            "the segment at byte 128 is one more than the 64 allowed"
        ),
    ]

    @Test("says what is wrong and where", arguments: errors)
    func error(pattern: String, message: String) {
        do {
            _ = try RoutePattern(pattern)
            Issue.record("\(pattern) was read")
        } catch {
            #expect(error.description == "pattern \(quoted(pattern)): \(message)")
        }
    }

    static let expansions: [(String, [[String]])] = [
        ("/", [[]]), ("a//b/", [["a", "b"]]), ("(a)", [["a"], []]),
        (
            "the(/foo/:a)(/bar/:b)",
            [["the", "foo", ":", "bar", ":"], ["the", "foo", ":"], ["the", "bar", ":"], ["the"]]
        ),
        ("(rest/)(app/):o", [["rest", "app", ":"], ["rest", ":"], ["app", ":"], [":"]]),
        ("(:a/)(:b/):c", [[":", ":", ":"], [":", ":"], [":"]]),
        ("a(/b(/c))", [["a", "b", "c"], ["a", "b"], ["a"]]),
        ("file(.html)", [["file.html"], ["file"]]), (":n(.html)", [":.html", ":"].map { [$0] }),
        (":n<int>(.html)", [":<int>.html", ":<int>"].map { [$0] }), ("a/*", [["a", "*"]]),
        ("mgj://", [["*"]]), ("mgj://*", [["*"]]), ("mgj:///", [[]]),
        ("APP://Host/Y", [["host", "Y"]]), ("app:///Host", [["Host"]]),
        ("host:8080/x", [["host:8080", "x"]]),
        ("%3Aid/%2A/%28a%29/a%2Fb", [[":id", "*", "(a)", "a/b"]]),
    ]

    @Test("expands groups, the longest first", arguments: expansions)
    func expand(pattern: String, expected: [[String]]) throws {
        let variants = try RoutePattern(pattern).variants.map { variant in
            variant.segments.map { segment in
                switch segment {
                case .literal(let text): String(decoding: text, as: UTF8.self)
                case .placeholder(let suffix, let type):
                    ":" + (type.map { "<\($0.name)>" } ?? "")
                        + String(decoding: suffix, as: UTF8.self)
                case .rest: "*"
                }
            }
        }
        #expect(variants == expected)
    }

    @Test("knows its names, and those that it declares for the query")
    func names() throws {
        let pattern = try RoutePattern("u/:name(/:page)/*rest?style=:style&城=:城")
        #expect(pattern.names == ["name", "page", "rest"])
        #expect(pattern.queryNames == ["style", "城"])
        #expect(pattern.scheme == nil)
        #expect(try RoutePattern("MGJ://a").scheme == "mgj")
    }
}

@Suite("Building URLs")
struct RouteBuildingTests {
    static let module = ModuleID(checked: "com.mm.m")

    func build(_ text: String, _ parameters: RouteParameters) throws -> String {
        let pattern = try RoutePattern(text)
        return pattern.isAbsolute
            ? try pattern.url(parameters)
            : try pattern.url(parameters, scheme: "slate", module: Self.module)
    }

    static let built: [(String, KeyValuePairs<String, [String]>, String)] = [
        ("user/:name/posts", ["name": ["a/b 城"]], "slate://com.mm.m/user/a%2Fb%20%E5%9F%8E/posts"),
        (":id.html?q=:q", ["id": ["."], "q": ["a&b", ""]], "slate://com.mm.m/..html?q=a%26b&q="),
        ("mgj://", ["*": []], "mgj://"), ("mgj://*p", ["p": ["a@b:c", "d"]], "mgj://a%40b%3Ac/d"),
        ("list(/page/:n)(/by/:key)", ["key": ["date"]], "slate://com.mm.m/list/by/date"),
        ("(v1/)item/:id", ["id": ["9"]], "slate://com.mm.m/v1/item/9"),
        ("/", [:], "slate://com.mm.m/"),
    ]

    @Test("encodes values", arguments: built)
    func build(pattern: String, parameters: KeyValuePairs<String, [String]>, url: String) throws {
        #expect(try build(pattern, RouteParameters(parameters)) == url)
    }

    static let errors: [(String, KeyValuePairs<String, [String]>, String)] = [
        ("a/:id", [:], "parameter 'id' is missing"),
        ("a/:id", ["ids": ["1"]], "the pattern has no parameter 'ids'; did you mean 'id'?"),
        ("a/:id", ["id": ["1", "2"]], "parameter 'id' takes one value, not 2"),
        ("a/:id", ["id": [""]], "parameter 'id' is empty, which no segment can be"),
        ("a/:id", ["id": [".."]], "parameter 'id' makes the segment '..', which no URL can have"),
        ("a/*r", ["r": ["x", "."]], "parameter 'r' makes the segment '.', which no URL can have"),
        ("a?x=:x", ["x": []], "parameter 'x' is missing"),
        (
            "a(/:n)(/*r)", ["r": ["1"]],
            "the pattern would bind these values in another way when read back"
        ),
        (
            "a/*r", ["r": [String](repeating: "x", count: 63)],
            "malformed URL: the segment at byte 143 is one more than the 64 allowed"
        ),
    ]

    @Test("says what a URL cannot have", arguments: errors)
    func error(pattern: String, parameters: KeyValuePairs<String, [String]>, message: String) {
        do {
            let url = try build(pattern, RouteParameters(parameters))
            Issue.record("built \(url)")
        } catch {
            #expect("\(error)" == "no URL of pattern '\(pattern)': \(message)")
        }
    }
}
