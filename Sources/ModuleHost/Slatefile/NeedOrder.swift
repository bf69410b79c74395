/// An order of modules in which each stands after those that it needs, and the circles that prevent one.
///
/// Modules and needs are numbers here: the position of a module in the slatefile, and of a need in the list of all.
/// One walk in depth, without recursion, so the time grows with the number of modules and of needs.
struct NeedOrder {
    /// A need of one module: both by their positions.
    struct Need: Hashable {
        let module: Int
        let needed: Int
    }

    /// Modules that need each other, of which at most a few are listed.
    struct Circle: Hashable {
        /// The position of the need that closes it.
        let need: Int
        /// The modules from the one that is needed again; where there are more, the first half of those listed.
        var first: [Int]
        /// The last modules, where not all are among the first.
        var last: [Int] = []
    }

    /// The number of modules that are listed of a circle: an even one.
    static let shownOfCircle = 8

    /// All modules, each after those that it needs, as far as there is no circle, and else in their own order.
    private(set) var order: [Int] = []
    /// The circles: without the needs that close them there would be none.
    private(set) var circles: [Circle] = []
    /// The needs for modules that stand later and that are part of no circle.
    private(set) var later: [Int] = []

    /// - Parameters:
    ///   - count: The number of modules.
    ///   - needs: The needs, in the order of the modules that have them.
    init(count: Int, needs: [Need]) {
        var walk = Walk(count: count, needs: needs)
        order.reserveCapacity(count)
        for module in 0..<count { walk.visit(module, &order, &circles) }
        for (index, need) in needs.enumerated()
        where need.needed > need.module && walk.group[need.needed] != walk.group[need.module] {
            later.append(index)
        }
    }

    /// Tarjan's walk: it groups the modules that are in circles with each other.
    private struct Walk {
        let needs: [Need]
        /// By module: its first need; of the end, one more.
        private var first: [Int]
        private var next: [Int]
        /// By module: when it was reached, or -1.
        private var reached: [Int]
        private var lowest: [Int]
        /// By module: its place on the path, or -1.
        private var depth: [Int]
        /// By module: the number of its group, or -1 as long as that is not known.
        var group: [Int]
        private var path: [Int] = []
        private var ungrouped: [Int] = []
        private var count = 0

        init(count: Int, needs: [Need]) {
            self.needs = needs
            first = Array(repeating: 0, count: count + 1)
            for need in needs { first[need.module + 1] += 1 }
            for module in 0..<count { first[module + 1] += first[module] }
            next = first
            reached = Array(repeating: -1, count: count)
            (lowest, depth, group) = (reached, reached, reached)
        }

        mutating func visit(_ root: Int, _ order: inout [Int], _ circles: inout [Circle]) {
            guard reached[root] < 0 else { return }
            enter(root)
            while let module = path.last {
                guard next[module] < first[module + 1] else {
                    leave(module)
                    order.append(module)
                    continue
                }
                let need = next[module]
                next[module] += 1
                let needed = needs[need].needed
                if reached[needed] < 0 {
                    enter(needed)
                } else if group[needed] < 0 {
                    lowest[module] = min(lowest[module], reached[needed])
                    if depth[needed] >= 0 { circles.append(circle(to: needed, by: need)) }
                }
            }
        }

        private mutating func enter(_ module: Int) {
            (reached[module], lowest[module]) = (count, count)
            count += 1
            depth[module] = path.count
            path.append(module)
            ungrouped.append(module)
        }

        private mutating func leave(_ module: Int) {
            path.removeLast()
            depth[module] = -1
            if let before = path.last { lowest[before] = min(lowest[before], lowest[module]) }
            guard lowest[module] == reached[module] else { return }
            while let member = ungrouped.popLast() {
                group[member] = module
                if member == module { break }
            }
        }

        private func circle(to needed: Int, by need: Int) -> Circle {
            let members = path[depth[needed]...]
            let half = NeedOrder.shownOfCircle / 2
            guard members.count > NeedOrder.shownOfCircle else {
                return Circle(need: need, first: Array(members))
            }
            return Circle(
                need: need, first: Array(members.prefix(half)), last: Array(members.suffix(half)))
        }
    }
}
