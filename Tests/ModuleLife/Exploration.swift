/// A search of all states that a table can reach, or of random ones.
struct Exploration: Sendable {
    /// A broken invariant, and the shortest way to it.
    struct Finding: Sendable, CustomStringConvertible {
        let entries: [ModuleEntry]
        let path: [ModuleInput]
        let violation: String

        var description: String {
            let modules = entries.enumerated().map { "  \($0): \($1)" }
            let steps = path.map { "  \($0)" }
            return ([violation, "modules:"] + modules + ["after:"] + steps).joined(separator: "\n")
        }
    }

    let entries: [ModuleEntry]
    let replacements: ModuleTable.Replacements

    init(_ entries: [ModuleEntry], _ replacements: ModuleTable.Replacements) {
        self.entries = entries
        self.replacements = replacements
    }

    /// Visits every state, in the order of its distance from the launch.
    ///
    /// - Parameter limit: The number of states after which the search ends.
    /// - Returns: The number of visited states, and the first finding.
    func all(limit: Int = .max) -> (states: Int, finding: Finding?) {
        var table = ModuleTable(entries)
        let effects = table.launch()
        if effects.contains(.endApp) { return (1, finding("the app ends at its launch", [])) }
        if let found = table.violation() { return (1, finding(found, [])) }
        var parents: [(UInt32, ModuleInput)] = []
        var states = [table]
        var seen = [table.key: 0]
        var next = 0
        while next < states.count, states.count < limit {
            let before = states[next]
            for input in before.inputs(replacements) {
                var after = before
                let effects = after.apply(input)
                let found =
                    after.violation(after: input, effects, from: before) ?? after.violation()
                if let found {
                    return (states.count, finding(found, way(to: next, parents) + [input]))
                }
                if let known = seen[after.key] {
                    guard states[known] != after else { continue }
                    return (states.count, finding("two states have one key", [input]))
                }
                seen[after.key] = states.count
                states.append(after)
                parents.append((UInt32(next), input))
            }
            next += 1
        }
        return (states.count, nil)
    }

    private func way(to state: Int, _ parents: [(UInt32, ModuleInput)]) -> [ModuleInput] {
        var (way, state): ([ModuleInput], Int) = ([], state)
        while state > 0 {
            way.append(parents[state - 1].1)
            state = Int(parents[state - 1].0)
        }
        return way.reversed()
    }

    private func finding(_ violation: String, _ path: [ModuleInput]) -> Finding {
        Finding(entries: entries, path: path, violation: violation)
    }

    /// Walks from launches at random.
    ///
    /// - Parameters:
    ///   - steps: The number of changes; a walk that ends with the app begins again.
    ///   - random: The source of the choices.
    /// - Returns: The first finding.
    func walk(
        steps: Int, using random: inout some RandomNumberGenerator
    ) -> Finding? {
        var table = ModuleTable(entries)
        _ = table.launch()
        var path: [ModuleInput] = []
        for _ in 0..<steps {
            // A stop ends the walk: it is taken rarely.
            let inputs = table.inputs(replacements).filter { input in
                input != .stop || Int.random(in: 0..<8, using: &random) == 0
            }
            guard let input = inputs.randomElement(using: &random) else {
                table = ModuleTable(entries)
                _ = table.launch()
                path = []
                continue
            }
            let before = table
            path.append(input)
            let effects = table.apply(input)
            if let found = table.violation(after: input, effects, from: before) ?? table.violation()
            {
                return finding(found, path)
            }
        }
        return nil
    }
}
