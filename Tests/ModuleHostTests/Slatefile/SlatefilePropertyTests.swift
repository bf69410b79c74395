import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Slatefiles, on anything")
struct SlatefilePropertyTests {
    @Test("a slatefile with something wrong in it is read without a trap", arguments: 1...4)
    func mutants(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = BrokenSlatefileTests.folder
        var inputs = [try Inputs.bytes("slatefiles/complete.json")]
        for name in BrokenSlatefileTests.names {
            inputs.append(try Inputs.bytes("\(folder)/\(name).json"))
        }
        for _ in 0..<500 {
            var bytes = inputs.randomElement(using: &random) ?? []
            let other = inputs.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1..<4, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                case 2:
                    bytes.insert(contentsOf: other.shuffled(using: &random).prefix(3), at: index)
                default:
                    let part = Int.random(in: 0...other.count, using: &random)
                    bytes.insert(contentsOf: other.dropFirst(part).prefix(40), at: index)
                }
            }
            Self.check(bytes)
        }
    }

    /// Whatever is found has its place in the text, in order, and can be shown.
    static func check(_ bytes: [UInt8]) {
        do throws(SlatefileError) {
            _ = try Slatefile.read(
                bytes, path: "s", environment: { _ in "x" }, checkEntry: { _ in [.entry("no")] })
        } catch {
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            let places = error.diagnostics.map { ($0.place.line, $0.place.column) }
            #expect(
                !error.diagnostics.isEmpty && places.allSatisfy { 1...lines ~= $0.0 && $0.1 > 0 })
            #expect(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 })
            let shown = error.rendered(colored: false).unicodeScalars
            #expect(shown.allSatisfy { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" })
        }
    }
}
