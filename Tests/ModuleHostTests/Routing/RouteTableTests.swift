import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("RouteTable")
struct RouteTableTests {
    // MARK: Which route answers

    static let order: [(module: String, pattern: String)] = [
        ("com.mm.a", "one"), ("com.mm.a", "both"), ("com.mm.b", "both"), ("com.mm.b", "two/:id"),
        ("com.mm.b", "slate://one"), ("com.mm.web", "https://*"), ("com.mm.web", "*all"),
    ]

    static let answers: [(url: String, expected: String)] = [
        // Absolute patterns come before modules, whatever their order.
        ("slate://one", "com.mm.b slate://one"),
        // The module that is named, and no other.
        ("slate://com.mm.a/one", "com.mm.a one"), ("slate://com.mm.b/both", "com.mm.b both"),
        ("SLATE://COM.mm.A/one", "com.mm.a one"), ("slate://com.mm.a/ONE", "com.mm.web *all"),
        ("slate://com.mm.%61/one", "com.mm.a one"),
        // Module by module in the order of the slatefile.
        ("slate://both", "com.mm.a both"), ("slate://two/7", "com.mm.b two/:id"),
        // The authority is the first segment and compares without case; a path never does.
        ("slate://BOTH", "com.mm.a both"), ("slate:/BOTH", "com.mm.web *all"),
        ("slate:/both", "com.mm.a both"), ("slate:///both", "com.mm.a both"),
        // A path that spells a module's id names no module.
        ("slate:/com.mm.a/one", "com.mm.web *all"),
        // Another scheme reaches no relative pattern but the fallback's.
        ("ftp://one", "com.mm.web *all"), ("https://one", "com.mm.web https://*"),
        ("nope:", "com.mm.web *all"),
    ]

    @Test("answers in the order of the dialect", arguments: answers)
    func answer(url: String, expected: String) throws {
        let table = try RouteTable(schemes: ["slate"], Self.order, fallback: "com.mm.web")
        #expect(table.answer(url) == expected)
    }

    @Test("never falls from a named module to another, nor into another scheme")
    func closed() throws {
        let table = try RouteTable(schemes: ["slate"], Array(Self.order.dropLast()))
        for url in [
            "slate://com.mm.a/two/7", "slate://com.mm.b/one", "ftp://one", "slate://com.mm.a",
        ] {
            #expect(table.answer(url) == "notFound")
        }
    }

    static let specificity: [(url: String, pattern: String)] = [
        ("s://a/b", "a/b"), ("s://a/x.html", "a/:f.html"), ("s://a/x.tar.gz", "a/:f.tar.gz"),
        ("s://a/x.gz", "a/:f.gz"), ("s://a/.gz", "a/:f"), ("s://a/x", "a/:f"),
        ("s://a/x/y", "a/*"), ("s://a", "a/*"), ("s://a/b/d", "a/:f/d"), ("s://z", ":p"),
        ("s://z/b/e", ":p/b/e"), ("s://", "/"), ("s://a/b/e", "a/*"),
    ]

    @Test("prefers the more specific, whatever the order of adding", arguments: specificity)
    func prefer(url: String, pattern: String) throws {
        let patterns = [
            "a/b", "a/:f.html", "a/:f.tar.gz", "a/:f.gz", "a/:f", "a/*", "a/b/c", "a/:f/d", ":p",
            ":p/b/e", "/",
        ]
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<10 {
            let table = try RouteTable(patterns.shuffled(using: &generator).map { ("m", $0) })
            #expect(table.answer(url) == "m \(pattern)")
        }
    }

    @Test("distinguishes literals that differ in case, the authority's own first")
    func cases() throws {
        for patterns in [["Ab", "aB", "ab"], ["ab", "aB", "Ab"]] {
            let table = try RouteTable(patterns.map { ("m", $0) })
            for pattern in patterns {
                #expect(table.answer("s://\(pattern)") == "m \(pattern)")
                #expect(table.answer("s:/\(pattern)") == "m \(pattern)")
            }
            #expect(table.answer("s://AB") == "m Ab")
            #expect(table.answer("s:/AB") == "notFound")
        }
    }

    // MARK: Candidates

    @Test("goes on where a candidate may not answer")
    func candidates() throws {
        let table = try RouteTable("a/b", "a/:x", "a/*r")
        var asked: [String] = []
        let match = try table.match(RouteURL("s://a/b?q=1")) { entry, parameters in
            asked.append(
                "\(entry.route.pattern) \(parameters.all.map { "\($0.name)=\($0.values)" })")
            return entry.route.pattern.text == "a/*r"
        }
        #expect(match?.entry.route.pattern.text == "a/*r")
        #expect(
            asked == [
                #"a/b ["q=[\"1\"]"]"#, #"a/:x ["x=[\"b\"]", "q=[\"1\"]"]"#,
                #"a/*r ["r=[\"b\"]", "q=[\"1\"]"]"#,
            ])
        #expect(try table.match(RouteURL("s://a/b")) { _, _ in false } == nil)
    }

    @Test("finds a module's own route by path")
    func byPath() throws {
        let table = try RouteTable([("com.mm.a", "x/:id"), ("com.mm.b", "x/:id")])
        let match = try table.match(path: "x/7?q=1", of: ModuleID(checked: "com.mm.b"))
        #expect(match?.entry.module.text == "com.mm.b")
        #expect(match?.parameters["id"] == "7")
        #expect(try table.match(path: "x", of: ModuleID(checked: "com.mm.b")) == nil)
    }

    // MARK: Adding and removing

    static let conflicts: [(String, String)] = [
        ("a/b", "a/b"), ("a/:x", "a/:y"), ("a/*", "a/*r"), ("a(/b)", "a"), ("a/:x.h", "a/:y.h"),
        ("a/%62", "a/b"), ("mgj://", "mgj://*all"), ("APP://Host/x", "app://host/x"), ("/", "(a)"),
        ("a?x=:x", "a?y=:y"),
    ]

    @Test("refuses two routes for the same URLs and names both", arguments: conflicts)
    func conflict(one: String, other: String) throws {
        var table = try RouteTable([("com.mm.a", one), ("com.mm.b", "c")])
        let before = table.routes.count
        #expect(
            throws: RouteError.conflict(
                other, of: ModuleID(checked: "com.mm.a"), with: one,
                ofModule: ModuleID(checked: "com.mm.a"))
        ) {
            try table.add(.plain(other), of: ModuleID(checked: "com.mm.a"))
        }
        #expect(table.routes.count == before)
        // Another module may have the same relative pattern, but no absolute one.
        let isAbsolute = one.contains("://")
        #expect(
            (try? table.add(.plain(other), of: ModuleID(checked: "com.mm.b"))) == nil || !isAbsolute
        )
    }

    @Test("says a conflict in words")
    func conflictText() throws {
        let error = RouteError.conflict(
            "a/:x", of: ModuleID(checked: "com.mm.b"), with: "a/:y",
            ofModule: ModuleID(checked: "com.mm.a"))
        #expect(
            error.description
                == "route 'a/:x' of com.mm.b answers the same URLs as 'a/:y' of com.mm.a; "
                + "leave one of them out")
    }

    static let neighbours: [(String, String)] = [
        ("a/b", "a/b/c"), ("a/:x", "a/*"), ("a/:x", "a/:x.h"), ("a", "A"), ("app:///H", "app:///h"),
    ]

    @Test("takes routes that differ in one URL", arguments: neighbours)
    func neighbour(one: String, other: String) throws {
        #expect(try RouteTable(one, other).routes.count == 2)
    }

    @Test("the index of a removed route finds nothing, also when its module has added another one")
    func removedIndex() throws {
        var table = try RouteTable("kept")
        let m = ModuleID(checked: "m")
        let first = try table.add(.plain("a"), of: m)
        let second = try table.add(.plain("b"), of: m)
        table.remove(first)
        let third = try table.add(.plain("c"), of: m)
        #expect(table[first] == nil && table.remove(first) == nil)
        #expect(table[second]?.route.pattern.text == "b")
        #expect(table[third]?.route.pattern.text == "c")
        #expect(table.routes.map(\.route.pattern.text) == ["kept", "b", "c"])
    }

    @Test("removes exactly one route")
    func remove() throws {
        var table = try RouteTable("a", "a/b", "a/b/c", "a/:x", "a/*")
        let m = ModuleID(checked: "m")
        let before = table
        #expect(table.remove("a/b", of: m)?.route.pattern.text == "a/b")
        #expect(table.remove("a/b", of: m) == nil)
        #expect(table.remove("a", of: ModuleID(checked: "other")) == nil)
        #expect(table.answer("s://a/b") == "m a/:x")
        #expect(table.answer("s://a/b/c") == "m a/b/c")
        #expect(table.answer("s://a") == "m a")
        // Who searches in the table of before sees nothing of it.
        #expect(before.answer("s://a/b") == "m a/b")
        try table.add(.plain("a/b"), of: m)
        #expect(table.answer("s://a/b") == "m a/b")
    }

    @Test("does not grow with routes that come and go")
    func churn() throws {
        var table = try RouteTable("kept/:id")
        let m = ModuleID(checked: "m")
        for number in 0..<2_000 {
            let index = try table.add(.plain("page\(number)/:id(/x)"), of: m)
            #expect(table.remove(index) != nil)
        }
        #expect(table.answer("s://kept/1") == "m kept/:id")
        #expect(table.contents.trie.nodes.count < 1_000)
        #expect(table.contents.entriesByModule.map(\.count) == [1])
    }

    @Test("is not rebuilt for all modules each time that the routes of one are replaced")
    func rebuilds() throws {
        let modules = (0..<500).map { ModuleID(checked: "m\($0)") }
        var table = try RouteTable(schemes: ["s"], modules: modules)
        for _ in 0..<400 { table.remove(try table.add(.plain("page/:id"), of: modules[7])) }
        #expect(table.contents.variants.count == 400)
        for _ in 0..<200 { table.remove(try table.add(.plain("page/:id"), of: modules[7])) }
        #expect(table.contents.variants.count < 200)
    }

    @Test("refuses a route of a module that is not there")
    func unknownModule() throws {
        var table = try RouteTable("a")
        let module = ModuleID(checked: "com.mm.gone")
        #expect(throws: RouteError.unknownModule(module)) { try table.add(.plain("b"), of: module) }
    }
}

@Suite("Rewrites")
struct RouteRewritesTests {
    static func table(_ rewrites: [(String, String)]) throws(RouteError) -> RouteTable {
        try RouteTable(
            schemes: ["slate"], [("com.mm.web", "https://*"), ("com.mm.a", "detail/:id")],
            rewrites: rewrites)
    }

    static let rows: [(from: String, to: String, url: String, result: String)] = [
        (
            "slate://detail/:id", "https://www.example.com/detail?id=:id", "slate://detail/7",
            "https://www.example.com/detail?id=7"
        ),
        (
            "slate://detail/:id", "https://e.com/:id.html", "slate://detail/a%2Fb",
            "https://e.com/a%2Fb.html"
        ),
        (
            "slate://old/*", "https://e.com/new/*", "slate://old/a/b%20c",
            "https://e.com/new/a/b%20c"
        ),
        ("slate://old/*rest", "https://e.com/*rest", "slate://old", "https://e.com/"),
        // The rest of the query and the fragment go along.
        ("slate://a", "https://e.com/a", "slate://a?x=%20&y#f", "https://e.com/a?x=%20&y#f"),
        (
            "slate://a/:id", "https://e.com/a?id=:id", "slate://a/1?id=evil&x=2",
            "https://e.com/a?id=1&x=2"
        ),
        ("slate://a", "https://e.com/a?x=1#g", "slate://a?x=2&y=3#f", "https://e.com/a?x=1&y=3#g"),
        // A value cannot become more than a value.
        (
            "slate://a/:id", "https://e.com/a?id=:id", "slate://a/1%26admin=1",
            "https://e.com/a?id=1%26admin%3D1"
        ),
        ("slate://nothing", "https://e.com/", "slate://other", "slate://other"),
    ]

    @Test("rewrites", arguments: rows)
    func rewrite(from: String, to: String, url: String, result: String) throws {
        let rewrites = try RouteRewrites([Slatefile.Rewrite(from: from, to: to)])
        #expect(try rewrites.apply(to: RouteURL(url)).text == result)
    }

    @Test("applies the most specific, and one after the other, eight at most")
    func chain() throws {
        let steps = (0..<8).map { ("slate://r\($0)", "slate://r\($0 + 1)") }
        #expect(
            try Self.table(steps + [("slate://:any/x", "slate://r0")]).answer("slate://r0")
                == "notFound")
        let web = ("slate://r8", "https://e.com/")
        #expect(
            try Self.table(Array(steps.dropFirst()) + [web]).answer("slate://r1")
                == "com.mm.web https://*")
        #expect(
            try Self.table(steps + [web]).answer("slate://r0")
                == "the rewrites never end: slate://r0 → slate://r1 → slate://r2 → slate://r3 → "
                + "slate://r4 → slate://r5 → slate://r6 → slate://r7 → slate://r8")
    }

    @Test("prints a loop, without what the query says")
    func loop() throws {
        let table = try Self.table([("slate://a", "slate://b?x=1"), ("slate://b", "slate://a")])
        #expect(table.answer("slate://a?secret=1").contains("slate://a → slate://b → slate://a"))
        #expect(!table.answer("slate://a?secret=1").contains("secret"))
    }

    static let errors: [(from: String, to: String, message: String)] = [
        (
            "a", "s://b",
            "rewrite from 'a' to 's://b': 'from' has no scheme; begin it with one, such as slate://"
        ),
        (
            "s://a/:id", "s://b/:di",
            "rewrite from 's://a/:id' to 's://b/:di': 'from' does not always bind ':di'; did you mean ':id'?"
        ),
        (
            "s://a(/:id)", "s://b/:id",
            "rewrite from 's://a(/:id)' to 's://b/:id': 'from' does not always bind ':id'"
        ),
        (
            "s://a", "s://b/ c",
            "rewrite from 's://a' to 's://b/ c': 'to' is a malformed URL: byte 6 is a space; write it as %20"
        ),
        (
            "s://a/:id", "s://b?token=:id",
            "rewrite from 's://a/:id' to 's://b?token=•••': 'to' has the query item 'token', which only callers give; leave it out"
        ),
    ]

    @Test(
        "refuses a target with a token, and does not show it",
        arguments: ["s://b?token=secret", "s://b?x&%74oken=secret", "s://b/ ?token=secret"])
    func token(to: String) {
        do {
            _ = try Self.table([("s://a", to)])
            Issue.record("taken")
        } catch {
            #expect(error.description.contains("=•••': 'to' "))
            #expect(!error.description.contains("secret"))
        }
    }

    @Test("says what is wrong with a rewrite", arguments: errors)
    func error(from: String, to: String, message: String) {
        do {
            _ = try Self.table([(from, to)])
            Issue.record("taken")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test("refuses two from the same URLs")
    func repeated() {
        #expect(throws: RouteError.rewrite(from: "s://:y", to: "s://c", .repeated)) {
            try Self.table([("s://:x", "s://b"), ("s://:y", "s://c")])
        }
    }
}

@Suite("Not found")
struct RouteNotFoundTests {
    static let rows: [(url: String, nearest: String?)] = [
        ("slate://userInf", "slate://userInfo"),
        ("slate://com.mm.comunity/userInfo", "slate://com.mm.community/userInfo"),
        ("slate://com.mm.community/user/anna/post", "slate://com.mm.community/user/:name/posts"),
        ("slat://userInfo", "slate://userInfo"), ("slate://secret/pag", nil),
        ("slate://nothing/like/it", nil),
    ]

    @Test("offers the nearest route that the caller can reach", arguments: rows)
    func offer(url: String, nearest: String?) throws {
        var table = try RouteTable(
            schemes: ["slate"],
            [("com.mm.community", "userInfo"), ("com.mm.community", "user/:name/posts")])
        try table.add(
            .plain("secret/page", access: .local), of: ModuleID(checked: "com.mm.community"))
        let error = table.notFound(try RouteURL(url + "?q=1")) { $0.route.access == .public }
        #expect(error == .notFound(url: url, nearest: nearest))
        #expect(
            error.description == "no route for '\(url)'"
                + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
    }

    @Test(
        "says which segment is not of the type that the nearest route requires",
        arguments: [
            ("s://m/report/ten", ": 'ten' is not an int; did you mean 's://m/report/:rows<int>'?"),
            ("s://m/day/ten.txt", ": 'ten' is not a date; did you mean 's://m/day/:at<date>.txt'?"),
            ("s://m/repotr/10", "; did you mean 's://m/report/:rows<int>'?"),
        ])
    func offerWithType(url: String, rest: String) throws {
        let table = try RouteTable("report/:rows<int>", "day/:at<date>.txt")
        let error = table.notFound(try RouteURL(url)) { _ in true }
        #expect(error.description == "no route for '\(url)'" + rest)
    }
}
