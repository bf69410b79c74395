import Testing

@testable import AppService

@Suite("Nearest name")
struct NearestNameTests {
    @Test(
        "offers what was meant",
        arguments: [
            ("modlues", "modules"), ("Deadline", "deadline"), ("sceme", "schemes"), ("app", "app"),
        ])
    func offers(written: String, meant: String) {
        let keys = ["slate", "app", "schemes", "modules", "deadline", "deadlines"]
        #expect(nearestName(to: written, in: keys) == meant)
    }

    @Test("offers nothing where nothing is near", arguments: ["zzz", "", "configuration"])
    func silent(written: String) {
        #expect(nearestName(to: written, in: ["slate", "modules", "schemes"]) == nil)
    }
}
