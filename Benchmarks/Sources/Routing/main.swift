import Foundation

// Read a URL, find its pattern, read the values of all its parameters: nanoseconds of each way, for tables of 10 to
// 10 000 patterns, and the growth of the host's with the number of modules.
//
// `Routing WAY PATTERNS` answers the URLs of one sample once, for a profiler; WAY is the number of a row, from 0.

let ways: [(title: String, way: any RoutingWay.Type)] = [
    ("`RouteTable`", TableWay.self),
    ("`RouteTable`, each candidate asked", FilteredTableWay.self),
    ("limit: a trie of bytes in C, values in one block", CTrieWay.self),
    ("a trie of bytes in plain Swift, values as strings", SwiftTrieWay.self),
    ("`URL`, fully read, nothing found", FoundationWay.self),
    ("`URLComponents`, fully read, nothing found", ComponentsWay.self),
    ("dictionaries in dictionaries, as MGJRouter (stand-in)", DictionariesWay.self),
]
let counts = [10, 100, 1_000, 10_000]

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
if arguments.count == 2, ways.indices.contains(arguments[0]) {
    let sample = RoutingSample(patternCount: arguments[1])
    print(try pass(ways[arguments[0]].way.init(sample), sample.requests))
    exit(0)
}

var metrics: [[Int]] = ways.map { _ in [] }
for count in counts {
    let sample = RoutingSample(patternCount: count)
    let measured = try medians(ways.map { (try $0.way.init(sample), sample.requests) })
    for index in ways.indices { metrics[index].append(measured[index]) }
}

print("| ns for one URL, patterns: | \(counts.map { "\($0)" }.joined(separator: " | ")) |")
print("|---|\(counts.map { _ in "---:|" }.joined())")
for (index, way) in ways.enumerated() {
    print("| \(way.title) | \(metrics[index].map { "\($0)" }.joined(separator: " | ")) |")
}
for (title, peer) in [("of the trie in C", 2), ("of the trie in Swift", 3)] {
    let ratios = counts.indices.map { ratio(metrics[0][$0], metrics[peer][$0]) }
    print("| \(title) | \(ratios.joined(separator: " | ")) |")
}
print("\n| `RouteTable` | ratio | goal | met |\n|---|---:|---:|---|")
printGoal("1 000 patterns, of the trie in C", metrics[0][2], metrics[2][2], 2.5)
printGoal("1 000 patterns, of the trie in Swift", metrics[0][2], metrics[3][2], 1.1)
printGoal("10 000 patterns, of 10", metrics[0][3], metrics[0][0], 1.2)
print()
try printModuleGrowth()
