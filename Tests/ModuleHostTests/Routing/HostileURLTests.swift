import TestSupport
import Testing

@testable import ModuleHostCore

/// The URLs of a hostile sender: each is refused with its place, or is data; it is never
/// another route, another module, or work without end.
@Suite("Hostile URLs")
struct HostileURLTests {
    struct Request: Decodable {
        var id: Int
    }

    static let modules = ["com.mm.a", "com.mm.b"]

    /// `com.mm.a` has what any caller may open, and what only the app itself may; `com.mm.b` has a path of
    /// its own.
    func table() throws -> RouteTable {
        var table = try RouteTable(
            schemes: ["slate"], [("com.mm.a", "item/:id"), ("com.mm.b", "secret/:id")])
        try table.add(.plain("nativeErase", access: .local), of: ModuleID(checked: "com.mm.a"))
        return table
    }

    /// What a remote caller reaches.
    func answer(_ url: String) throws -> String {
        do {
            let match = try table().match(RouteURL(url)) { entry, _ in
                entry.route.access == .public
            }
            return match.map { "\($0.entry.module) \($0.entry.route.pattern)" } ?? "notFound"
        } catch let error as RouteURLError {
            return error.description
        }
    }

    func expect(
        _ rows: [(url: String, answer: String)], at location: SourceLocation = #_sourceLocation
    ) throws {
        for (url, expected) in rows {
            #expect(try answer(url) == expected, "\(url.prefix(80))", sourceLocation: location)
        }
    }

    static let escape = "is a '%' without two hexadecimal digits; for the sign itself write %25"

    @Test("truncated escapes")
    func truncatedEscapes() throws {
        for (url, byte) in [
            ("slate://com.mm.a/item/%", 22), ("slate://com.mm.a/item/7%2", 23),
            ("slate://com.mm.a/item/%2/5", 22), ("slate://com.mm.a/item/%%35", 22),
            ("slate://com.mm.a/item/%g0", 22), ("slate://%", 8), ("slate://com.mm.a/item/7?%4", 24),
            ("slate://com.mm.a/item/7?x=%4&y", 26), ("slate://com.mm.a/item/7#%4", 24),
            ("slate://com.mm.a/item/%２5", 22),
        ] {
            #expect(try answer(url) == "malformed URL: byte \(byte) \(Self.escape)", "\(url)")
        }
    }

    @Test("overlong UTF-8, surrogates, and characters cut in two")
    func overlong() throws {
        for bytes in [
            "%C0%AF", "%C1%BF", "%E0%80%AF", "%E0%9F%BF", "%F0%80%80%AF", "%F8%80%80%80%AF",
            "%ED%A0%80", "%ED%BF%BF", "%F4%90%80%80", "%FF", "%80", "%C3", "%E5%9F", "%F0%9F%98",
        ] {
            for place in ["item/\(bytes)", "item/7?x=\(bytes)", "item/7?\(bytes)=x", "#\(bytes)"] {
                let url = "slate://com.mm.a/" + place
                let byte =
                    url.utf8.count - place.utf8.count + (place.utf8.firstOffset(of: "%") ?? 0)
                #expect(try answer(url) == "malformed URL: byte \(byte) is not UTF-8", "\(url)")
            }
        }
        // A raw first half does not go with an escaped second one.
        let halves = Array("slate://com.mm.a/item/".utf8) + [0xC3] + Array("%A9".utf8)
        #expect(throws: RouteURLError(.invalidUTF8, at: 22)) { try RouteURL(bytes: halves) }
    }

    @Test("%00 is data and ends nothing")
    func encodedNUL() throws {
        let match = try table().match(RouteURL("slate://com.mm.a/item/7%00.html?x=%00y"))
        #expect(match?.parameters["id"]?.utf8.elementsEqual("7\0.html".utf8) == true)
        #expect(match?.parameters["x"] == "\0y")
        try expect([
            ("slate://com.mm.a/item%00/7", "notFound"), ("slate://com.mm.a%00/item/7", "notFound"),
            ("slate://com.mm.a/item/\0", "malformed URL: byte 22 is U+0000; write it as %00"),
        ])
    }

    @Test("8 KiB and one byte more")
    func length() throws {
        let base = "slate://com.mm.a/item/"
        let whole = base + String(repeating: "7", count: 8192 - base.utf8.count)
        try expect([
            (whole, "com.mm.a item/:id"),
            (whole + "7", "malformed URL: 8193 bytes are more than the 8192 that a URL may have"),
            (
                base + String(repeating: "%", count: 1 << 20),
                "malformed URL: 1048598 bytes are more than the 8192 that a URL may have"
            ),
        ])
    }

    @Test("64 segments and one more")
    func segments() throws {
        let most = "slate://com.mm.a" + String(repeating: "/x", count: 63)
        try expect([
            (most, "notFound"), (most + "///", "notFound"),
            (
                most + "/x",
                "malformed URL: the segment at byte 143 is one more than the 64 allowed"
            ),
        ])
    }

    @Test("256 query items and one more")
    func items() throws {
        let most = "slate://com.mm.a/item/7?x" + String(repeating: "&x", count: 255)
        let match = try table().match(RouteURL(most))
        #expect(match?.parameters.values(of: "x")?.count == 256)
        try expect([
            (most + "&&&", "com.mm.a item/:id"),
            (
                most + "&x",
                "malformed URL: the query item at byte 536 is one more than the 256 allowed"
            ),
        ])
    }

    @Test("a parameter that takes one value, given twice")
    func repeatedScalar() throws {
        let table = try RouteTable("one", "of/:id")
        let twice = try table.match(RouteURL("s://one?id=1&i%64=2"))
        #expect(
            throws: ParameterError(name: "id", kind: .repeated(2))
        ) { try twice?.parameters.decode(Request.self) }
        // The path's own value stands, however often the query says another.
        let own = try table.match(RouteURL("s://of/7?id=1&id=2"))
        #expect(try own?.parameters.decode(Request.self).id == 7)
    }

    @Test("what is the app's own, spelled in other ways")
    func native() throws {
        for spelling in [
            "nativeErase", "%6EativeErase", "%6eativeErase", "NATIVEERASE", "native%45rase",
            "%6E%61%74%69%76%65%45%72%61%73%65", "native%00Erase", "ｎativeErase",
        ] {
            for url in ["slate://com.mm.a/", "slate://", "slate:/", "slate:"] {
                #expect(try answer(url + spelling) == "notFound", "\(url)\(spelling)")
            }
        }
        // They are spellings of it: the app itself reaches it by each that decodes to its name.
        #expect(try table().answer("slate://com.mm.a/%6Eative%45rase") == "com.mm.a nativeErase")
    }

    @Test("a path of another module")
    func otherModule() throws {
        try expect([
            ("slate://com.mm.a/secret/7", "notFound"), ("slate://COM.mm.A/secret/7", "notFound"),
            ("slate://com.mm.a/com.mm.b/secret/7", "notFound"),
            ("slate://com.mm.%61/secret/7", "notFound"),
            ("slate://com.mm.a%2F..%2Fcom.mm.b/secret/7", "notFound"),
            ("slate://com.mm.a//com.mm.b//secret/7", "notFound"),
            ("slate://com.mm.b:80/secret/7", "notFound"),
            ("slate:///com.mm.b/secret/7", "notFound"), ("slate://com.mm.b/item/7", "notFound"),
            ("slate://com.mm.b./secret/7", "notFound"),
            ("slate://com.mm.b/secret/7", "com.mm.b secret/:id"),
        ])
    }

    @Test("user and password before the host")
    func userInfo() throws {
        for (url, byte) in [
            ("slate://user:pw@com.mm.a/item/7", 15), ("slate://@com.mm.a/item/7", 8),
            ("slate://com.mm.a@com.mm.b/secret/7", 16), ("slate://com.mm.a:80@com.mm.b/x", 19),
        ] {
            #expect(
                try answer(url)
                    == "malformed URL: byte \(byte) is an '@': "
                    + "a name or password before the host is not allowed")
        }
        #expect(try answer("slate://com.mm.a%40com.mm.b/secret/7") == "notFound")
    }

    @Test("a URL in the query stays there")
    func nestedURL() throws {
        let nested = "slate://com.mm.b/secret/7?x=[1]@/../%2e%2E/"
        let match = try table().match(RouteURL("slate://com.mm.a/item/7?url=\(nested)&x=2#/../"))
        #expect(match?.entry.route.pattern.text == "item/:id")
        #expect(match?.parameters["url"] == "slate://com.mm.b/secret/7?x=[1]@/../../")
        #expect(match?.parameters["x"] == "2")
    }

    @Test("dot segments, encoded")
    func dotSegments() throws {
        for (dots, text) in [
            (".", "."), ("..", ".."), ("%2e", "."), ("%2E", "."), ("%2e%2e", ".."),
            (".%2E", ".."), ("%2e.", ".."),
        ] {
            for (url, byte) in [
                ("slate://com.mm.a/\(dots)/item/7", 17), ("slate://com.mm.a/item/\(dots)", 22),
                ("slate://\(dots)/item/7", 8), ("slate:\(dots)/item/7", 6),
            ] {
                #expect(
                    try answer(url)
                        == "malformed URL: the segment '\(text)' at byte \(byte) is not allowed; "
                        + "write the path it leads to", "\(url)")
            }
        }
        for name in ["...", "%2e%2e%2e", ".7", "7.", "%252e"] {
            #expect(try answer("slate://com.mm.a/item/\(name)") == "com.mm.a item/:id", "\(name)")
        }
    }

    // MARK: Slow-downs

    /// How often each candidate is asked by a search in which nothing may answer.
    ///
    /// Where each node of a table has a catch-all of its own, which is asked whenever the node was
    /// visited in vain, this counts the visits.
    func visits(_ table: RouteTable, _ url: String) throws -> [String: Int] {
        var asked: [String: Int] = [:]
        let match = try table.match(RouteURL(url)) { entry, _ in
            asked["\(entry.module)/\(entry.route.pattern)", default: 0] += 1
            return false
        }
        #expect(match == nil)
        return asked
    }

    /// A catch-all below every way to write `depth` segments with these parts.
    func everyWay(_ parts: [String], depth: Int) -> [String] {
        var ways = [[String]()]
        var all = ["*r"]
        for level in 0..<depth {
            ways = ways.flatMap { way in
                parts.map { way + [$0.replacing("x", with: "x\(level)")] }
            }
            all += ways.map { $0.joined(separator: "/") + "/*r" }
        }
        return all
    }

    static let slow: [(parts: [String], depth: Int, url: String, nodes: Int)] = [
        (["a", ":x"], 8, "s:/a/a/a/a/a/a/a/a/z", 511),
        (["a.h", ":x.h", ":x"], 5, "s://a.h/a.h/a.h/a.h/a.h/z", 364),
        // Without case in the first segment only.
        (["a", "A", ":x"], 5, "s://a/a/a/a/a", 94),
        ([":x.a", ":x.a.a", ":x.a.a.a", ":x"], 4, "s:/b.a.a.a/b.a.a.a/b.a.a.a/b.a.a.a", 341),
    ]

    @Test("patterns made to be searched for long visit each node once", arguments: slow)
    func backtracking(parts: [String], depth: Int, url: String, nodes: Int) throws {
        let patterns = everyWay(parts, depth: depth)
        let asked = try visits(RouteTable(patterns.map { ("m", $0) }), url)
        #expect(asked.values.allSatisfy { $0 == 1 })
        // It is a search that tries everything there is on the way.
        #expect(asked.count == nodes)
    }

    @Test("a first segment in every case is looked at once in each")
    func cases() throws {
        let names = (0..<256).map { number in
            String(
                "abcdefgh".enumerated().map { index, letter in
                    number >> index & 1 == 1 ? Character(letter.uppercased()) : letter
                })
        }
        let asked = try visits(RouteTable(names.map { ("m", $0 + "/*r") }), "s://ABCDEFGH/x")
        #expect(asked.count == 256 && asked.values.allSatisfy { $0 == 1 })
    }

    @Test("no module is asked twice, and none that has no such first segment")
    func modules() throws {
        var routes = (0..<100).map { (module: "com.mm.m\($0)", pattern: "own\($0)/*r") }
        routes += [40, 7, 99].map { ("com.mm.m\($0)", "shared/*r") } + [("com.mm.m7", "*r")]
        let table = try RouteTable(routes, fallback: "com.mm.m7")
        #expect(
            try visits(table, "s://shared/x") == [
                "com.mm.m7/shared/*r": 1, "com.mm.m7/*r": 1, "com.mm.m40/shared/*r": 1,
                "com.mm.m99/shared/*r": 1,
            ])
        #expect(
            try visits(table, "s://own3/x").keys.sorted() == ["com.mm.m3/own3/*r", "com.mm.m7/*r"])
    }
}

extension String.UTF8View {
    fileprivate func firstOffset(of character: Unicode.Scalar) -> Int? {
        firstIndex(of: UInt8(ascii: character)).map { distance(from: startIndex, to: $0) }
    }
}
