import Testing

@testable import ModuleHost

/// An entry that is added to a slatefile, all else in which stays as it is.
@Suite("hostd: new: the entry in a slatefile")
struct SlatefileTextTests {
    static let entry = SlatefileEntry(members: [("id", "\"a.b\""), ("entry", "\"A.B\"")])

    @Test(
        "set as the last module is",
        arguments: [
            (
                "{\n  \"modules\": [\n    {\"id\": \"x.y\"}\n  ],\n  \"app\": \"a\" }\n",
                "{\n  \"modules\": [\n    {\"id\": \"x.y\"},\n    {\n      \"id\": \"a.b\",\n"
                    + "      \"entry\": \"A.B\"\n    }\n  ],\n  \"app\": \"a\" }\n"
            ),
            (
                "{\"modules\":[{\"id\":\"x.y\",\"config\":{\"a\":[1]}} ]}",
                "{\"modules\":[{\"id\":\"x.y\",\"config\":{\"a\":[1]}}, "
                    + "{ \"id\": \"a.b\", \"entry\": \"A.B\" } ]}"
            ),
            (
                "{\r\n\t\"modules\": [\r\n\t\t{},\r\n\t\t{\"id\": \"x.y\"}]}\r\n",
                "{\r\n\t\"modules\": [\r\n\t\t{},\r\n\t\t{\"id\": \"x.y\"},\r\n\t\t{\r\n"
                    + "\t\t  \"id\": \"a.b\",\r\n\t\t  \"entry\": \"A.B\"\r\n\t\t}]}\r\n"
            ),
            (
                "{\n  \"fallback\": \"x.z\", \"modules\": [\n    {\"id\": \"x.y\"},\n    {\"id\": \"x.z\"}]}",
                "{\n  \"fallback\": \"x.z\", \"modules\": [\n    {\"id\": \"x.y\"},\n    {\n"
                    + "      \"id\": \"a.b\",\n      \"entry\": \"A.B\"\n    },\n"
                    + "    {\"id\": \"x.z\"}]}"
            ),
            (
                "{\"modules\": [{\"id\": \"x.z\"}], \"fallback\": \"x.z\"}",
                "{\"modules\": [{ \"id\": \"a.b\", \"entry\": \"A.B\" }, {\"id\": \"x.z\"}], "
                    + "\"fallback\": \"x.z\"}"
            ),
            (
                // Before it, and within: columns are characters and not bytes.
                "{\"app\": \"e\u{301}🇨🇭\", \"modules\": [{\"id\": \"ü\"}], \"x\": [{}]}",
                "{\"app\": \"e\u{301}🇨🇭\", \"modules\": [{\"id\": \"ü\"}, "
                    + "{ \"id\": \"a.b\", \"entry\": \"A.B\" }], \"x\": [{}]}"
            ),
        ])
    func adding(before: String, after: String) throws {
        let text = try SlatefileText(Array(before.utf8))
        #expect(String(decoding: text.adding(Self.entry), as: UTF8.self) == after)
        #expect(!text.has(try ModuleID("a.b")))
        #expect(try SlatefileText(Array(after.utf8)).has(try ModuleID("A.b")))
    }
}
