import TestSupport
import Testing

@testable import ModuleHostCore

/// The choices of a search, in memory whose size is known before the search begins.
@Suite("RouteSearch")
struct RouteSearchTests {
    /// The result of a search that was continued to its end.
    struct Run {
        /// The patterns of the candidates, in order.
        var patterns: [String] = []
        /// The number of choices that were in memory at once.
        var choiceCount = 0
        var choiceLimit = 0
    }

    /// Searches below the root of the first module to the end, with more memory than the limit.
    func run(_ url: String, _ table: RouteTable, first: Int = 0) throws -> Run {
        let root = table.contents.moduleRoots[0]
        let url = try RouteURL(url)
        return table.contents.withView { view in
            url.withBytes { bytes in
                let unused = RouteSearch.Choice(node: -2, next: -2, depth: 0, stage: .rest)
                var run = Run(choiceLimit: RouteSearch.choiceLimit(bytes))
                var memory = [RouteSearch.Choice](repeating: unused, count: run.choiceLimit + 64)
                memory.withUnsafeMutableBufferPointer { choices in
                    var search = RouteSearch(view.trie, bytes, choices)
                    if first > 0 { search.prepare(first: first, isFolded: false) }
                    search.begin(at: root)
                    while case let found = search.next(), found >= 0 {
                        run.patterns.append(
                            view.variants[Int(found)].entry?.route.pattern.text ?? "removed")
                    }
                }
                run.choiceCount = (memory.lastIndex { $0.node != unused.node } ?? -1) + 1
                return run
            }
        }
    }

    /// A table whose nodes on the way of `a.h/a.h/…` have a child of each kind, and the patterns in the order in which
    /// they answer that URL.
    func everyKind(_ count: Int) throws -> (table: RouteTable, patterns: [String]) {
        func path(_ literals: Int, _ rest: String...) -> String {
            (Array(repeating: "a.h", count: literals) + rest).joined(separator: "/")
        }
        func open(_ depth: Int) -> [String] {
            [path(depth, ":p.h", "*r"), path(depth, ":q", "*r"), path(depth, "*r")]
        }
        let patterns =
            [path(count), path(count, "*r")] + (1..<count).reversed().flatMap(open)
            + ["A.h/*r", "a.H/*r"] + open(0)
        // A pattern has as many segments as a URL, and its catch-all is one of them.
        let whole = patterns.filter { $0.split(separator: "/").count <= RouteURL.Limits.segments }
        var generator = SeededGenerator(seed: UInt64(count))
        let routes = whole.shuffled(using: &generator).map { ("m", $0) }
        return (try RouteTable(routes), whole)
    }

    @Test("has memory for the choices of the longest URL", arguments: [1, 2, 3, 17, 64])
    func mostChoices(count: Int) throws {
        let (table, patterns) = try everyKind(count)
        let path = Array(repeating: "a.h", count: count).joined(separator: "/")
        let folded = try run("s://\(path)", table)
        #expect(folded.patterns == patterns)
        // Less would not do, but where no pattern has a catch-all behind the last segment.
        let most = folded.choiceLimit - (count == RouteURL.Limits.segments ? 1 : 0)
        #expect(folded.choiceCount == most)
        let exact = try run("s:/\(path)", table)
        #expect(exact.patterns == patterns.filter { $0 != "A.h/*r" && $0 != "a.H/*r" })
        #expect(exact.choiceCount == most - 1)
    }

    @Test("has memory for the choices of a URL without segments")
    func noSegments() throws {
        let run = try run("s:", RouteTable("/", "*r", ":x", ":x.h", "a"))
        #expect(run.patterns == ["/", "*r"])
        #expect(run.choiceCount < run.choiceLimit)
    }

    @Test("has memory for the choices in random tables")
    func random() throws {
        var generator = SeededGenerator(seed: 20_261_125)
        for _ in 0..<1_000 {
            var table = try RouteTable(schemes: ["s"], modules: [ModuleID(checked: "m")])
            for _ in 0..<16 {
                // Some are malformed, or in conflict with one before.
                if let route = try? AnyRoute.plain(RouteTableModelTests.pattern(&generator)) {
                    _ = try? table.add(route, of: ModuleID(checked: "m"))
                }
            }
            for _ in 0..<10 {
                let address = RouteTableModelTests.address(&generator)
                let url = RouteTableModelTests.write(address, &generator)
                for first in 0...min(1, address.segments.count) {
                    let run = try run(url, table, first: first)
                    if run.choiceCount > run.choiceLimit {
                        Issue.record("\(url): \(run) of \(table.routes.map(\.route.pattern.text))")
                    }
                }
            }
        }
    }
}
