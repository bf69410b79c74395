import TestSupport
import Testing

@testable import ModuleHostCore

/// Two absolute patterns, and some that are relative.
final class ListedModule: RoutedModule {
    init(context: ModuleContext) {}

    static var routes: [Route<ListedModule>] {
        [
            Route("page/:id", access: .public) { _, _ in },
            Route("other://open/:id", access: .public) { _, _ in },
            Route("https://*") { _, _ in },
        ]
    }
}

/// One error of each kind that a route can have, and between them one that is right.
final class FaultyRoutesModule: RoutedModule {
    init(context: ModuleContext) {}

    static var routes: [Route<FaultyRoutesModule>] {
        [
            Route("a b") { _, _ in },
            Route("same/:id") { _, _ in },
            Route("same/:other") { _, _ in },
            Route("other://open/:name") { _, _ in },
            Route("*/more") { _, _ in },
            Route("elsewhere", action: "same/:id") { _, _ in },
        ]
    }
}

@Suite("Routes of a slatefile")
struct StaticRoutesTests {
    /// A slatefile with a main module first.
    static func text(_ modules: [String], rewrites: [String] = [], more: String = "") -> String {
        let main =
            #"{ "id": "x.main", "entry": "ModuleHostTests.ProbeModule", "main": true, "#
            + #""config": { "probe": "none" } }"#
        return """
            { "slate": 1, "app": "a", "schemes": ["slate"], \(more)"modules": [
            \(([main] + modules).joined(separator: ",\n"))
            ], "rewrites": [
            \(rewrites.joined(separator: ",\n"))
            ] }
            """
    }

    static func module(_ id: String, _ type: String, _ more: String = "") -> String {
        #"{ "id": "\#(id)", "entry": "ModuleHostTests.\#(type)"\#(more) }"#
    }

    static func read(_ text: String) throws -> Slatefile {
        try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
    }

    static func diagnostics(_ text: String) -> [String] {
        Slatefile.diagnostics(of: text, checkEntry: EntryUse.checkAgainstBinary())
    }

    @Test("are those of its enabled modules, with its rewrites, its fallback and its schemes")
    func table() throws {
        let slatefile = try Self.read(
            Self.text(
                [
                    Self.module("x.listed", "ListedModule"),
                    Self.module("x.off", "ListedModule", #", "enabled": false"#),
                ],
                rewrites: [#"{ "from": "slate://p/:id", "to": "slate://page/:id" }"#],
                more: #""fallback": "x.listed", "#))
        let table = try RouteTable(of: slatefile)
        #expect(
            table.routes.map { "\($0.module) \($0.route.pattern)" } == [
                "x.listed page/:id", "x.listed other://open/:id", "x.listed https://*",
            ])
        #expect(table.modules.map(\.text) == ["x.main", "x.listed"])
        #expect(table.fallback?.text == "x.listed")
        #expect(table.schemes == ["slate"])
        #expect(table.answer("slate://p/7") == "x.listed page/:id")
        #expect(table.answer("other://page/7") == "x.listed page/:id")
        #expect(table.answer("slate://x.listed/page/7") == "x.listed page/:id")
        #expect(table.answer("slate://x.main/page/7") == "notFound")
    }

    @Test("leave out commands and modules in a process of their own, which keep their places")
    func isolated() throws {
        let table = try RouteTable(
            of: Self.read(
                Self.text([
                    Self.module("x.apart", "ListedModule", #", "isolation": "process""#),
                    #"{ "id": "x.command", "command": ["true"] }"#,
                ])))
        #expect(table.routes.isEmpty)
        #expect(table.modules.map(\.text) == ["x.main", "x.apart", "x.command"])
    }

    @Test("every error of a route stands at the entry of its module")
    func faultyRoutes() {
        let text = Self.text([
            Self.module("x.listed", "ListedModule"),
            Self.module("x.faulty", "FaultyRoutesModule"),
            Self.module("x.again", "ListedModule"),
            Self.module("x.off", "FaultyRoutesModule", #", "enabled": false"#),
        ])
        #expect(
            Self.diagnostics(text) == [
                "line 4, column 30: pattern 'a b': byte 1 is a space; write it as %20",
                "line 4, column 30: route 'same/:other' of x.faulty answers the same URLs as "
                    + "'same/:id' of x.faulty; leave one of them out",
                "line 4, column 30: route 'other://open/:name' of x.faulty answers the same URLs as "
                    + "'other://open/:id' of x.listed; leave one of them out",
                "line 4, column 30: pattern '*/more': the '*' at byte 0 does not begin the last "
                    + "segment; for the sign itself write %2A",
                "line 4, column 30: x.faulty has two routes under the action 'same/:id'; give one another name",
                "line 5, column 29: route 'other://open/:id' of x.again answers the same URLs as "
                    + "'other://open/:id' of x.listed; leave one of them out",
                "line 5, column 29: route 'https://*' of x.again answers the same URLs as "
                    + "'https://*' of x.listed; leave one of them out",
            ])
    }

    @Test("a module whose id is taken, or none, does not seem to repeat its routes")
    func repeatedID() {
        let text = Self.text([
            Self.module("x.listed", "ListedModule"), Self.module("x.listed", "ListedModule"),
            Self.module("x", "FaultyRoutesModule"),
        ])
        #expect(
            Self.diagnostics(text).map { String($0.prefix(44)) } == [
                "line 4, column 9: module id 'x.listed' is al",
                "line 5, column 9: 'x' is not a reverse-domai",
                "line 5, column 23: pattern 'a b': byte 1 is ",
                "line 5, column 23: pattern '*/more': the '*'",
            ])
    }

    @Test("every rewrite that cannot be applied is an error where it is wrong")
    func rewrites() {
        let rewrites = [
            #"{ "from": "slate://p/:id", "to": "slate://page/:ib" }"#,
            #"{ "from": "slate://:a/:a", "to": "slate://page" }"#,
            #"{ "from": "slate://q", "to": "slate://a b" }"#,
            #"{ "from": "slate://r/:id", "to": "slate://page/:id" }"#,
            #"{ "to": "slate://page", "from": "slate://r/:other" }"#,
        ]
        #expect(
            Slatefile.diagnostics(of: Self.text([], rewrites: rewrites)) == [
                "line 4, column 34: 'from' does not always bind ':ib'; did you mean ':id'?",
                "line 5, column 11: pattern 'slate://:a/:a': the name 'a' at byte 11 is there already",
                "line 6, column 30: 'to' is a malformed URL: byte 9 is a space; write it as %20",
                "line 8, column 33: another rewrite is from the same URLs; leave one of them out",
            ])
    }

    @Test(
        "without a check of entries, the table reports every error; an unknown class has no routes")
    func unchecked() throws {
        func table(_ modules: [String]) throws -> RouteTable {
            try RouteTable(
                of: Slatefile.read(
                    Array(Self.text(modules).utf8), path: "s", environment: { _ in nil }))
        }
        let none = Self.module("x.none", "NoSuchModule")
        #expect(
            try table([none, Self.module("x.listed", "ListedModule")]).routes.map(\.module.text)
                == ["x.listed", "x.listed", "x.listed"])
        let error = #expect(throws: RouteTableError.self) {
            try table([none, Self.module("x.faulty", "FaultyRoutesModule")])
        }
        #expect(error?.diagnostics.count == 4)
        #expect(
            error?.description.hasPrefix(
                "pattern 'a b': byte 1 is a space; write it as %20; route 'same/:other' of ")
                == true)
    }
}
