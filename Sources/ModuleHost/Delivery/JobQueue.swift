/// First in, first out, on an array used as a ring: nothing is allocated once it has grown.
struct JobQueue {
    private var ring: [(any LaneJob)?] = Array(repeating: nil, count: 16)
    private var first = 0
    private(set) var count = 0

    mutating func append(_ job: any LaneJob) {
        if count == ring.count { grow() }
        ring[(first + count) & (ring.count - 1)] = job
        count += 1
    }

    mutating func popFirst() -> (any LaneJob)? {
        guard count > 0 else { return nil }
        let job = ring[first]
        ring[first] = nil
        first = (first + 1) & (ring.count - 1)
        count -= 1
        return job
    }

    /// Puts jobs, in their order, before all others.
    mutating func prepend(_ jobs: [any LaneJob]) {
        for job in jobs.reversed() {
            if count == ring.count { grow() }
            first = (first + ring.count - 1) & (ring.count - 1)
            ring[first] = job
            count += 1
        }
    }

    mutating func removeAll() -> [any LaneJob] {
        var all: [any LaneJob] = []
        while let job = popFirst() { all.append(job) }
        return all
    }

    /// Takes out jobs that stand before a certain one; none where that is not there.
    ///
    /// - Parameters:
    ///   - end: Whether a job is that one.
    ///   - isTaken: Which of those before it.
    /// - Returns: The jobs, in their order.
    mutating func remove(
        before end: (any LaneJob) -> Bool, where isTaken: (any LaneJob) -> Bool
    ) -> [any LaneJob] {
        let all = removeAll()
        let place = all.firstIndex(where: end) ?? all.startIndex
        var taken: [any LaneJob] = []
        for (index, job) in all.enumerated() {
            if index < place, isTaken(job) { taken.append(job) } else { append(job) }
        }
        return taken
    }

    /// The count stays a power of two, so that the place is a mask away.
    private mutating func grow() {
        var larger: [(any LaneJob)?] = Array(repeating: nil, count: ring.count * 2)
        for index in 0..<count { larger[index] = ring[(first + index) & (ring.count - 1)] }
        ring = larger
        first = 0
    }
}
