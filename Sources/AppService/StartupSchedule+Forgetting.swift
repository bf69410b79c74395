// Tasks that are given up, in a queue that lives long.
extension StartupSchedule {
    /// Whether all tasks have ended but overdue ones that are still on their lanes, so that nothing outside has the
    /// number of one.
    private var isQuiet: Bool {
        admitted == .low && open[0] + open[1] + open[2] == 0 && handingBack.isEmpty
            && handles.isEmpty && overdueReceipts == 0
    }

    /// Forgets the tasks of closed scopes and renumbers the others, if that pays and nothing runs.
    mutating func forgetClosed() {
        guard graph.hasManyClosed, isQuiet else { return }
        let onLanes = lanes.indices.filter { lanes[$0].task >= 0 }
        // The outcome of a skipped task names others, and theirs may name more.
        var named = Set(onLanes.map { lanes[$0].task })
        var next = failures.keys.filter { !graph.nodes[Int($0)].isClosed }
        while let task = next.popLast() {
            guard case .skipped(let after, let root) = failures[task] else { continue }
            next += [after, root].filter { named.insert($0).inserted }
        }
        let numbers = graph.removeClosed(except: named)
        failures = failures.reduce(into: [:]) { failures, entry in
            let number = numbers[Int(entry.key)]
            guard number >= 0 else { return }
            failures[number] = entry.value.renumbered { numbers[Int($0)] }
        }
        ready = ReadyTasks()
        for lane in onLanes { lanes[lane].task = numbers[Int(lanes[lane].task)] }
        numbering += 1
    }
}
