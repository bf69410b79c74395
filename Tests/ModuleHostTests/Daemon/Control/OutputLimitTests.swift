import Testing

@testable import ModuleHostCore

@Suite("Answers that clients are owed, all together", .timeLimit(.minutes(10)))
struct OutputLimitTests {
    @Test(
        "the largest go until the rest is within the limit",
        arguments: [
            ([], 0, []), ([3, 4, 3], 10, []), ([3, 4, 3], 9, [1]), ([3, 4, 2, 5], 5, [3, 1]),
            ([1, 1, 1], 0, [0, 1, 2]),
        ] as [([Int], Int, [Int])])
    func largest(sizes: [Int], limit: Int, expected: [Int]) {
        #expect(ControlLoop.largest(of: sizes, beyond: limit) == expected)
    }
}
