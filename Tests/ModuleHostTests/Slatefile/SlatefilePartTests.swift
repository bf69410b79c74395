import TestSupport
import Testing

@testable import ModuleHostCore

/// The part of a slatefile that a program has which was composed for one module.
@Suite("A part of a slatefile")
struct SlatefilePartTests {
    private static let text = """
        {"slate": 1, "app": "a", "schemes": ["a"], "fallback": "x.web", "modules": [
          {"id": "x.main", "entry": "A.Main", "main": true},
          {"id": "x.store", "entry": "A.Store"},
          {"id": "x.user", "entry": "A.User", "needs": ["x.store"]},
          {"id": "x.news", "entry": "A.News", "needs": ["x.user"]},
          {"id": "x.old", "entry": "A.Old", "enabled": false},
          {"id": "x.web", "entry": "A.Web"}
        ]}
        """

    private func read(
        _ part: SlatefilePart?, _ checkEntry: ((EntryUse) -> [EntryDiagnostic])? = nil
    ) throws -> Slatefile {
        try Slatefile.read(
            Array(Self.text.utf8), path: "s.json", environment: { _ in nil },
            checkEntry: checkEntry, part: part)
    }

    @Test("a module and what it needs, directly or not")
    func needs() throws {
        let whole = try read(nil)
        #expect(whole.needs(of: "x.news") == ["x.news", "x.user", "x.store"])
        #expect(whole.needs(of: "x.web") == ["x.web"])
        #expect(whole.needs(of: "x.old") == nil)
        #expect(whole.needs(of: "x.nws") == nil)
    }

    @Test("the others are not enabled, and the module is main, root or not")
    func part() throws {
        var uses: [(String, Bool)] = []
        let slatefile = try read(SlatefilePart(["x.user", "x.store"])) { use in
            uses.append((use.entry, use.isMain))
            return []
        }
        #expect(slatefile.modules.filter(\.isEnabled).map(\.id.text) == ["x.store", "x.user"])
        #expect(
            slatefile.modules.filter(\.isLeftOut).map(\.id.text)
                == ["x.main", "x.news", "x.old", "x.web"])
        #expect(slatefile.modules.filter(\.isMain).map(\.id.text) == ["x.user"])
        #expect(slatefile.fallback == nil)
        #expect(uses.map(\.0) == ["A.Store", "A.User"])
        #expect(uses.allSatisfy { !$0.1 })
        #expect(SlatefilePart([]) == nil)
    }

    @Test("a need that was added since the program was composed is an error")
    func addedNeed() throws {
        let error = try #require(throws: SlatefileError.self) {
            try read(SlatefilePart(["x.news", "x.user"]))
        }
        #expect(error.diagnostics.map(\.message) == ["module 'x.store' is not enabled"])
    }

    @Test("calls of the others are refused with the reason")
    func calls() throws {
        let table = try RouteTable(of: try read(SlatefilePart(["x.user", "x.store"])))
        let reason =
            "x.news cannot be called now: it is not part of this app, which was composed with --only x.user"
        #expect(table.leftOut?.error(for: "x.news")?.description == reason)
        #expect(
            table.notFound(try RouteURL("a://x.news/b?c=1")) { _ in true }.description == reason)
        #expect(table.leftOut?.error(for: "x.user") == nil)
        #expect(
            table.notFound(try RouteURL("a://x.user/b")) { _ in true }.description
                == "no route for 'a://x.user/b'")
        #expect(try RouteTable(of: read(nil)).leftOut == nil)
    }
}
