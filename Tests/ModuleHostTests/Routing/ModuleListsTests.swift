import TestSupport
import Testing

@testable import ModuleHostCore

/// The lists of modules to search: their order, and how many modules a search takes.
@Suite("ModuleLists")
struct ModuleListsTests {
    /// An order in which modules are added.
    enum Order: CaseIterable {
        case ascending, descending, lastFirst, alternating, random

        func positions(_ count: Int) -> [Int] {
            var generator = SeededGenerator(seed: 20_261_126)
            let all = Array(0..<count)
            return switch self {
            case .ascending: all
            case .descending: all.reversed()
            case .lastFirst: [count - 1] + all.dropLast()
            case .alternating: all.map { $0.isMultiple(of: 2) ? $0 / 2 : count - 1 - $0 / 2 }
            case .random: all.shuffled(using: &generator)
            }
        }
    }

    /// Returns the positions in a list, in its order.
    private func positions(_ lists: ModuleLists, _ first: Int32) -> [Int] {
        var positions: [Int] = []
        var item = first
        while item >= 0 {
            positions.append(Int(lists.items[Int(item)].position))
            item = lists.items[Int(item)].next
        }
        return positions
    }

    @Test("a list is in order, whatever the order of insertions", arguments: Order.allCases)
    func insertions(order: Order) {
        var lists = ModuleLists()
        var first = ModuleLists.none
        for position in order.positions(4_096) {
            #expect(!lists.contains(position, at: 7))
            first = lists.insert(position, RouteTrie.NodeIndex(position), at: 7)
        }
        #expect(positions(lists, first) == Array(0..<4_096))
        #expect(lists.count(at: 7) == 4_096)
        #expect((0..<4_096).allSatisfy { lists.contains($0, at: 7) })
        #expect(!lists.contains(4_096, at: 7))
        #expect(!lists.contains(0, at: 8))
    }

    @Test("merged lists have each module once, in order")
    func merged() {
        var generator = SeededGenerator(seed: 20_261_127)
        for _ in 0..<300 {
            var lists = ModuleLists()
            var firsts: [Int32] = []
            var all: Set<Int> = []
            for node in 0..<Int.random(in: 0...5, using: &generator) {
                var first = ModuleLists.none
                for position in Array(0..<30).shuffled(using: &generator)
                    .prefix(Int.random(in: 0...12, using: &generator))
                {
                    first = lists.insert(
                        position, RouteTrie.NodeIndex(position), at: RouteTrie.NodeIndex(node))
                    all.insert(position)
                }
                firsts.append(first)
            }
            let found = lists.items.withUnsafeBufferPointer { items in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: firsts.count) { heads in
                    var merged = ModuleLists.Merged(items, heads)
                    for first in firsts { merged.add(first) }
                    var found: [Int] = []
                    while case let root = merged.next(), root >= 0 { found.append(Int(root)) }
                    return found
                }
            }
            #expect(found == all.sorted())
        }
    }

    // MARK: In a table

    /// Returns the number of modules that are searched for a URL that names none, if none answers.
    private func searchedCount(_ url: String, _ table: RouteTable) throws -> Int {
        let url = try RouteURL(url)
        return table.contents.withView { view in
            url.withBytes { bytes in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: bytes.segmentCount + 1) {
                    var modules = ModuleLists.Merged(view.listedModules, $0)
                    view.addLists(
                        for: bytes, view.firstName(bytes[0], bytes[0].foldedHash), to: &modules)
                    var count = 0
                    while modules.next() >= 0 { count += 1 }
                    return count
                }
            }
        }
    }

    /// A table of modules that each have one pattern, added in no order.
    private func table(_ count: Int, _ pattern: (Int) -> String) throws -> RouteTable {
        var table = try RouteTable(
            schemes: ["s"], modules: (0..<count).map { ModuleID(checked: "com.mm.m\($0)") })
        for position in Order.random.positions(count) {
            try table.add(.plain(pattern(position)), of: ModuleID(checked: "com.mm.m\(position)"))
        }
        return table
    }

    @Test(
        "a URL is searched in few modules that share no more than its start",
        arguments: [
            ("shared/item", 9), ("api/v1/shared/item", 25), ("a/b/c/d/e/f/g/h/item", 65),
        ])
    func sharedStart(start: String, limit: Int) throws {
        for count in [200, 2_000] {
            let table = try table(count) { "\(start)\($0)/:id" }
            for number in [0, count / 2, count - 1] {
                let url = "s://\(start)\(number)/7"
                #expect(try searchedCount(url, table) <= limit)
                #expect(table.answer(url) == "com.mm.m\(number) \(start)\(number)/:id")
            }
            #expect(try searchedCount("s://\(start)/7", table) <= limit)
            #expect(table.answer("s://\(start)/7") == "notFound")
        }
    }

    @Test("the order of the slatefile decides, however much of the URL a pattern spells out")
    func order() throws {
        let table = try table(100) { number in
            switch number {
            case 40: "shared/:any/:id"
            case 41: "shared/*rest"
            case 50: ":first/item60/:id"
            case 51: "*rest"
            default: "shared/item\(number < 90 ? number : 60)/:id"
            }
        }
        func answer(_ url: String, without refused: Set<Int>) throws -> String? {
            try table.match(RouteURL(url)) { entry, _ in !refused.contains(entry.position) }
                .map { "\($0.entry.position)" }
        }
        #expect(try answer("s://shared/item30/7", without: []) == "30")
        var refused: Set<Int> = []
        for expected in [40, 41, 50, 51, 60] + Array(90..<100) {
            #expect(try answer("s://Shared/item60/7", without: refused) == "\(expected)")
            refused.insert(expected)
        }
        #expect(try answer("s://shared/item60/7", without: refused) == nil)
    }

    @Test("a module whose routes are replaced is listed once")
    func again() throws {
        var table = try table(40) { "shared/item\($0)" }
        let listed = table.contents.moduleLists.items.count
        for _ in 0..<3 {
            for entry in table.routes.reversed() {
                table.remove(entry.index)
                try table.add(entry.route, of: entry.module)
            }
        }
        #expect(table.contents.moduleLists.items.count == listed)
        for number in 0..<40 {
            #expect(
                table.answer("s://shared/item\(number)") == "com.mm.m\(number) shared/item\(number)"
            )
        }
    }
}
