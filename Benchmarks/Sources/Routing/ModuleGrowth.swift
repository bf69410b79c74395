import Foundation
import ModuleHost

/// Prints the growth of the host's table with the number of modules.
func printModuleGrowth() throws {
    let sizes = [1_000, 10_000, 50_000]
    func printRow(_ title: String, _ metrics: [Int]) {
        let last = metrics.count - 1
        let exponent =
            log(Double(metrics[last]) / Double(metrics[last - 1]))
            / log(Double(sizes[last]) / Double(sizes[last - 1]))
        let slots = metrics.map { "\($0)" }.joined(separator: " | ")
        print("| \(title) | \(slots) | \(String(format: "%.2f", exponent)) |")
    }
    print("| modules: | \(sizes.map { "\($0)" }.joined(separator: " | ")) | exponent |")
    print("|---|\(sizes.map { _ in "---:|" }.joined())---:|")

    var (apart, together): ([Int], [Int]) = ([], [])
    for size in sizes {
        let many = RoutingSample(patternCount: size, moduleCount: size, sectionSize: 1)
        let few = RoutingSample(patternCount: size, moduleCount: 10, sectionSize: 1)
        let measured = try medians(
            [(TableWay(many), many.requests), (TableWay(few), few.requests)], rounds: 7)
        apart.append(measured[0])
        together.append(measured[1])
    }
    printRow("ns for one URL, a pattern in each module", apart)
    printRow("ns for one URL, as many patterns in 10 modules", together)
    let ratios = sizes.indices.map { ratio(apart[$0], together[$0]) }
    print("| of the latter | \(ratios.joined(separator: " | ")) | |")

    var (inOrder, shuffled, unnamed): ([Int], [Int], [Int]) = ([], [], [])
    for size in sizes {
        let routes = try (0..<size).map { try SharedStart(number: $0) }
        let (table, took) = try build(routes, size)
        inOrder.append(took / size)
        // A permutation: the step and the number of modules have no common divisor.
        shuffled.append(try build((0..<size).map { routes[$0 * 7_919 % size] }, size).took / size)
        unnamed.append(try search(table, size))
    }
    printRow("ns to add one route, the first literal the same in all", inOrder)
    printRow("ns to add one route, modules in no order", shuffled)
    printRow("ns for a URL that names no module, all share its start", unnamed)
}

/// A route with the same first literal as those of all other modules.
private struct SharedStart {
    let module: ModuleID
    let route: AnyRoute

    init(number: Int) throws {
        module = try ModuleID("com.mm.module\(number)")
        route = try AnyRoute(
            Route<TableWay.Idle>("shared/item\(number)/:id", access: .public) { _, _ in })
    }
}

private func build(_ routes: [SharedStart], _ size: Int) throws -> (table: RouteTable, took: Int) {
    let modules = try (0..<size).map { try ModuleID("com.mm.module\($0)") }
    let began = ContinuousClock.now
    var table = try RouteTable(schemes: ["slate"], modules: modules)
    for each in routes { try table.add(each.route, of: each.module) }
    return (table, Int((ContinuousClock.now - began) / .nanoseconds(1)))
}

/// Returns the nanoseconds of a URL that only the last module answers.
private func search(_ table: RouteTable, _ size: Int) throws -> Int {
    let url = "slate://shared/item\(size - 1)/7"
    let rounds = max(10, 1_000_000 / size)
    let began = ContinuousClock.now
    for _ in 0..<rounds {
        guard try table.match(RouteURL(url)) != nil else { throw WrongAnswer(url: url) }
    }
    return Int((ContinuousClock.now - began) / .nanoseconds(1)) / rounds
}
