// Tasks that wait for each other.
extension StartupGraph {
    /// Returns a cycle for every group of new tasks that wait for each other, as names.
    ///
    /// Every task that the topological order left out waits for another such task, so following these leads
    /// back to a task seen before.
    func cycles(from first: Int, _ waits: [Int32]) -> [StartupError.Diagnostic] {
        var diagnostics: [StartupError.Diagnostic] = []
        // The walk that reached each task; zero for none.
        var walks = [Int](repeating: 0, count: nodes.count)
        for start in first..<nodes.count where waits[start] > 0 && walks[start] == 0 {
            var path: [Int] = []
            var task = start
            while walks[task] == 0 {
                walks[task] = start + 1
                path.append(task)
                guard let next = leftOutDependency(of: task, waits) else { break }
                task = next
            }
            guard walks[task] == start + 1, let entry = path.firstIndex(of: task) else { continue }
            var cycle = Array(path[entry...])
            if let least = cycle.indices.min(by: { cycle[$0] < cycle[$1] }) {
                cycle = Array(cycle[least...] + cycle[..<least])
            }
            cycle.append(cycle[0])
            diagnostics.append(.cycle(cycle.map { tasks[$0].name }))
        }
        return diagnostics
    }

    private func leftOutDependency(of task: Int, _ waits: [Int32]) -> Int? {
        edgesIn(Int32(task)).first { waits[Int($0.from)] > 0 }.map { Int($0.from) }
    }
}
