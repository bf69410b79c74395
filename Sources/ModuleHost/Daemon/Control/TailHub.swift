import AppService
import Synchronization

/// The distributor of log records to the followers of a host.
///
/// Publishing never waits for a follower: each has a ring of its own, in which the newest line replaces the
/// oldest; a follower receives the number of lost ones at the place where they are missing. Without
/// followers, publishing costs one atomic load.
///
/// As a sink it publishes log records: put it behind a log with a ``LogTee``.
package final class TailHub: LogSink {
    /// The limits of the lines that wait for one follower.
    struct Limits: Hashable, Sendable {
        var entries = 1024
        var bytes = 1 << 20
    }

    private let limits: Limits
    private let followers = Guarded<[TailFollower]>([])
    private let count = Atomic(0)

    package convenience init() { self.init(limits: Limits()) }

    init(limits: Limits) { self.limits = limits }

    /// Whether there is a follower.
    @inline(__always)
    package var isFollowed: Bool { count.load(ordering: .relaxed) > 0 }

    /// Publishes an event to the followers.
    ///
    /// - Parameter members: Writes the members of an object; called only if there is a follower, on
    ///   this thread, at once.
    package func publish(_ members: (inout JSONWriter) -> Void) {
        guard isFollowed else { return }
        var json = JSONWriter()
        json.rpcRequest("event", id: nil) { $0.object(members) }
        distribute(json.bytes)
    }

    package func write(_ record: LogRecord) {
        guard isFollowed else { return }
        var line: [UInt8] = []
        LogFormat.json.append(record, to: &line)
        var json = JSONWriter()
        json.rpcRequest("event", id: nil) { $0.raw(line.dropLast()) }
        distribute(json.bytes)
    }

    private func distribute(_ line: [UInt8]) {
        for follower in followers.withLock({ $0 }) { follower.append(line) }
    }

    /// Adds a follower, and begins to keep events for it.
    ///
    /// - Parameter wake: Called when there is an event to take after there was none; on the publishing
    ///   thread, so it must be quick.
    func follow(wake: @escaping @Sendable () -> Void) -> TailFollower {
        let follower = TailFollower(limits: limits, wake: wake)
        followers.withLock { $0.append(follower) }
        count.add(1, ordering: .relaxed)
        return follower
    }

    func unfollow(_ follower: TailFollower) {
        let isRemoved = followers.withLock { followers in
            guard let index = followers.firstIndex(where: { $0 === follower }) else { return false }
            followers.remove(at: index)
            return true
        }
        if isRemoved { count.subtract(1, ordering: .relaxed) }
    }
}

/// The lines that wait for one follower.
final class TailFollower: Sendable {
    fileprivate struct Ring {
        var lines = Deque<[UInt8]>()
        var bytes = 0
        /// The number of lines that were dropped before the oldest.
        var lost = 0
    }

    private let limits: TailHub.Limits
    private let wake: @Sendable () -> Void
    private let ring = Guarded(Ring())

    fileprivate init(limits: TailHub.Limits, wake: @escaping @Sendable () -> Void) {
        self.limits = limits
        self.wake = wake
    }

    fileprivate func append(_ line: [UInt8]) {
        let isFirst = ring.withLock { ring in
            let wasEmpty = ring.isEmpty
            ring.append(line)
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
        ring.withLock { ring in
            if ring.lost > 0 {
                var json = JSONWriter()
                json.rpcRequest("lost", id: nil) { $0.object { $0.member("lost", ring.lost) } }
                ring.lost = 0
                return json.bytes
            }
            return ring.removeFirst()
        }
    }
}

extension TailFollower.Ring {
    fileprivate var count: Int { lines.count }
    fileprivate var isEmpty: Bool { count == 0 && lost == 0 }

    fileprivate mutating func append(_ line: [UInt8]) {
        lines.append(line)
        bytes += line.count
    }

    fileprivate mutating func removeFirst() -> [UInt8]? {
        let line = lines.popFirst()
        bytes -= line?.count ?? 0
        return line
    }
}

/// A log sink that passes each record to two others.
package struct LogTee: LogSink {
    private let first: any LogSink
    private let second: any LogSink

    package init(_ first: any LogSink, _ second: any LogSink) {
        self.first = first
        self.second = second
    }

    package func write(_ record: LogRecord) {
        first.write(record)
        second.write(record)
    }
}
