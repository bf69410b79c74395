import Foundation

/// The median of each way over its requests, measured in turn, so that what else the machine does falls on all alike.
func medians(
    _ ways: [(way: any RoutingWay, requests: [RoutingSample.Request])], rounds: Int = 21
) throws -> [Int] {
    var measured: [[Int]] = ways.map { _ in [] }
    for _ in 0..<rounds {
        for (index, (way, requests)) in ways.enumerated() {
            measured[index].append(try measure(way, requests))
        }
    }
    return measured.map { $0.sorted()[rounds / 2] }
}

/// Answers each request, and returns how many bytes the values have.
@inline(never)
func pass<Way: RoutingWay>(_ way: Way, _ requests: [RoutingSample.Request]) throws -> Int {
    var bytes = 0
    for request in requests { bytes += try way.answer(request) }
    return bytes
}

/// Returns the nanoseconds of one URL: the mean of three passes over all requests.
private func measure<Way: RoutingWay>(
    _ way: Way, _ requests: [RoutingSample.Request]
) throws -> Int {
    // The way before had the caches to itself.
    var bytes = try pass(way, requests)
    let began = ContinuousClock.now
    for _ in 0..<3 { bytes += try pass(way, requests) }
    let took = ContinuousClock.now - began
    // Read, so that nothing is left out as being of no use.
    guard bytes > 0 else { throw WrongAnswer(url: "none") }
    return Int(took / .nanoseconds(1)) / (3 * requests.count)
}

func ratio(_ figure: Int, _ other: Int) -> String {
    String(format: "%.2f", Double(figure) / Double(other))
}

func printGoal(_ title: String, _ figure: Int, _ other: Int, _ goal: Double) {
    let isMet = Double(figure) <= goal * Double(other)
    print("| \(title) | \(ratio(figure, other)) | \(goal) | \(isMet ? "yes" : "no") |")
}
