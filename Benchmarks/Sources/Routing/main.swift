// Read a URL, find its pattern, read the values of all its parameters: nanoseconds of each way, for
// tables of 10 to 10 000 patterns.

let ways: [(title: String, way: any RoutingWay.Type)] = [
    ("`RouteTable`", TableWay.self),
    ("`RouteTable`, each candidate asked", FilteredTableWay.self),
    ("`URL`, fully read, nothing found", FoundationWay.self),
    ("`URLComponents`, fully read, nothing found", ComponentsWay.self),
    ("dictionaries in dictionaries, as MGJRouter (stand-in)", DictionariesWay.self),
]
let counts = [10, 100, 1_000, 10_000]

var metrics: [[Int]] = ways.map { _ in [] }
for count in counts {
    let sample = RoutingSample(patternCount: count)
    let ready = try ways.map { try $0.way.init(sample) }
    var measured: [[Int]] = ways.map { _ in [] }
    // In turn, so that what else the machine does falls on all alike.
    for _ in 0..<21 {
        for (index, way) in ready.enumerated() {
            measured[index].append(try measure(way, sample.requests))
        }
    }
    for index in ways.indices { metrics[index].append(measured[index].sorted()[10]) }
}

print("| ns for one URL, patterns: | \(counts.map { "\($0)" }.joined(separator: " | ")) |")
print("|---|\(counts.map { _ in "---:|" }.joined())")
for (index, way) in ways.enumerated() {
    print("| \(way.title) | \(metrics[index].map { "\($0)" }.joined(separator: " | ")) |")
}

/// What one URL costs, of all requests in turn, three times over.
func measure<Way: RoutingWay>(_ way: Way, _ requests: [RoutingSample.Request]) throws -> Int {
    var bytes = 0
    func pass() throws { for request in requests { bytes += try way.answer(request) } }
    // The way before had the caches to itself.
    try pass()
    let began = ContinuousClock.now
    for _ in 0..<3 { try pass() }
    let took = ContinuousClock.now - began
    // Read, so that nothing is left out as being of no use.
    guard bytes > 0 else { throw WrongAnswer(url: "none") }
    return Int(took / .nanoseconds(1)) / (3 * requests.count)
}
