import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Order of modules that need each other")
struct NeedOrderTests {
    private func order(_ count: Int, _ needs: [(Int, Int)]) -> NeedOrder {
        NeedOrder(
            count: count,
            needs: needs.sorted { $0.0 < $1.0 }.map { NeedOrder.Need(module: $0.0, needed: $0.1) })
    }

    @Test("without needs it is the order of the file")
    func none() {
        let none = order(3, [])
        #expect(none.order == [0, 1, 2] && none.circles.isEmpty && none.later.isEmpty)
        #expect(order(0, []).order.isEmpty)
    }

    @Test("a needed module moves before the first that needs it, and nothing else moves")
    func later() {
        let moved = order(4, [(0, 2), (1, 2), (3, 0)])
        #expect(moved.order == [2, 0, 1, 3] && moved.circles.isEmpty && moved.later == [0, 1])
    }

    @Test("two circles in one knot are two")
    func circles() {
        let knot = order(4, [(0, 1), (1, 0), (1, 2), (2, 1), (3, 0)])
        #expect(
            knot.circles == [
                NeedOrder.Circle(need: 1, first: [0, 1]), NeedOrder.Circle(need: 3, first: [1, 2]),
            ])
        #expect(knot.later.isEmpty)
    }

    @Test("a circle of ten thousand lists eight of them")
    func large() {
        let count = 10_000
        let ring = order(count, (0..<count).map { ($0, ($0 + 1) % count) })
        #expect(
            ring.circles == [
                NeedOrder.Circle(
                    need: count - 1, first: [0, 1, 2, 3], last: [9996, 9997, 9998, 9999])
            ])
        #expect(ring.later.isEmpty)
        let chain = order(count, (0..<count - 1).map { ($0, $0 + 1) })
        #expect(chain.order == (0..<count).reversed() && chain.later.count == count - 1)
    }

    @Test(
        "any needs: without those that close a circle the order is one, and each later one is in none"
    )
    func anyNeeds() {
        var random = SeededGenerator(seed: 13)
        for _ in 0..<500 {
            let count = Int.random(in: 1...8, using: &random)
            var needs: Set<[Int]> = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let (one, other) = (
                    Int.random(in: 0..<count, using: &random),
                    Int.random(in: 0..<count, using: &random)
                )
                if one != other { needs.insert([one, other]) }
            }
            let list = needs.map { ($0[0], $0[1]) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            let found = order(count, list)
            #expect(found.order.sorted() == Array(0..<count))
            // Whether one module needs another, directly or through others.
            var reach = Array(repeating: Array(repeating: false, count: count), count: count)
            for (module, needed) in list { reach[module][needed] = true }
            for middle in 0..<count {
                for one in 0..<count where reach[one][middle] {
                    for other in 0..<count where reach[middle][other] { reach[one][other] = true }
                }
            }
            #expect((0..<count).contains { reach[$0][$0] } == !found.circles.isEmpty, "\(list)")
            let closing = Set(found.circles.map(\.need))
            for circle in found.circles {
                #expect(list[circle.need].1 == circle.first.first, "\(list)")
                #expect(list[circle.need].0 == circle.first.last, "\(list)")
                for (one, next) in zip(circle.first, circle.first.dropFirst()) {
                    #expect(needs.contains([one, next]), "\(list)")
                }
            }
            for (index, need) in list.enumerated() where !closing.contains(index) {
                let places = (
                    found.order.firstIndex(of: need.0) ?? 0, found.order.firstIndex(of: need.1) ?? 0
                )
                #expect(places.1 < places.0, "\(list)")
            }
            let later = list.indices.filter {
                list[$0].1 > list[$0].0 && !reach[list[$0].1][list[$0].0]
            }
            #expect(found.later == later, "\(list)")
        }
    }
}
