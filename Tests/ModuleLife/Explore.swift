import Glibc

/// The program of `scripts/life`, whose help says what it tries.
///
/// Ends with 1 if an invariant breaks, and prints the shortest way to it.
@main
struct Explore {
    static func main() async {
        let isFull = CommandLine.arguments.contains("--full")
        var explorer = Explorer(tasks: Int(number(after: "--tasks") ?? 2))
        await explorer.explore("two modules, with replacements", ExploredApps.two, .all)
        await explorer.explore("three modules, without replacements", ExploredApps.three, .none)
        await explorer.explore(
            "three modules, with one batch",
            isFull ? ExploredApps.three : ExploredApps.fewOfThree, .once)
        let seconds = number(after: "--walks") ?? (isFull ? 1800 : 30)
        await explorer.walk(
            number(after: "--seed") ?? UInt64.random(in: 0...UInt64.max),
            for: .seconds(Int64(seconds)))
        guard explorer.hasFound else { return }
        print("an invariant is broken")
        exit(1)
    }

    /// Returns the number that follows an option; nil without it.
    private static func number(after option: String) -> UInt64? {
        let arguments = CommandLine.arguments
        guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else {
            return nil
        }
        return UInt64(arguments[index + 1])
    }
}

/// The result of a search, or of one task of it.
struct SearchResult: Sendable {
    var (apps, states, most) = (0, 0, 0)
    var finding: Exploration.Finding?

    static func + (left: Self, right: Self) -> Self {
        Self(
            apps: left.apps + right.apps, states: left.states + right.states,
            most: max(left.most, right.most), finding: left.finding ?? right.finding)
    }
}

/// The searches of one run, each in several tasks.
struct Explorer {
    private(set) var hasFound = false
    let tasks: Int

    mutating func explore(
        _ name: String, _ apps: [[ModuleEntry]], _ replacements: ModuleTable.Replacements
    ) async {
        let begin = ContinuousClock.now
        let tasks = tasks
        let result = await search { task in
            var result = SearchResult()
            for app in stride(from: task, to: apps.count, by: tasks) where result.finding == nil {
                let (states, finding) = Exploration(apps[app], replacements).all()
                result =
                    result
                    + SearchResult(apps: 1, states: states, most: states, finding: finding)
            }
            return result
        }
        let time = (ContinuousClock.now - begin).components.seconds
        let states = "\(result.states) states, at most \(result.most) of one app"
        print("\(name): \(result.apps) apps, \(states), \(time) s")
    }

    mutating func walk(_ seed: UInt64, for time: Duration) async {
        let end = ContinuousClock.now + time
        let result = await search { task in
            var random = SplitMix(state: seed &+ UInt64(task))
            var result = SearchResult()
            while result.finding == nil, ContinuousClock.now < end {
                let exploration = Exploration(ExploredApps.random(using: &random), .all)
                result.apps += 1
                result.finding = exploration.walk(steps: 2000, using: &random)
            }
            return result
        }
        print("random walks with seed \(seed): \(result.apps) apps, \(result.apps * 2000) changes")
    }

    private mutating func search(
        _ body: @escaping @Sendable (_ task: Int) -> SearchResult
    ) async -> SearchResult {
        guard !hasFound else { return SearchResult() }
        let tasks = tasks
        let result = await withTaskGroup(of: SearchResult.self) { group in
            for task in 0..<tasks { group.addTask { body(task) } }
            return await group.reduce(SearchResult(), +)
        }
        if let finding = result.finding {
            print(finding)
            hasFound = true
        }
        return result
    }
}
