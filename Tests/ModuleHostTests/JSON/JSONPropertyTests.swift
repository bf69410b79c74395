import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("JSON reader, on anything")
struct JSONPropertyTests {
    /// Pieces that JSON is made of, and some that it is not.
    static let pieces = [
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\\u0061\"", "\"\\uD83D\\uDE00\"",
        "\"\\uD83D\"", "\"é\"", "\"\"", "1", "0", "-0", "01", "1.5e3", "-", ".", "true", "false",
        "null", "nul", " ", "\n", "\t", "\"", "\\", "'", "/", "//", "#", "e", "\u{7F}", "\u{A0}",
    ]

    @Test("accepts exactly what a second, plain reading of the grammar accepts", arguments: 1...4)
    func differential(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<5_000 {
            let bytes = Bool.random(using: &random) ? Self.soup(&random) : Self.mutant(&random)
            let isAccepted = (try? JSONValue(parsing: bytes)) != nil
            accepted += isAccepted ? 1 : 0
            #expect(
                isAccepted == PlainJSONCheck.accepts(bytes),
                "\(String(decoding: bytes, as: UTF8.self))")
        }
        // Neither half of the cases may be empty talk.
        #expect(200..<4_800 ~= accepted)
    }

    @Test(
        "a reader that goes on finds an error exactly where one that stops does", arguments: 1...4)
    func recovery(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let bytes = Bool.random(using: &random) ? Self.soup(&random) : Self.mutant(&random)
            var parser = JSONParser(bytes, diagnosticLimit: 1000)
            parser.parse()
            #expect(parser.diagnostics.isEmpty == ((try? JSONValue(parsing: bytes)) != nil))
            Self.checkTree(parser.nodes, of: bytes)
        }
    }

    @Test("random bytes are read without a trap", arguments: 1...4)
    func randomBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<64, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            var parser = JSONParser(bytes, diagnosticLimit: 1000)
            parser.parse()
            Self.checkTree(parser.nodes, of: bytes)
        }
    }

    @Test("what is accepted can be walked to its end and said again")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2_000 {
            let text = Self.value(&random, depth: 0)
            let value = try JSONValue(parsing: text)
            #expect(value.text == text && value.redactedText == text)
            #expect(value == value)
            Self.checkPointers(value)
        }
    }

    // MARK: Checks

    /// Every node lies within the text and within its parent, and `next` leads out of it.
    static func checkTree(_ nodes: [JSONNode], of bytes: [UInt8]) {
        for (index, node) in nodes.enumerated() {
            let isSound =
                node.range.upperBound <= bytes.count && node.next > index
                && node.next <= nodes.count
            #expect(isSound, "node \(index) of \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    static func checkPointers(_ value: JSONValue) {
        let document = value.document
        #expect(
            document.pointer(atOffset: document.nodes[value.node].range.lowerBound) == value.pointer
        )
        for element in value.elements { checkPointers(element) }
        for member in value.members { checkPointers(member.value) }
    }

    // MARK: Cases

    private static func soup(_ random: inout SeededGenerator) -> [UInt8] {
        let count = Int.random(in: 0..<10, using: &random)
        return (0..<count).flatMap { _ in Array((pieces.randomElement(using: &random) ?? "").utf8) }
    }

    /// A valid text, more often than not with something wrong in it.
    private static func mutant(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(value(&random, depth: 0).utf8)
        for _ in 0..<Int.random(in: 0..<3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.remove(at: index)
            case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: index)
            default: bytes.removeSubrange(index...)
            }
        }
        return bytes
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> String {
        switch Int.random(in: 0..<(depth < 4 ? 8 : 5), using: &random) {
        case 0: return ["true", "false", "null"].randomElement(using: &random) ?? ""
        case 1: return "\(Int.random(in: -1000...1000, using: &random))"
        case 2: return "\(Double.random(in: -1...1, using: &random))"
        case 3, 4: return string(&random)
        case 5:
            let elements = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                value(&random, depth: depth + 1)
            }
            return "[\(elements.joined(separator: ", "))]"
        default:
            // Small and large objects go different ways when duplicates are looked for.
            let count = Int.random(in: 0..<(depth == 0 ? 24 : 4), using: &random)
            let members = (0..<count).map { index in
                "\"\(index)k\":\(value(&random, depth: depth + 2))"
            }
            return "{\(members.joined(separator: ",\n"))}"
        }
    }

    private static func string(_ random: inout SeededGenerator) -> String {
        let parts = ["a", "Z", " ", "é", "日", "😀", "\\n", "\\\"", "\\u00e9", "$", "${X}", "/"]
        let count = Int.random(in: 0..<6, using: &random)
        return "\"" + (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            + "\""
    }
}
