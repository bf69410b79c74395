#if canImport(Glibc)
    import Glibc
#endif

// Explores the lives of modules; `scripts/life --help` says what is tried. Ends with 1 if an invariant breaks, and
// prints the shortest way to it.

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

/// The searches of one run, and what they have found.
struct Explorer {
    /// The number of findings after which a search ends.
    static let most = 3

    private(set) var findings = 0
    private let clock = ContinuousClock()

    mutating func explore(
        _ name: String, _ apps: [[ModuleEntry]], _ replacements: ModuleTable.Replacements
    ) {
        guard findings == 0 else { return }
        var (states, most) = (0, 0)
        let begin = clock.now
        for app in apps where findings < Self.most {
            let result = Exploration(app, replacements).all()
            states += result.states
            most = max(most, result.states)
            note(result.finding)
        }
        print(
            "\(name): \(apps.count) apps, \(states) states, at most \(most) of one app, \(clock.now - begin)"
        )
    }

    mutating func walk(_ seed: UInt64, for time: Duration) {
        var random = SplitMix(state: seed)
        var (apps, steps) = (0, 0)
        let end = clock.now + time
        while clock.now < end, findings == 0 {
            let exploration = Exploration(ExploredApps.random(using: &random), .all)
            note(exploration.walk(steps: 2000, using: &random))
            apps += 1
            steps += 2000
        }
        print("random walks with seed \(seed): \(apps) apps, \(steps) changes")
    }

    private mutating func note(_ finding: Exploration.Finding?) {
        guard let finding else { return }
        findings += 1
        print(finding)
    }
}

/// Returns the number that follows an option; nil without it.
func number(after option: String) -> UInt64? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else {
        return nil
    }
    return UInt64(arguments[index + 1])
}

var explorer = Explorer()
let isFull = CommandLine.arguments.contains("--full")
explorer.explore("two modules, with replacements", ExploredApps.two, .all)
explorer.explore("three modules, without replacements", ExploredApps.three, .none)
if isFull {
    let kinds = [
        ModuleEntry(), ModuleEntry(start: .eagerWithRetry), ModuleEntry(start: .lazy),
    ]
    explorer.explore(
        "three modules, with reloads of all", ExploredApps.all(of: 3, kinds), .ofAll)
}
explorer.walk(
    number(after: "--seed") ?? UInt64.random(in: 0...UInt64.max),
    for: .seconds(Int64(number(after: "--walks") ?? (isFull ? 3600 : 60))))
if explorer.findings > 0 {
    print("an invariant is broken")
    exit(1)
}
