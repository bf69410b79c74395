import Testing

@testable import ModuleHostCore

@Suite("A short list")
struct ShortListTests {
    @Test(
        "shows so many elements, and how many there are beside those",
        arguments: [
            ([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c"], "a, b and 1 more"),
            (["a", "b", "c", "d"], "a, b and 2 more"),
        ])
    func shows(elements: [String], text: String) {
        #expect(elements.shortList(atMost: 2) == text)
    }
}
