import AppService

/// The calls of a module's process that it has not answered, and for which no thread waits, in the order in which they were sent.
///
/// The process has the time of one call for the first of them, from the moment at which it is the first: so a process that
/// answers one after the other is late only where one of them takes too long, however many there are. While the process itself
/// waits for the answer to a call, it is not late: that call has a time of its own.
struct OpenCalls {
    /// The numbers of the calls; those that were answered out of turn are among them until they are the first.
    private var numbers = Deque<Int>()
    private var callers: [Int: any LateCall] = [:]
    /// The moment from which the time of the first one counts.
    private var since = ContinuousClock.Instant.now
    /// Whether the time of the first one is watched.
    private var isWatched = false

    var count: Int { callers.count }
    var first: Int? { numbers.first }

    /// Adds a call.
    ///
    /// - Returns: Whether the time is to be watched from now on.
    mutating func add(_ number: Int, _ caller: any LateCall, at now: ContinuousClock.Instant)
        -> Bool
    {
        if callers.isEmpty { since = now }
        numbers.append(number)
        callers[number] = caller
        defer { isWatched = true }
        return !isWatched
    }

    /// Removes a call that is answered.
    ///
    /// - Returns: Its caller; nil where it was removed before.
    mutating func remove(_ number: Int, at now: ContinuousClock.Instant) -> (any LateCall)? {
        guard let caller = callers.removeValue(forKey: number) else { return nil }
        guard numbers.first == number else { return caller }
        since = now
        while let next = numbers.first, callers[next] == nil { _ = numbers.popFirst() }
        return caller
    }

    /// Removes all calls, since the first one is late: their time is watched no more.
    ///
    /// - Returns: Their callers, in order.
    mutating func removeAll() -> [any LateCall] {
        var all: [any LateCall] = []
        while let number = numbers.popFirst() {
            if let caller = callers.removeValue(forKey: number) { all.append(caller) }
        }
        isWatched = false
        return all
    }

    /// Gives the first call its whole time again: the process has got an answer that it waited for.
    mutating func restart(at now: ContinuousClock.Instant) { since = now }

    /// The result of a look at the time.
    enum Look: Hashable {
        /// There is no call: the time is watched no more.
        case idle
        /// The time of the first call ends then, at the earliest.
        case due(ContinuousClock.Instant)
        /// The first call has had its time.
        case late
    }

    /// Looks whether the first call has had its time.
    ///
    /// - Parameter isWaiting: Whether the process waits for the answer to a call of its own.
    mutating func look(
        at now: ContinuousClock.Instant, within limit: Duration, isWaiting: Bool = false
    ) -> Look {
        guard !callers.isEmpty else {
            isWatched = false
            return .idle
        }
        if isWaiting { since = now }
        let end = since + limit
        return now < end ? .due(end) : .late
    }
}
