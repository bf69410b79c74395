/// The apps that an exploration tries: every combination of entries and needs.
enum ExploredApps {
    /// Every entry of a module that differs from the others in its life.
    static let kinds =
        ModuleEntry.Start.allCases.map { ModuleEntry(start: $0) }
        + [ModuleEntry(isRequired: true), ModuleEntry(ends: true)]

    /// Returns the apps of some modules, each with every choice of needs among the modules before it.
    ///
    /// - Parameters:
    ///   - count: The number of modules.
    ///   - kinds: The entries that each of them may have.
    /// - Returns: The apps.
    static func all(of count: Int, _ kinds: [ModuleEntry]) -> [[ModuleEntry]] {
        (0..<count).reduce([[]]) { apps, place in
            apps.flatMap { app in
                kinds.flatMap { kind in
                    (0..<1 << place).map { needs in
                        var entry = kind
                        entry.needs = (0..<place).filter { needs & 1 << $0 != 0 }
                        return app + [entry]
                    }
                }
            }
        }
    }

    /// The apps of two modules, with both orders of a replacement.
    static let two = all(
        of: 2,
        kinds
            + kinds.map { kind in
                var kind = kind
                kind.stopsFirst = true
                return kind
            })

    /// The apps of three modules.
    static let three = all(of: 3, kinds)

    /// The apps of three modules of the three kinds that differ most.
    static let fewOfThree = all(
        of: 3,
        [ModuleEntry(), ModuleEntry(start: .eagerWithRetry), ModuleEntry(start: .lazy)])

    /// Returns an app of up to six modules.
    static func random(using random: inout some RandomNumberGenerator) -> [ModuleEntry] {
        (0..<Int.random(in: 2...6, using: &random)).map { place in
            var entry = kinds[Int.random(in: kinds.indices, using: &random)]
            entry.needs = (0..<place).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
            entry.stopsFirst = Bool.random(using: &random)
            return entry
        }
    }
}

/// A generator whose numbers follow from a seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
