import Testing

@testable import ModuleHostCore

@Suite("Sorting by a key")
struct KeyOrderTests {
    @Test("elements with the same text keep their order")
    func texts() {
        let words = [("b", 1), ("a", 2), ("b", 3), ("", 4), ("a", 5)]
        #expect(words.sortedByText(\.0).map(\.1) == [4, 2, 5, 1, 3])
        #expect([(String, Int)]().sortedByText(\.0).isEmpty)
    }

    @Test("elements with the same number keep their order")
    func numbers() {
        let words = [(3, "a"), (-1, "b"), (3, "c"), (.min, "d"), (-1, "e")]
        #expect(words.sortedByNumber(\.0).map(\.1) == ["d", "b", "e", "a", "c"])
    }
}
