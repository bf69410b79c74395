import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The parameters of a call")
struct RouteParametersTests {
    /// Names, among them two that a `String` considers equal.
    private static let names = ["\u{E9}", "e\u{301}", ""] + (0..<20).map { "n\($0)" }

    /// Returns whether two lists of parameters are the same, their texts byte for byte.
    private func isSame(
        _ one: [(name: String, values: [String])], _ other: [(name: String, values: [String])]
    ) -> Bool {
        func bytes(_ list: [(name: String, values: [String])]) -> [[[UInt8]]] {
            list.map { ([$0.name] + $0.values).map { Array($0.utf8) } }
        }
        return bytes(one) == bytes(other)
    }

    @Test(
        "a repeated name keeps its first place and all its values, be the names few or many",
        arguments: [0, 1, 2, 15, 16, 17, 18, 100], 1...5 as ClosedRange<UInt64>)
    func repeated(count: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let given = (0..<count).map { index in
            (
                name: Self.names.randomElement(using: &random) ?? "",
                values: (0..<Int.random(in: 0...2, using: &random)).map { "\(index).\($0)" }
            )
        }
        var expected: [(name: String, values: [String])] = []
        var seen: Set<[UInt8]> = []
        for (name, _) in given where seen.insert(Array(name.utf8)).inserted {
            let same = given.filter { $0.name.utf8.elementsEqual(name.utf8) }
            expected.append((name, same.flatMap(\.values)))
        }
        #expect(isSame(RouteParameters(list: given).all, expected))
    }

    @Test(
        "many names are merged in time that grows with their number", .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer"))
    func many() {
        let count = 100_000
        let names = (0..<count).map { "name\($0)" }
        let parameters = RouteParameters(list: (names + names).map { ($0, ["v"]) })
        #expect(parameters.names == names)
        #expect(parameters.all.allSatisfy { $0.values == ["v", "v"] })
    }
}
