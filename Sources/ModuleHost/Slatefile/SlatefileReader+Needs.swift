import AppService

/// The needs of the modules of a slatefile, collected in one pass over them.
struct WrittenNeeds {
    /// A need as it is written: its module by its position, and its node.
    struct Need {
        let module: Int
        let node: Int
    }

    /// By position of a module: the node of its id; nil without a valid one.
    var ids: [Int?] = []
    /// By position of a module: whether it is enabled.
    var isEnabled: [Bool] = []
    var needs: [Need] = []
}

extension SlatefileReader {
    /// The number of unknown ids for which the nearest one is searched among all modules.
    private static let nearestLimit = 8
    /// The number of modules that are listed of an order that would do.
    private static let shownOfOrder = 12

    /// Returns the needs of a module, each by its node, without those that are not an id.
    mutating func needs(_ node: Int) -> [Int] {
        let limit = (Slatefile.Limits.list, "needs" as StaticString)
        return elements(of: node, "an array of module ids", limit: limit).filter {
            moduleID($0) != nil
        }
    }

    /// Checks the needs against all modules.
    ///
    /// - Parameter written: The needs of all modules.
    /// - Returns: By position of a module: the modules that it needs, as their own entries spell them.
    mutating func resolve(_ written: WrittenNeeds, in names: NameIndex) -> [Int: [ModuleID]] {
        guard !written.needs.isEmpty else { return [:] }
        var positions: [Int: Int] = [:]
        for (position, node) in written.ids.enumerated() {
            if let node { positions[node] = position }
        }
        var resolved: [Int: [ModuleID]] = [:]
        var edges: [(need: NeedOrder.Need, node: Int)] = []
        var seen: (module: Int, needed: Set<Int>) = (-1, [])
        var unknown = 0
        for need in written.needs {
            guard let found = names.find(need.node, in: document), let needed = positions[found]
            else {
                unknown += 1
                reportUnknown(need, isSearched: unknown <= Self.nearestLimit, written.ids)
                continue
            }
            if seen.module != need.module { seen = (need.module, []) }
            if needed == need.module {
                report(.needOfItself, at: need.node)
            } else if !seen.needed.insert(needed).inserted {
                report(.repeatedWord(document.writtenString(need.node)), at: need.node)
            } else {
                let id = ModuleID(checked: document.writtenString(found))
                resolved[need.module, default: []].append(id)
                // Without the module nothing needs the other one, nor has it a place in the order.
                guard written.isEnabled[need.module] else { continue }
                guard written.isEnabled[needed] else {
                    report(.disabledModule(id.text), at: need.node)
                    continue
                }
                edges.append((NeedOrder.Need(module: need.module, needed: needed), need.node))
            }
        }
        checkOrder(of: edges, written)
        return resolved
    }

    private mutating func reportUnknown(
        _ need: WrittenNeeds.Need, isSearched: Bool, _ ids: [Int?]
    ) {
        guard hasRoom else { return }
        let text = document.writtenString(need.node)
        // A module does not need itself.
        let others = ids.enumerated().lazy.compactMap { $0 == need.module ? nil : $1 }
        let nearest =
            isSearched ? nearestName(to: text, in: others.map(document.writtenString)) : nil
        report(.unknownModule(text, nearest: nearest), at: need.node)
    }

    private mutating func checkOrder(
        of edges: [(need: NeedOrder.Need, node: Int)], _ written: WrittenNeeds
    ) {
        let order = NeedOrder(count: written.ids.count, needs: edges.map(\.need))
        func id(_ module: Int) -> String {
            written.ids[module].map(document.writtenString) ?? "?"
        }
        for circle in order.circles where hasRoom {
            let again = circle.first.prefix(1).map(id)
            let last = circle.last.isEmpty ? [] : ["…"] + circle.last.map(id)
            report(
                .needsInCircle(circle.first.map(id) + last + again), at: edges[circle.need].node)
        }
        for (index, need) in order.later.enumerated() where hasRoom {
            let offer = index == 0 ? Self.changed(order.order).map { $0.map(id) ?? "…" } : []
            report(
                .needStandsLater(id(edges[need].need.needed), order: offer), at: edges[need].node)
        }
    }

    /// Returns the part of an order that differs from that of the file, nil for modules that are not listed.
    private static func changed(_ order: [Int]) -> [Int?] {
        let moved = order.indices.filter { order[$0] != $0 }
        guard let first = moved.first, let last = moved.last else { return [] }
        let part = order[first...last]
        guard part.count > shownOfOrder else { return Array(part) }
        return Array(part.prefix(shownOfOrder / 2)) + [nil] + Array(part.suffix(shownOfOrder / 2))
    }
}
