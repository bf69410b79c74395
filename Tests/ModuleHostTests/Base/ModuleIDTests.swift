import Testing

@testable import ModuleHostCore

@Suite("Module ids")
struct ModuleIDTests {
    @Test(
        "reverse-domain names",
        arguments: ["a.b", "com.mm.push", "com.mm-x.Push2", "a.1", "a.b.c.d"])
    func accepts(name: String) throws {
        #expect(try ModuleID(name).text == name)
        #expect(try "\(ModuleID(name))" == name)
    }

    @Test("as long as a host name may be")
    func lengths() throws {
        let part = String(repeating: "x", count: 63)
        let longest = [part, part, part, String(repeating: "y", count: 61)].joined(separator: ".")
        #expect(longest.utf8.count == 253)
        _ = try ModuleID(longest)
        #expect(throws: ModuleID.ParsingError.tooLong(254)) {
            try ModuleID(longest.replacing("yy.", with: "yy") + "y")
        }
        #expect(throws: ModuleID.ParsingError.longPart(part + "x")) { try ModuleID("a.\(part)x") }
    }

    @Test(
        "says precisely what is malformed",
        arguments: [
            ("", ModuleID.ParsingError.empty), ("push", .singlePart("push")),
            ("a..b", .emptyPart("a..b")),
            (".a", .emptyPart(".a")), ("a.", .emptyPart("a.")), (".", .emptyPart(".")),
            ("a.b c", .character(" ", in: "a.b c")), ("a.b_c", .character("_", in: "a.b_c")),
            ("a.é", .character("é", in: "a.é")),
            ("a.\u{661}", .character("\u{661}", in: "a.\u{661}")),
            ("-a.b", .hyphen("-a", in: "-a.b")), ("a.b-", .hyphen("b-", in: "a.b-")),
            ("1a.b", .firstLetter("1a.b")), ("a/b.c", .character("/", in: "a/b.c")),
        ])
    func refuses(name: String, error: ModuleID.ParsingError) {
        #expect(throws: error) { try ModuleID(name) }
    }
}
