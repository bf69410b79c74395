import AppService

/// The distributor of log records to the followers of a host.
///
/// Publishing never waits for a follower: each has a ring of its own, in which the newest line replaces the
/// oldest; a follower receives the number of lost ones at the place where they are missing. The newest lines
/// are kept for followers that begin later.
///
/// As a sink it publishes log records: put it behind a log with a ``LogTee``.
package final class TailHub: LogSink {
    /// The limits of the lines that wait for one follower.
    struct Limits: Hashable, Sendable {
        var entries = 1024
        var bytes = 1 << 20
    }

    private struct State {
        var followers: [TailFollower] = []
        var history = TailHistory()
    }

    /// The levels of the log, which followers lower.
    let levels: LogLevels
    private let limits: Limits
    private let state = Guarded(State())

    /// Creates a distributor without followers.
    ///
    /// - Parameter levels: The levels of the log whose records it is given.
    package convenience init(_ levels: LogLevels = LogLevels(start: nil)) {
        self.init(levels, limits: Limits())
    }

    init(_ levels: LogLevels = LogLevels(start: nil), limits: Limits) {
        self.levels = levels
        self.limits = limits
    }

    /// Whether there is a follower.
    package var isFollowed: Bool { state.withLock { !$0.followers.isEmpty } }

    package func write(_ record: LogRecord) {
        // What only a follower wants would leave the others little of what the log wrote.
        let isKept = levels.isWritten(record.level, for: record.module)
        let followers = state.withLock { state in
            if isKept { state.history.append(record) }
            return state.followers
        }
        for follower in followers where follower.request.wants(record) { follower.append(record) }
    }

    /// Adds a follower.
    ///
    /// - Thread: One for all followers that come and go, such as that of the control socket.
    /// - Parameters:
    ///   - request: The lines that it wants, and those that it begins with.
    ///   - wake: Called when there is a line to take after there was none; on the thread that logs, so it
    ///     must be quick.
    /// - Returns: The follower, and the time from which on lines are kept; nil if none was dropped so far.
    func follow(
        _ request: TailRequest = TailRequest(), wake: @escaping @Sendable () -> Void
    ) -> (follower: TailFollower, keptSince: WallTime?) {
        let follower = TailFollower(request, limits: limits, wake: wake)
        let history = state.withLock { state in
            state.followers.append(follower)
            return state.history
        }
        updateLevel()
        // Searched without the lock, which each line takes; lines that come meanwhile are behind those.
        follower.begin(with: history.lines(for: request))
        return (follower, history.start)
    }

    func unfollow(_ follower: TailFollower) {
        state.withLock { state in state.followers.removeAll { $0 === follower } }
        updateLevel()
    }

    private func updateLevel() {
        levels.follow(state.withLock { $0.followers.map(\.request.level).min() })
    }
}

/// The lines that wait for one follower; each gets its form when it is taken, not on the thread that logs.
final class TailFollower: Sendable {
    fileprivate struct Ring {
        /// The kept lines that it begins with.
        var earlier: ArraySlice<LogRecord> = []
        var lines = Deque<LogRecord>()
        /// The bytes of their texts.
        var bytes = 0
        /// The number of lines that were dropped before the oldest.
        var lost = 0
    }

    let request: TailRequest
    private let limits: TailHub.Limits
    private let wake: @Sendable () -> Void
    private let ring = Guarded(Ring())

    fileprivate init(
        _ request: TailRequest, limits: TailHub.Limits, wake: @escaping @Sendable () -> Void
    ) {
        self.request = request
        self.limits = limits
        self.wake = wake
    }

    /// Puts kept lines before all others.
    fileprivate func begin(with lines: [LogRecord]) {
        ring.withLock { $0.earlier = lines[...] }
        if !lines.isEmpty { wake() }
    }

    fileprivate func append(_ record: LogRecord) {
        let isFirst = ring.withLock { ring in
            let wasEmpty = ring.isEmpty
            ring.append(record)
            while ring.count > limits.entries || ring.bytes > limits.bytes {
                _ = ring.removeFirst()
                ring.lost += 1
            }
            return wasEmpty
        }
        if isFirst { wake() }
    }

    /// Takes the oldest line, or before it the number of missing lines.
    func next() -> [UInt8]? {
        let (record, lost) = ring.withLock { ring -> (LogRecord?, Int) in
            if let record = ring.earlier.popFirst() { return (record, 0) }
            defer { ring.lost = 0 }
            return ring.lost > 0 ? (nil, ring.lost) : (ring.removeFirst(), 0)
        }
        guard lost > 0 else { return record?.notification }
        var json = JSONWriter()
        json.rpcRequest("lost", id: nil) { $0.object { $0.member("lost", lost) } }
        return json.bytes
    }
}

extension TailFollower.Ring {
    fileprivate var count: Int { lines.count }
    fileprivate var isEmpty: Bool { earlier.isEmpty && count == 0 && lost == 0 }

    fileprivate mutating func append(_ record: LogRecord) {
        lines.append(record)
        bytes += record.size
    }

    fileprivate mutating func removeFirst() -> LogRecord? {
        let record = lines.popFirst()
        bytes -= record?.size ?? 0
        return record
    }
}

extension LogRecord {
    /// The notification of a follower, without its newline.
    fileprivate var notification: [UInt8] {
        var line: [UInt8] = []
        LogFormat.json.append(self, to: &line)
        var json = JSONWriter()
        json.rpcRequest("event", id: nil) { $0.raw(line.dropLast()) }
        return json.bytes
    }
}

/// A log sink that passes to another what the log writes, and to followers what they want.
package struct LogTee: LogSink {
    private let output: any LogSink
    private let tail: TailHub

    package init(_ output: any LogSink, _ tail: TailHub) {
        self.output = output
        self.tail = tail
    }

    package func write(_ record: LogRecord) {
        if tail.levels.isWritten(record.level, for: record.module) { output.write(record) }
        tail.write(record)
    }
}
