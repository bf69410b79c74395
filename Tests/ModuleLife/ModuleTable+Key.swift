/// A state of a table in 64 bits, from which the table can be restored: an exploration keeps millions of them.
///
/// Holds the whole state of up to three modules, so two tables with one key are equal.
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

    init?(_ entries: [ModuleEntry], key: UInt64) {
        var bits = Bits(value: key)
        guard let phase = Phase(rawValue: UInt8(bits.take(2))) else { return nil }
        var modules: [HostedModule] = []
        for _ in entries {
            var module = HostedModule()
            guard let life = ModuleLife(rawValue: UInt8(bits.take(3))) else { return nil }
            module.life = life
            let staged = bits.take(3)
            module.staged = staged == 0 ? nil : StagedLife(rawValue: UInt8(staged - 1))
            module.isLeaving = bits.take(1) == 1
            module.isStuck = bits.take(1) == 1
            module.hasCallers = bits.take(1) == 1
            module.isOwed = bits.take(1) == 1
            module.hasAlarm = bits.take(1) == 1
            module.isGone = bits.take(1) == 1
            modules.append(module)
        }
        let hasBatch = bits.take(1) == 1
        let failure: ReplacementBatch.Failure = bits.take(1) == 1 ? .isLeftOut : .undoesAll
        let isStopping = bits.take(1) == 1
        let removed = (0..<Self.mostModules).filter { _ in bits.take(1) == 1 }
        self.init(
            entries, phase, modules,
            hasBatch
                ? ReplacementBatch(removed: removed, failure: failure, isStopping: isStopping) : nil
        )
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

    mutating func take(_ width: UInt64) -> UInt64 {
        defer { count += width }
        return (value >> count) & ((1 << width) - 1)
    }
}
