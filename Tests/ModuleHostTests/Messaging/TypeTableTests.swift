import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Type table")
struct TypeTableTests {
    private final class Value {}

    /// Objects in the place of types: their addresses are as good.
    private let keys = (0..<200).map { _ in Value() }

    @Test("is the dictionary that it stands for, whatever is done to it", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let table = TypeTable<Value>()
        var model: [ObjectIdentifier: Value] = [:]
        for _ in 0..<3000 {
            let key = ObjectIdentifier(keys[Int.random(in: 0..<keys.count, using: &random)])
            let value = Int.random(in: 0..<5, using: &random) < 2 ? nil : Value()
            #expect(table.set(value, for: key) === model[key])
            model[key] = value
            let other = ObjectIdentifier(keys[Int.random(in: 0..<keys.count, using: &random)])
            #expect(table.find(other) === model[other])
        }
        for key in keys.map({ ObjectIdentifier($0) }) { #expect(table.find(key) === model[key]) }
        #expect(table.values.count == model.count)
    }
}
