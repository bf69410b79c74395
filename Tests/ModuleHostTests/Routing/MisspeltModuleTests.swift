import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Dialect: an authority with a dot that is not the id of a module")
struct MisspeltModuleTests {
    static let routes: [(module: String, pattern: String)] = [
        ("com.rows.shop", "cart"), ("com.rows.shop", "item/:id"), ("com.rows.shop", "/"),
        ("com.rows.pages", "www.example.com/about"), ("com.rows.pages", ":page.html"),
        ("com.rows.pages", "slate://news.example.com/today"),
        ("com.rows.browser", "*"), ("com.rows.browser", "https://*"),
    ]

    static func table() throws -> RouteTable {
        try RouteTable(schemes: ["slate"], routes, fallback: "com.rows.browser")
    }

    static let answers: [(url: String, expected: String)] = [
        // Neither a catch-all nor the fallback takes it.
        ("slate://com.rows.shp/cart", "notFound"), ("slate://com.rows.shp", "notFound"),
        ("slate://COM.Rows.Shp/cart", "notFound"), ("slate://com%2Erows.shp/cart", "notFound"),
        ("slate://1.2/x", "notFound"), ("slate://a.b:80/x", "notFound"),
        // A pattern begins with it: a literal, a suffix, or an absolute one of its scheme.
        ("slate://www.example.com/about", "com.rows.pages www.example.com/about"),
        ("slate://WWW.example.com/other", "com.rows.browser *"),
        ("slate://index.html", "com.rows.pages :page.html"),
        ("slate://index.html/x", "com.rows.browser *"), ("slate://.html/x", "notFound"),
        ("slate://news.example.com/today", "com.rows.pages slate://news.example.com/today"),
        ("slate://news.example.com/x", "com.rows.browser *"),
        // Without a dot, as a path, or in another scheme it cannot be meant as the id of a module.
        ("slate://shop/cart", "com.rows.browser *"),
        ("slate:/com.rows.shp/cart", "com.rows.browser *"),
        ("https://com.rows.shp/cart", "com.rows.browser https://*"),
        ("ftp://com.rows.shp/cart", "com.rows.browser *"),
        // The module itself.
        ("slate://com.rows.shop/cart", "com.rows.shop cart"),
    ]

    @Test("is matched only by patterns that begin with it", arguments: answers)
    func answer(url: String, expected: String) throws {
        #expect(try Self.table().answer(url) == expected)
    }

    @Test("does not depend on routes that were removed")
    func removed() throws {
        var table = try Self.table()
        #expect(
            table.remove("www.example.com/about", of: ModuleID(checked: "com.rows.pages")) != nil)
        #expect(table.answer("slate://www.example.com/other") == "notFound")
        try table.add(.plain("www.example.com/x"), of: ModuleID(checked: "com.rows.shop"))
        #expect(table.answer("slate://www.example.com/other") == "com.rows.browser *")
    }

    @Test("does not depend on suffixes that were removed; others of the same length remain")
    func removedSuffix() throws {
        var table = try Self.table()
        let pages = ModuleID(checked: "com.rows.pages")
        try table.add(.plain(":page.json"), of: pages)
        #expect(table.remove(":page.html", of: pages) != nil)
        #expect(table.answer("slate://index.html/x") == "notFound")
        #expect(table.answer("slate://index.json/x") == "com.rows.browser *")
        #expect(table.remove(":page.json", of: pages) != nil)
        #expect(table.answer("slate://index.json/x") == "notFound")
    }

    @Test("patterns that the caller cannot reach make no difference")
    func hidden() throws {
        var table = try RouteTable(schemes: ["slate"], [("com.rows.browser", "*")])
        try table.add(
            .plain("v1.0/users", access: .local), of: ModuleID(checked: "com.rows.browser"))
        let url = try RouteURL("slate://v1.0/other")
        let isPublic = { (entry: RouteTable.Entry) in entry.route.access == .public }
        #expect(try table.match(url) != nil)
        #expect(
            try table.match(url, reachable: isPublic, where: { entry, _ in isPublic(entry) }) == nil
        )
    }

    @Test("a route behind a predicate is not asked for it")
    func predicate() throws {
        let table = try Self.table()
        var asked: [String] = []
        _ = try table.match(RouteURL("slate://com.rows.shp/cart")) { entry, _ in
            asked.append(entry.route.pattern.text)
            return true
        }
        #expect(asked == [])
    }

    static let hints: [(url: String, nearest: String?)] = [
        ("slate://com.rows.shp/cart", "slate://com.rows.shop/cart"),
        ("slate://com.rows.shp/item/7", "slate://com.rows.shop/item/:id"),
        ("slate://com.rows.shp/crat", "slate://com.rows.shop/cart"),
        ("slate://com.rows.shp/x/y/z", "slate://com.rows.shop"),
        ("slate://com.rows.shp", "slate://com.rows.shop"),
        ("slate://com.rows.brwser/a%20b/c", "slate://com.rows.browser/*"),
        ("slate://org.else/cart", nil),
        // A catch-all resembles everything, and is not a hint.
        ("slate://com.rows.shop/something/else/entirely", nil),
    ]

    @Test("is not found, and offers the nearest module", arguments: hints)
    func hint(url: String, nearest: String?) throws {
        let error = try Self.table().notFound(RouteURL(url)) { _ in true }
        #expect(error == .notFound(url: url, nearest: nearest))
    }

    @Test("offers no module that the caller cannot reach")
    func hiddenHint() throws {
        let url = "slate://com.rows.shp/cart"
        let error = try Self.table().notFound(RouteURL(url)) { $0.module.text != "com.rows.shop" }
        #expect(error == .notFound(url: url, nearest: nil))
    }
}
