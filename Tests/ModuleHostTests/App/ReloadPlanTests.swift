import Testing

@testable import ModuleHostCore

/// What a reload comes to, for each thing that can be different in a slatefile.
@Suite("Reload plan")
struct ReloadPlanTests {
    private static let a = #"{"id": "x.a", "entry": "T.A", "main": true}"#
    private static let b = #"{"id": "x.b", "entry": "T.B", "config": {"n": 1}}"#
    private static let c = #"{"id": "x.c", "entry": "T.C"}"#

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var modules = [a, b, c]
        var top = ""
        var before = [a, b, c]
        /// Modules that take settings, read the app's, are overdue, or late and outdated.
        var takes: [String] = []
        var reads: [String] = []
        var overdue: [String] = []
        var outdated: [String] = []
        var expected: String
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "the same", expected: "nothing changed"),
        Row(
            name: "added", modules: [a, b, #"{"id": "x.d", "entry": "T.D"}"#, c],
            expected: "added x.d"),
        Row(name: "removed", modules: [a, c], expected: "removed x.b"),
        Row(
            name: "not enabled any more",
            modules: [a, b, #"{"id": "x.c", "entry": "T.C", "enabled": false}"#],
            expected: "removed x.c"),
        Row(
            name: "one in another's place",
            modules: [a, b, #"{"id": "x.d", "entry": "T.C"}"#],
            expected: "added x.d; removed x.c"),
        Row(name: "reordered", modules: [c, a, b], expected: "order of modules"),
        Row(
            name: "reordered around one that goes", modules: [c, a],
            expected: "removed x.b; order of modules"),
        Row(
            name: "a module that comes in between reorders no other",
            modules: [#"{"id": "x.d", "entry": "T.D"}"#, a, b, c], expected: "added x.d"),
        Row(
            name: "another class", modules: [a, b, #"{"id": "x.c", "entry": "T.D"}"#],
            takes: ["x.c"], expected: "recreated x.c"),
        Row(
            name: "another place to run",
            modules: [a, b, #"{"id": "x.c", "entry": "T.C", "isolation": "process"}"#],
            expected: "recreated x.c"),
        Row(
            name: "other variables of the environment",
            modules: [a, b, #"{"id": "x.c", "command": ["c"], "env": ["HOME"]}"#],
            before: [a, b, #"{"id": "x.c", "command": ["c"]}"#],
            expected: "recreated x.c"),
        Row(
            name: "other permissions",
            modules: [a, b, #"{"id": "x.c", "command": ["c"], "may": ["state"]}"#],
            before: [a, b, #"{"id": "x.c", "command": ["c"]}"#],
            expected: "adjusted x.c"),
        Row(
            name: "other needs",
            modules: [a, b, #"{"id": "x.c", "entry": "T.C", "needs": ["x.a"]}"#],
            expected: "adjusted x.c"),
        Row(
            name: "another level of the log",
            modules: [a, b, #"{"id": "x.c", "entry": "T.C", "logLevel": "debug"}"#],
            expected: "adjusted x.c"),
        Row(
            name: "another backlog",
            modules: [a, b, #"{"id": "x.c", "entry": "T.C", "backlog": 7}"#],
            expected: "adjusted x.c"),
        Row(
            name: "settings that are taken",
            modules: [a, #"{"id": "x.b", "entry": "T.B", "config": {"n": 2}}"#, c],
            takes: ["x.b"], expected: "config changed: x.b"),
        Row(
            name: "settings that are not taken",
            modules: [a, #"{"id": "x.b", "entry": "T.B", "config": {"n": 2}}"#, c],
            expected: "recreated x.b"),
        Row(
            name: "the app's settings", top: #""config": {"m": 2},"#, takes: ["x.a"],
            reads: ["x.a", "x.c"], expected: "recreated x.c; config"),
        Row(
            name: "the app's settings, of a late module", top: #""config": {"m": 2},"#,
            reads: ["x.c"], overdue: ["x.c"],
            expected: "to be recreated once they return: x.c; config"),
        Row(
            name: "settings, of a late module",
            modules: [a, #"{"id": "x.b", "entry": "T.B", "config": {"n": 2}}"#, c],
            overdue: ["x.b"], expected: "to be recreated once they return: x.b"),
        Row(
            name: "settings that a late module takes",
            modules: [a, #"{"id": "x.b", "entry": "T.B", "config": {"n": 2}}"#, c],
            takes: ["x.b"], overdue: ["x.b"], expected: "config changed: x.b"),
        Row(name: "one that was late", outdated: ["x.b"], expected: "recreated x.b"),
        Row(
            name: "a late one removed", modules: [a, c], overdue: ["x.b"], expected: "removed x.b"),
        Row(
            name: "other terms",
            modules: [
                a, #"{"id": "x.b", "entry": "T.B", "config": {"n": 1}, "deadline": "1s"}"#,
                #"{"id": "x.c", "entry": "T.C", "required": true, "backlog": 7}"#,
            ], expected: "adjusted x.b, x.c"),
        Row(
            name: "other terms of one made anew",
            modules: [a, b, #"{"id": "x.c", "entry": "T.D", "deadline": "1s"}"#],
            expected: "recreated x.c"),
        Row(
            name: "another main one",
            modules: [
                #"{"id": "x.a", "entry": "T.A"}"#, b,
                #"{"id": "x.c", "entry": "T.C", "main": true}"#,
            ], expected: "adjusted x.a, x.c"),
        Row(
            name: "all the rest",
            top: """
                "schemes": ["s"], "fallback": "x.c",
                "rewrites": [{"from": "s://a", "to": "s://b"}],
                "signals": {"USR1": {"event": "memory-warning"}},
                "deadlines": {"event": "1s"}, "security": {"tokens": "t.json"}, "isolation": "auto",
                "logLevel": "error",
                """,
            expected:
                "schemes, fallback, rewrites, signals, deadlines, security, isolation, logLevel"),
        Row(
            name: "what waits",
            top: #""app": "new", "startup": {"width": 1},"#,
            expected: "waits for the next start: app, startup"),
    ]

    @Test("says what becomes of each module, and of the rest", arguments: rows)
    func plan(_ row: Row) throws {
        let old = try Self.slatefile(row.before)
        let new = try Self.slatefile(row.modules, row.top)
        let isKnown = Set(old.modules.map(\.id))
        let others = Set((row.reads + row.outdated).map { ModuleID(checked: $0) })
        let plan = ReloadPlan(SlatefileDifference(from: old, to: new), besides: others) { module in
            guard isKnown.contains(module) else { return nil }
            let id = module.text
            return ReloadPlan.Running(
                takesSettings: row.takes.contains(id), readsAppSettings: row.reads.contains(id),
                isOverdue: row.overdue.contains(id), isOutdated: row.outdated.contains(id))
        }
        #expect("\(plan)" == row.expected)
        let isEmpty = row.expected == "nothing changed" || row.expected.hasPrefix("waits")
        #expect(plan.isEmpty == isEmpty)
    }

    struct LazyRow: Sendable, CustomTestStringConvertible {
        /// What the entry of `x.b` has beside its id and class.
        var before = ""
        var after: String
        var hasFailed = false
        /// Whether `x.n`, which needs `x.l`, comes with the reload.
        var hasNew = false
        var expected: String
        var testDescription: String { "\(before) to \(after): \(expected)" }
    }

    @Test(
        "a lazy module that is not made is made where one that runs needs it now",
        arguments: [
            LazyRow(after: #""needs": ["x.l"]"#, expected: "added x.l; adjusted x.b"),
            LazyRow(after: #""needs": ["x.l"]"#, hasFailed: true, expected: "adjusted x.b"),
            LazyRow(
                before: #""needs": ["x.l"]"#, after: #""needs": ["x.l"]"#, hasFailed: true,
                expected: "nothing changed"),
            LazyRow(
                before: #""needs": ["x.l"]"#, after: #""needs": ["x.l"], "config": {"n": 1}"#,
                hasFailed: true, expected: "added x.l; recreated x.b"),
            LazyRow(
                after: #""needs": ["x.n"]"#, hasNew: true,
                expected: "added x.l, x.n; adjusted x.b"),
            LazyRow(after: "", hasNew: true, expected: "on demand: x.n"),
        ])
    func lazyNeeds(_ row: LazyRow) throws {
        func lazy(_ name: String, _ more: String = "") -> String {
            let more = more.isEmpty ? "" : ", \(more)"
            return #"{"id": "x.\#(name)", "entry": "T.\#(name)", "launch": "lazy"\#(more)}"#
        }
        // `x.b` is lazy, too, and was made.
        let more = lazy("n", #""needs": ["x.l"]"#)
        let before = [Self.a, lazy("l")] + (row.hasNew ? [] : [more]) + [lazy("b", row.before)]
        let old = try Self.slatefile(before)
        let isMade: Set = ["x.a", "x.b"]
        let new = try Self.slatefile([Self.a, lazy("l"), more, lazy("b", row.after)])
        let plan = ReloadPlan(SlatefileDifference(from: old, to: new)) { module in
            guard isMade.contains(module.text) else { return nil }
            return ReloadPlan.Running(isFailed: row.hasFailed && module.text == "x.b")
        }
        #expect("\(plan)" == row.expected)
    }

    private static func slatefile(_ modules: [String], _ top: String = "") throws -> Slatefile {
        let app = top.contains(#""app""#) ? "" : #""app": "old", "#
        let text = """
            {"slate": 1, \(app)\(top) "modules": [\(modules.joined(separator: ",\n"))]}
            """
        return try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: { _ in [] })
    }
}
