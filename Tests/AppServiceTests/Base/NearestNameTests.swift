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

    @Test(
        "parts that both names begin with do not make them similar",
        arguments: [
            ("com.example.thumbnail", "com.example.main", false),
            ("com.example.mian", "com.example.main", true),
            ("slate://com.mm.a/list", "slate://com.mm.a/post", false),
            ("slate://com.mm.a/psot", "slate://com.mm.a/post", true),
            ("com.exmaple.main", "com.example.main", true),
        ])
    func sharedParts(written: String, name: String, isNear: Bool) {
        #expect(nearestName(to: written, in: [name]) == (isNear ? name : nil))
    }

    @Test("offers nothing where nothing is near", arguments: ["zzz", "", "configuration"])
    func silent(written: String) {
        #expect(nearestName(to: written, in: ["slate", "modules", "schemes"]) == nil)
    }
}
