/// The state of a table in 64 bits: tables of up to three modules with one key are equal.
///
/// An exploration checks that they are, so a key that lacks a new part of the state is found.
extension ModuleTable {
    static let mostModules = 3

    var key: UInt64 {
        var bits = Bits()
        bits.add(UInt64(phase.rawValue), 2)
        for module in modules {
            bits.add(UInt64(module.life.rawValue), 3)
            bits.add(module.staged.map { UInt64($0.rawValue) + 1 } ?? 0, 3)
            bits.add(module.isLeaving)
            bits.add(module.isStuck)
            bits.add(module.hasCallers)
            bits.add(module.isOwed)
            bits.add(module.hasAlarm)
            bits.add(module.isGone)
        }
        bits.add(batch != nil)
        bits.add(batch?.failure == .isLeftOut)
        bits.add(batch?.isStopping == true)
        for place in 0..<Self.mostModules { bits.add(batch?.removed.contains(place) == true) }
        return bits.value
    }
}

private struct Bits {
    var value: UInt64 = 0
    var count: UInt64 = 0

    mutating func add(_ bits: UInt64, _ width: UInt64) {
        value |= bits << count
        count += width
    }

    mutating func add(_ bit: Bool) { add(bit ? 1 : 0, 1) }
}
