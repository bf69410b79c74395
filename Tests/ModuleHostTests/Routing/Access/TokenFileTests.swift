import Testing

@testable import ModuleHostCore

@Suite("File of tokens")
struct TokenFileTests {
    private static let secret = "s3cr3t-s3cr3t-s3cr3t"

    @Test("reads tokens, with and without an end")
    func sound() throws {
        let tokens = try TokenStore.of(
            #"""
            [
              {"token": "0123456789abcdef", "name": "ci", "scopes": ["s://a.b/*", "x://y/:z"]},
              {"scopes": ["s://"], "expires": "2027-01-01T00:00:00.5Z",
               "name": "Anna's phone", "token": "!~{}\u0061\"\\/bcdefghijk"}
            ]
            """#)
        #expect(tokens.names == ["ci", "Anna's phone"])
        let now = WallTime(seconds: 1_798_761_600)
        let ci = try #require(tokens.grant(for: RouteToken("0123456789abcdef"), now: now))
        #expect(ci.name == "ci" && ci.scopes.map(\.pattern.text) == ["s://a.b/*", "x://y/:z"])
        #expect(ci.scopes.map(\.isOfApp) == [true, false])
        let phone = RouteToken(#"!~{}a"\/bcdefghijk"#)
        #expect(tokens.grant(for: phone, now: now)?.name == "Anna's phone")
        let end = WallTime(seconds: 1_798_761_600, nanoseconds: 500_000_000)
        #expect(tokens.grant(for: phone, now: end) == nil)
        #expect(try TokenStore.of("[]").names == [])
    }

    @Test("every error at once, with its place and without its line")
    func diagnostics() {
        let rendering = TokenStore.rendering(
            of: #"""
                [
                  {"token": "", "name": "", "scopes": []},
                  {"token": "short", "name": "a", "scopes": ["a/b", "s://a b", "s://a?x=:x"]},
                  {"token": "0123456789abcdef", "nmae": "a", "scopes": ["s://*/a", 5]},
                  {"token": "0123456789abcdef", "name": "b", "scopes": "s://*", "expires": "soon"},
                  {"token": "with space 0123456789", "name": "c", "scopes": ["s://*"], "color": 1},
                  "0123456789abcdef0",
                  {"name": "d", "scopes": ["s://*"], "expires": 2027,}
                ]
                """#)
        let malformed =
            "a token has 16 to 1024 visible ASCII characters and no space; "
            + "make one with: head -c 24 /dev/urandom | base64"
        #expect(
            rendering == """
                tokens.json:2:13: error: \(malformed)
                tokens.json:2:25: error: a name has 1 to 100 characters, no control characters
                tokens.json:2:39: error: a token needs a scope, such as "slate://com.mm.community/*"
                tokens.json:3:13: error: \(malformed)
                tokens.json:3:46: error: a scope begins with a scheme, as "slate://com.mm.community/*" does
                tokens.json:3:53: error: a scope is a pattern of URLs: byte 5 is a space; write it as %20
                tokens.json:3:64: error: a scope has no query; leave out what follows the '?'
                tokens.json:4:3: error: missing key 'name'
                tokens.json:4:33: error: unknown key 'nmae'; did you mean 'name'?
                tokens.json:4:57: error: a scope is a pattern of URLs: the '*' at byte 4 does not begin the last segment; for the sign itself write %2A
                tokens.json:4:68: error: expected a scope such as "slate://com.mm.community/*", found a number
                tokens.json:5:13: error: this token is here already, at line 4, column 13
                tokens.json:5:56: error: expected an array of scopes, found a string
                tokens.json:5:76: error: this is not a time; write one such as "2027-01-01T00:00:00Z"
                tokens.json:6:13: error: \(malformed)
                tokens.json:6:72: error: unknown key; a token has 'token', 'name', 'scopes', 'expires'
                tokens.json:7:3: error: expected a token: an object, found a string
                tokens.json:8:3: error: missing key 'token'
                tokens.json:8:49: error: expected a time such as "2027-01-01T00:00:00Z", found a number
                tokens.json:8:53: error: a comma before a closing bracket; remove it
                20 errors in tokens.json

                """)
    }

    @Test("no error shows what could be a token, wherever it stands")
    func secrecy() throws {
        let secret = Self.secret
        let texts = [
            secret, "\"\(secret)", "'\(secret)'", "[\(secret)]", "{\"\(secret)\": 1}",
            "[{\"\(secret)\": 1, \"\(secret)\": 2}]", "[{\(secret): 1}]", "[{'\(secret)': 1}]",
            "[{\"token\": \(secret)}]", "[{\"token\": '\(secret)'}]", "[{\"token\": \"\(secret)}]",
            "[{\"token\": \"\(secret)\u{1}\"}]", "[{\"token\": \"\\q\(secret) \"}]",
            "[{\"token\": \"\\ud800\(secret)\"}]", "[{\"token\": [\"\(secret)\"]}]",
            "[{\"token\": {\"\(secret)\": {\"\(secret)\": x}}}]",
            "[{\"name\": \"\u{7}\(secret)\"}]",
            "[{\"scopes\": [\"\(secret)\"]}]", "[{\"scopes\": [\"\(secret)://a b\"]}]",
            "[{\"scopes\": [\"_\(secret)://a\"]}]", "[{\"scopes\": [\"s:/\(secret)\"]}]",
            "[{\"scopes\": [\"s3cr3t-:/\(secret)\"]}]",
            "[{\"scopes\": [\"s://:\(secret)/:\(secret)\"]}]",
            "[{\"scopes\": [\"s://a?\(secret)\"]}]", "[{\"scopes\": \"\(secret)\"}]",
            "[{\"expires\": \"\(secret)\"}]", "[{\"token\": 0\(secret)}]", "\"\(secret)\"",
            "[\"\(secret)\"] \(secret)", "[{\"scopes\": {\"\(secret)\": \(secret)}}]",
            "[{\"token\" \"\(secret)\"}]", "[{\"token\": \"\(secret)\" \"\(secret)\"}]",
            "/* \(secret) */", "\u{201C}\(secret)\u{201D}", "[{\"token\": \"\(secret)\u{E9}\"}]",
        ]
        for text in texts {
            let error = try #require(throws: SlatefileError.self, "\(text)") {
                try TokenStore.of(text)
            }
            var dumped = ""
            dump(error, to: &dumped)
            for shown in [error.rendered(colored: false), "\(error.diagnostics)", dumped] {
                #expect(!shown.contains("s3cr3t"), "\(text)")
            }
        }
    }

    @Test("a store shows names and no token")
    func storeSecrecy() throws {
        let secret = Self.secret
        let tokens = try TokenStore.of(
            "[{\"token\": \"\(secret)\", \"name\": \"ci\", \"scopes\": [\"s://*\"]}]")
        let access = CallerAccess(origin: .push, token: RouteToken(secret), tokens: tokens)
        #expect(access.grant?.name == "ci")
        #expect("\(tokens)" == "tokens of ci" && "\(TokenStore.empty)" == "no tokens")
        for value: Any in [tokens, [tokens], access] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains(secret) && !text.contains("115"))
            }
        }
    }

    @Test("limits")
    func limits() throws {
        func file(_ count: Int, length: Int = 16, scopes: Int = 1) -> String {
            let tokens = (0..<count).map { number in
                let digits = "\(number)"
                let token = String(repeating: "x", count: length - digits.count) + digits
                let scopes = Array(repeating: "\"s://*\"", count: scopes).joined(separator: ",")
                return "{\"token\":\"\(token)\",\"name\":\"n\",\"scopes\":[\(scopes)]}"
            }
            return "[\(tokens.joined(separator: ","))]"
        }
        #expect(try TokenStore.of(file(1000)).names.count == 1000)
        #expect(try TokenStore.of(file(1, length: 1024, scopes: 64)).names.count == 1)
        #expect(
            TokenStore.rendering(of: file(1001))?.hasSuffix(
                ": error: more than 1000 tokens\n1 error in tokens.json\n") == true)
        #expect(
            TokenStore.rendering(of: file(1, scopes: 65))?.contains("more than 64 scopes") == true)
        #expect(
            TokenStore.rendering(of: file(1, length: 1025))?.contains("a token has 16 to") == true)
        #expect(
            TokenStore.rendering(of: file(1, length: 15))?.contains("a token has 16 to") == true)
    }
}
