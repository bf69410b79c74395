/// The tasks by number, and the dependencies between them.
struct StartupGraph {
    struct Edge {
        let from: Int32
        let to: Int32
        /// The next edge out of `from`.
        var next: Int32
    }

    /// A task that was registered earlier and now has a better place in the order.
    struct Raise {
        let task: Int32
        let from: StartupPriority
        let to: StartupPriority
    }

    /// The number that stands for no task, or no edge.
    static let none: Int32 = -1

    private(set) var tasks: [StartupTask] = []
    var nodes: [Node] = []
    private(set) var edges: [Edge] = []
    private var numbers = NameTable()
    /// Whether tasks of two scopes have one name: a look-up returns the later one.
    private var hasCommonNames = false
    /// The numbers of the tasks of each scope that is not closed.
    private var scopes: [ObjectIdentifier: [Int32]] = [:]
    /// The number of tasks of closed scopes that were not kept when others were removed.
    private var closedCount = 0

    /// Appends tasks, without connecting them.
    ///
    /// - Throws: Every name that is empty or taken and every deadline that is not valid; then no task was
    ///   added.
    mutating func add(
        _ batch: some Collection<StartupTask>, now: StartupSchedule.Nanoseconds
    ) throws(StartupError) {
        let first = tasks.count
        var diagnostics: [StartupError.Diagnostic] = []
        tasks.append(contentsOf: batch)
        numbers.reserve(tasks.count)
        // Only for the first batch: making room for each of many batches would copy all each time.
        if first == 0 { nodes.reserveCapacity(tasks.count) }
        for number in first..<tasks.count {
            let name = tasks[number].name
            if name.isEmpty { diagnostics.append(.emptyName) }
            if let deadline = tasks[number].deadlineNanoseconds, deadline <= 0 {
                diagnostics.append(.deadline(.nanoseconds(deadline), of: name))
            }
            if !enterName(of: number), !name.isEmpty {
                diagnostics.append(.duplicateName(name))
            }
            note(number)
            nodes.append(Node(priority: tasks[number].priority, registered: now))
        }
        if !diagnostics.isEmpty {
            remove(from: first)
            throw StartupError(diagnostics: diagnostics)
        }
    }

    /// Removes the tasks from number `first` on, which must not be connected.
    mutating func remove(from first: Int) {
        tasks.removeSubrange(first...)
        nodes.removeSubrange(first...)
        enterAll()
    }

    /// Enters the name of a task; of those of two scopes, the later one has it.
    ///
    /// - Returns: False where another task of the same scope has it.
    private mutating func enterName(of number: Int) -> Bool {
        let task = tasks[number]
        guard !numbers.add(task.name, as: number, among: tasks) else { return true }
        guard let other = numbers.number(of: task.name, among: tasks),
            tasks[Int(other)].scope !== task.scope
        else { return false }
        numbers.replace(other, by: number, task.name)
        hasCommonNames = true
        return true
    }

    private mutating func note(_ number: Int) {
        guard let scope = tasks[number].scope else { return }
        scopes[ObjectIdentifier(scope), default: []].append(Int32(number))
    }

    /// Enters the names of all tasks whose scopes are not closed, and their scopes.
    private mutating func enterAll() {
        (numbers, scopes, hasCommonNames) = (NameTable(), [:], false)
        numbers.reserve(tasks.count)
        for number in tasks.indices where !nodes[number].isClosed {
            _ = enterName(of: number)
            note(number)
        }
    }

    /// Gives up the tasks of some scopes: they are not required, may be removed, and their names are free.
    mutating func close(_ closed: [StartupScope]) {
        for task in closed.compactMap({ scopes.removeValue(forKey: ObjectIdentifier($0)) }).joined()
        {
            let number = Int(task)
            numbers.remove(tasks[number].name, of: number, among: tasks)
            // Not kept by a task that may stay for long.
            (tasks[number].required, tasks[number].scope) = (false, nil)
            nodes[number].isClosed = true
            closedCount += 1
        }
        // The tasks of other scopes have some of the names.
        if hasCommonNames { enterAll() }
    }

    /// Whether it pays to remove the tasks of closed scopes: they are half of all, and not few.
    var hasManyClosed: Bool { closedCount >= 64 && closedCount >= tasks.count / 2 }

    /// Removes the tasks of closed scopes and renumbers the others; all tasks have ended.
    ///
    /// - Parameter kept: The numbers of closed tasks that stay for now.
    /// - Returns: The new number of each task; ``none`` for those that were removed.
    mutating func removeClosed(except kept: Set<Int32>) -> [Int32] {
        var numbers = [Int32](repeating: Self.none, count: tasks.count)
        var (remaining, remainingNodes): ([StartupTask], [Node]) = ([], [])
        for task in tasks.indices where !nodes[task].isClosed || kept.contains(Int32(task)) {
            numbers[task] = Int32(remaining.count)
            remaining.append(tasks[task])
            remainingNodes.append(nodes[task])
        }
        for node in remainingNodes.indices {
            // Edges between tasks that have ended lead nowhere any more.
            remainingNodes[node].connect(firstIn: 0, pending: 0)
            remainingNodes[node].firstOut = Self.none
            let before = remainingNodes[node].releasedBy
            if before >= 0 { remainingNodes[node].releasedBy = numbers[Int(before)] }
        }
        (tasks, nodes, edges) = (remaining, remainingNodes, [])
        closedCount = 0
        enterAll()
        return numbers
    }

    /// Returns the edges into a connected task.
    func edgesIn(_ task: Int32) -> some Sequence<Edge> {
        edges[Int(nodes[Int(task)].firstIn)...].prefix { $0.to == task }
    }

    /// Removes and returns the work of a task, so that its captures are released when it has run.
    mutating func takeWork(_ task: Int32) -> StartupWork {
        var work = StartupWork.gone
        swap(&work, &tasks[Int(task)].work)
        return work
    }

    // MARK: Connecting

    /// Connects the tasks from number `first` on with those they run after, and computes chains and
    /// priorities.
    ///
    /// - Returns: Earlier tasks whose place in the order rose, once for each time it did.
    /// - Throws: Every unknown name and every cycle; then nothing was connected.
    mutating func connect(
        from first: Int
    ) throws(StartupError) -> [Raise] {
        let firstEdge = edges.count
        var diagnostics = link(from: first)
        // Most tasks are registered behind those they run after: then their edges are in order already.
        let isInOrder = edges[firstEdge...].allSatisfy { $0.from < $0.to }
        let (order, waits) = isInOrder ? ([], []) : topologicalOrder(from: first)
        if !isInOrder, order.count < tasks.count - first {
            diagnostics += cycles(from: first, waits)
        }
        if !diagnostics.isEmpty {
            for edge in edges[firstEdge...].reversed() {
                nodes[Int(edge.from)].firstOut = edge.next
            }
            edges.removeSubrange(firstEdge...)
            throw StartupError(diagnostics: diagnostics)
        }
        // From the ends of the chains on, so that one look at each edge is enough.
        var raised: [Raise] = []
        if isInOrder {
            raise(along: edges[firstEdge...].reversed(), before: first, &raised)
        } else {
            for task in order.reversed() { raise(along: edgesIn(task), before: first, &raised) }
        }
        // Earlier tasks come in no order: they are followed as far as something changes.
        var followed = 0
        while followed < raised.count {
            raise(along: edgesIn(raised[followed].task), before: first, &raised)
            followed += 1
        }
        return raised
    }

    /// Finds the tasks that the new ones name.
    private mutating func link(from first: Int) -> [StartupError.Diagnostic] {
        var diagnostics: [StartupError.Diagnostic] = []
        if first == 0 { edges.reserveCapacity(tasks.reduce(0) { $0 + $1.after.count }) }
        for task in first..<tasks.count {
            let firstIn = Int32(edges.count)
            var pending: Int32 = 0
            for name in tasks[task].after {
                guard let dependency = numbers.number(of: name, among: tasks) else {
                    diagnostics.append(
                        unknown(name, of: tasks[task].name, after: diagnostics.count))
                    continue
                }
                if nodes[Int(dependency)].phase != .succeeded { pending += 1 }
                var next = Int32(edges.count)
                swap(&next, &nodes[Int(dependency)].firstOut)
                edges.append(Edge(from: dependency, to: Int32(task), next: next))
            }
            nodes[task].connect(firstIn: firstIn, pending: pending)
        }
        return diagnostics
    }

    private func unknown(_ name: String, of task: String, after count: Int)
        -> StartupError.Diagnostic
    {
        // A comparison with every name there is: not for each of ten thousand problems.
        let nearest = count < 20 ? nearestName(to: name, in: tasks.lazy.map(\.name)) : nil
        return .unknownDependency(name, of: task, nearest: nearest)
    }

    /// Returns the new tasks, each behind the new ones it runs after.
    ///
    /// Tasks that wait for a cycle are missing; `waits` is above zero for them.
    private func topologicalOrder(from first: Int) -> (order: [Int32], waits: [Int32]) {
        var waits = [Int32](repeating: 0, count: nodes.count)
        for task in first..<nodes.count { forEachAfter(Int32(task)) { waits[Int($0)] += 1 } }
        var order: [Int32] = []
        order.reserveCapacity(nodes.count - first)
        for task in first..<nodes.count where waits[task] == 0 { order.append(Int32(task)) }
        var done = 0
        while done < order.count {
            forEachAfter(order[done]) { target in
                waits[Int(target)] -= 1
                if waits[Int(target)] == 0 { order.append(target) }
            }
            done += 1
        }
        return (order, waits)
    }

    /// Calls `body` with each task that runs right after `task`, the last registered one first.
    func forEachAfter(_ task: Int32, _ body: (Int32) -> Void) {
        var edge = nodes[Int(task)].firstOut
        while edge >= 0 {
            body(edges[Int(edge)].to)
            edge = edges[Int(edge)].next
        }
    }

    /// Raises the tasks at the beginnings of edges: their chain is longer by one than that of the task at the
    /// end, and they have its priority.
    private mutating func raise(
        along edges: some Sequence<Edge>, before first: Int, _ raised: inout [Raise]
    ) {
        var nodes = nodes.mutableSpan
        for edge in edges {
            let above = Int(edge.from)
            let before = nodes[above].priority
            let waiting = nodes[Int(edge.to)]
            guard nodes[above].raise(for: waiting), above < first else { continue }
            raised.append(Raise(task: edge.from, from: before, to: nodes[above].priority))
        }
    }
}
