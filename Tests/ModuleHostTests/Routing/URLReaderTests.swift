import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("URLReader")
struct URLReaderTests {
    @Test("cuts a URL into its parts")
    func parts() throws {
        let url = try RouteURL(
            "Slate://Com.MM.community/a%2Fb//%E5%9F%8E/?q=100%25&flag&=x&k=a=b#%41/?")
        #expect(url.scheme == "slate")
        #expect(url.authority == "Com.MM.community")
        #expect(url.segments == ["Com.MM.community", "a/b", "城"])
        #expect(url.query.map(\.name) == ["q", "flag", "", "k"])
        #expect(url.query.map(\.value) == ["100%", "", "x", "a=b"])
        #expect(url.fragment == "%41/?")
        #expect(url.withoutQuery == "Slate://Com.MM.community/a%2Fb//%E5%9F%8E/")
    }

    static let paths: [(String, [String])] = [
        ("s:", []), ("s:/", []), ("s://", []), ("s:///", []), ("s:a", ["a"]), ("s:/a", ["a"]),
        ("s:///a", ["a"]), ("s://a", ["a"]), ("s://a/", ["a"]), ("s://a//b", ["a", "b"]),
        ("s:////a", ["a"]), ("s://host:8080/x", ["host:8080", "x"]),
        ("s://[::1]:80/x", ["[::1]:80", "x"]), ("s://:id/x", [":id", "x"]),
        ("s://a/...", ["a", "..."]), ("s://a/.b", ["a", ".b"]), ("s://a/%00", ["a", "\0"]),
        ("s://a/%252F", ["a", "%2F"]), ("s://a/b@c:d", ["a", "b@c:d"]),
        ("s://user%40host", ["user@host"]), ("s://家/%e5%ae%b6", ["家", "家"]),
        ("s://a/b;c,d=e+f", ["a", "b;c,d=e+f"]), ("mailto:a@b", ["a@b"]),
    ]

    @Test("reads segments", arguments: paths)
    func segments(url: String, expected: [String]) throws {
        #expect(try RouteURL(url).segments == expected)
    }

    @Test("leaves a nested URL in the query as it is")
    func nestedURL() throws {
        let url = try RouteURL("s://open?url=https://[::1]:80/a?b=c:d&x=1")
        #expect(url.query.map(\.value) == ["https://[::1]:80/a?b=c:d", "1"])
        #expect(url.segments == ["open"])
    }

    @Test("takes raw and encoded text for the same; an accent and a letter with one differ")
    func text() throws {
        #expect(try RouteURL("s://a/é").segments == RouteURL("s://a/%C3%A9").segments)
        let table = try RouteTable("a/\u{E9}", "a/e\u{301}")
        #expect(table.answer("s://a/%C3%A9") == "m a/\u{E9}")
        #expect(table.answer("s://a/e%CC%81") == "m a/e\u{301}")
    }

    static let hostile: [(name: String, url: String, message: String)] = [
        ("no text", "", "it is empty; write one such as slate://userInfo"),
        (
            "no scheme", "userInfo",
            "it begins with no scheme, such as the slate of slate://userInfo"
        ),
        (
            "no scheme before slashes", "://a",
            "it begins with no scheme, such as the slate of slate://userInfo"
        ),
        (
            "a scheme with a digit first", "1s://a",
            "it begins with no scheme, such as the slate of slate://userInfo"
        ),
        (
            "a scheme beyond ASCII", "schéma://a",
            "it begins with no scheme, such as the slate of slate://userInfo"
        ),
        (
            "user", "s://user@host/",
            "byte 8 is an '@': a name or password before the host is not allowed"
        ),
        (
            "user and password", "s://user:password@host/",
            "byte 17 is an '@': a name or password before the host is not allowed"
        ),
        ("a space", "s://a/b c", "byte 7 is a space; write it as %20"),
        ("a tab", "s://a/b\tc", "byte 7 is a tab; write it as %09"),
        ("a line break", "s://a?b\nc", "byte 7 is a line break; write it as %0A"),
        ("a NUL", "s://a/\0", "byte 6 is U+0000; write it as %00"),
        ("DEL", "s://a/\u{7F}", "byte 6 is U+007F; write it as %7F"),
        ("a backslash", "s://a\\b", "byte 5 is '\\'; write it as %5C"),
        ("angle brackets", "s://a/<b>", "byte 6 is '<'; write it as %3C"),
        ("a quote", "s://a?b=\"c\"", "byte 8 is '\"'; write it as %22"),
        ("brackets in the path", "s://a/[b]", "byte 6 is '['; write it as %5B"),
        ("two fragments", "s://a#b#c", "byte 7 is '#'; write it as %23"),
        (
            "a sign alone", "s://a/%",
            "byte 6 is a '%' without two hexadecimal digits; for the sign itself write %25"
        ),
        (
            "an escape cut short", "s://a/%4",
            "byte 6 is a '%' without two hexadecimal digits; for the sign itself write %25"
        ),
        (
            "an escape of other letters", "s://a?x=%zz",
            "byte 8 is a '%' without two hexadecimal digits; for the sign itself write %25"
        ),
        (
            "an escape broken by the end of its segment", "s://a/%4/1",
            "byte 6 is a '%' without two hexadecimal digits; for the sign itself write %25"
        ),
        (
            "an escape in the fragment", "s://a#%4",
            "byte 6 is a '%' without two hexadecimal digits; for the sign itself write %25"
        ),
        ("an overlong slash", "s://a/b%C0%AF", "byte 7 is not UTF-8"),
        ("an overlong dot", "s://a/%E0%80%AE", "byte 6 is not UTF-8"),
        ("a surrogate", "s://a/%ED%A0%80", "byte 6 is not UTF-8"),
        ("beyond Unicode", "s://a/%F5%80%80%80", "byte 6 is not UTF-8"),
        ("a lone continuation", "s://a?x=1%80", "byte 9 is not UTF-8"),
        ("a character cut short", "s://a/x%E5%9F", "byte 7 is not UTF-8"),
        ("a character over two segments", "s://a/%E5/%9F%8E", "byte 6 is not UTF-8"),
        ("no UTF-8 in the fragment", "s://a#%FF", "byte 6 is not UTF-8"),
        ("no UTF-8 in the authority", "s://%FF", "byte 4 is not UTF-8"),
        (
            "a dot", "s://a/./b",
            "the segment '.' at byte 6 is not allowed; write the path it leads to"
        ),
        (
            "two dots", "s://a/../b",
            "the segment '..' at byte 6 is not allowed; write the path it leads to"
        ),
        (
            "an encoded dot", "s://a/%2e",
            "the segment '.' at byte 6 is not allowed; write the path it leads to"
        ),
        (
            "dots half encoded", "s://a/.%2E/b",
            "the segment '..' at byte 6 is not allowed; write the path it leads to"
        ),
        (
            "dots for a host", "s://../b",
            "the segment '..' at byte 4 is not allowed; write the path it leads to"
        ),
        (
            "8 KiB and a byte", "s://" + String(repeating: "a", count: 8189),
            "8193 bytes are more than the 8192 that a URL may have"
        ),
        (
            "65 segments", "s://a" + String(repeating: "/b", count: 64),
            "the segment at byte 132 is one more than the 64 allowed"
        ),
        (
            "257 items", "s://a?x" + String(repeating: "&x", count: 256),
            "the query item at byte 518 is one more than the 256 allowed"
        ),
    ]

    @Test("refuses what is hostile, with its place", arguments: hostile)
    func refuse(name: String, url: String, message: String) {
        do {
            let read = try RouteURL(url)
            Issue.record("\(name) was read as \(read.segments)")
        } catch {
            #expect(error.description == "malformed URL: \(message)")
        }
    }

    @Test("reads as much as the limits allow")
    func limits() throws {
        #expect(try RouteURL("s://" + String(repeating: "a", count: 8188)).segments.count == 1)
        #expect(try RouteURL("s://a" + String(repeating: "/b", count: 63)).segments.count == 64)
        #expect(try RouteURL("s://a?x" + String(repeating: "&x", count: 255)).query.count == 256)
        #expect(try RouteURL("s://a?" + String(repeating: "&", count: 4000)).query.isEmpty)
        #expect(try RouteURL("s://a" + String(repeating: "/", count: 4000)).segments == ["a"])
    }

    /// Bytes are classified 64 at a time, the last ones of a URL eight at a time.
    @Test("reads the same parts wherever they begin")
    func offsets() throws {
        for count in 1...200 {
            let name = String(repeating: "a", count: count)
            let url = try RouteURL(
                "\(name)://\(name)/b%20_/\(name)é/d?\(name)_=%26&k=\(name)#\(name)%41")
            #expect(url.scheme == name)
            #expect(url.segments == [name, "b _", name + "é", "d"])
            #expect(url.query.map(\.name) == [name + "_", "k"])
            #expect(url.query.map(\.value) == ["&", name])
            #expect(url.fragment == name + "%41")
            #expect(throws: RouteURLError(.character("<"), at: count + 9)) {
                try RouteURL("s://\(name)/b?k=<")
            }
            #expect(throws: RouteURLError(.escape, at: count + 4)) {
                try RouteURL("s://\(name)%4")
            }
        }
    }

    @Test("refuses bytes that are not UTF-8")
    func bytes() throws {
        #expect(try RouteURL(bytes: Array("s://é".utf8)).segments == ["é"])
        #expect(throws: RouteURLError(.invalidUTF8, at: 5)) {
            try RouteURL(bytes: Array("s://a".utf8) + [0xFF, 0x62])
        }
        #expect(throws: RouteURLError(.tooLong(bytes: 8193), at: 8192)) {
            try RouteURL(bytes: [UInt8](repeating: 0xFF, count: 8193))
        }
    }

    @Test("has an answer for any bytes")
    func anyBytes() {
        var generator = SeededGenerator(seed: 3)
        let alphabet = Array("ab/%2.?&=#:@[] +é\0".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            guard let url = try? RouteURL(bytes: Array("s:".utf8) + bytes) else { continue }
            #expect(url.segments.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." })
            #expect(url.writtenItems.count == url.query.count)
        }
    }
}

@Suite("Tokens")
struct RouteTokenTests {
    static let rows: [(url: String, rest: String, token: String?)] = [
        ("s://a?token=t", "s://a", "t"), ("s://a?x=1&token=t&y=2#f", "s://a?x=1&y=2#f", "t"),
        ("s://a?%74oken=t%20u", "s://a", "t u"), ("s://a?x=%20&&token=t", "s://a?x=%20", "t"),
        ("s://a?Token=t", "s://a?Token=t", nil), ("s://a?token", "s://a", nil),
        ("s://a/token?x=token", "s://a/token?x=token", nil),
        ("s://a?\u{301}token=t&x=1", "s://a?\u{301}token=t&x=1", nil),
        ("s://a?x=1&\u{301}y=2&token=t", "s://a?x=1&\u{301}y=2", "t"),
    ]

    @Test("takes the token out, however it is encoded", arguments: rows)
    func take(url: String, rest: String, token: String?) throws {
        let separated = try RouteURL(url).separatingToken()
        #expect(separated.url.text.utf8.elementsEqual(rest.utf8))
        #expect((separated.token == nil) == (token == nil))
        if let token { #expect(separated.token?.matches(token) == true) }
    }

    @Test("refuses a second token")
    func repeated() throws {
        let url = try RouteURL("s://a?token=t&x&%74oken=u")
        #expect(throws: RouteURLError(.repeatedToken, at: 16)) { try url.separatingToken() }
    }

    @Test("shows nothing of a token")
    func secrecy() {
        let token = RouteToken("hunter2")
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped, "\([token])"] {
            #expect(!text.contains("hunter2") && !text.contains("104"))
        }
        #expect(token.matches("hunter2"))
        for other in ["", "hunter", "hunter3", "hunter22", "Hunter2"] {
            #expect(!token.matches(other))
        }
    }
}
