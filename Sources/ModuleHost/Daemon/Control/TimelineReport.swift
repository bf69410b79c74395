import AppService

/// The entries of a record since a time, for `hostd timeline`.
package struct TimelineReport {
    /// The time from which on entries count.
    package enum Start: Hashable, Sendable {
        /// The beginning of the newest host.
        case launch
        /// The beginning of the record.
        case all
        case time(WallTime)
        /// As long ago.
        case ago(Duration)
    }

    /// The number of entries unless another one is asked for, and the greatest one.
    package static let limit = 1000
    package static let limits = 1...10_000

    let isRunning: Bool
    let entries: [HostRecord]
    /// Whether there are earlier entries that count, which the limit leaves out.
    let isCut: Bool
    /// The time of the oldest entry about a host or a module in the record.
    let knownSince: WallTime?
    let now: WallTime

    /// - Parameters:
    ///   - record: The record.
    ///   - isRunning: Whether a host writes it.
    ///   - start: The time from which on entries count.
    ///   - limit: The number of entries at most: the newest ones.
    ///   - now: The time.
    init(
        of record: RecordContents, isRunning: Bool, from start: Start, limit: Int, at now: WallTime
    ) {
        let newest = record.last(limit)
        let counting: ArraySlice<HostRecord> =
            switch start {
            case .all: newest[...]
            case .launch: newest[(newest.lastIndex(where: \.isStart) ?? 0)...]
            case .time, .ago:
                start.time(at: now).map { Self.entries(of: newest, since: $0) } ?? newest[...]
            }
        self.isRunning = isRunning
        entries = Array(counting)
        isCut =
            newest.count == limit && counting.count == limit && counting.first?.isStart == false
        knownSince = record.oldest?.time
        self.now = now
    }

    private static func entries(
        of newest: [HostRecord], since time: WallTime
    ) -> ArraySlice<HostRecord> {
        // The clock may have been set back: the first one from which on it holds for all.
        let last = newest.lastIndex { $0.time < time }
        return newest[(last.map { $0 + 1 } ?? 0)...]
    }

    /// Reads the record that the last host on a state directory has left.
    ///
    /// - Returns: Nil where there is none.
    package static func left(
        in directory: StateDirectory, from start: Start, limit: Int, at now: WallTime
    ) -> TimelineReport? {
        RecordContents(in: directory).map {
            TimelineReport(of: $0, isRunning: false, from: start, limit: limit, at: now)
        }
    }

    /// Writes the report as one object.
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("running", isRunning)
            if let knownSince { $0.member("knownSince", knownSince) }
            $0.member("time", now)
            if let origin = entries.first?.time { $0.member("from", origin) }
            if isCut { $0.member("cut", true) }
            $0.member("entries") {
                $0.objects(for: entries) { entry, json in
                    if let origin = entries.first?.time {
                        json.member("atMs", millisecondsOf: entry.time.nanoseconds(since: origin))
                    }
                    entry.writeMembers(to: &json)
                }
            }
        }
    }
}

extension TimelineReport.Start {
    /// Reads `launch`, `all`, a duration such as `10m`, or a time such as `2026-03-01T09:41:00Z`.
    package init?(_ text: String) {
        switch text {
        case "launch": self = .launch
        case "all": self = .all
        default:
            if let time = WallTime(text) {
                self = .time(time)
            } else if let time = try? Duration(reading: text) {
                self = .ago(time)
            } else {
                return nil
            }
        }
    }
}

extension TimelineReport.Start {
    /// Returns the time that it names; nil for `launch` and `all`.
    package func time(at now: WallTime) -> WallTime? {
        switch self {
        case .launch, .all: nil
        case .time(let time): time
        case .ago(let time): now.earlier(by: time)
        }
    }
}

extension HostRecord {
    /// Whether a host begins with it.
    fileprivate var isStart: Bool { if case .started = fact { true } else { false } }
}

extension WallTime {
    /// Returns the time that is as much earlier.
    func earlier(by time: Duration) -> WallTime {
        let parts = time.components
        return WallTime(seconds: seconds - Int(parts.seconds), nanoseconds: nanoseconds)
    }

    /// Returns the nanoseconds since another time; bounded, for times that were read from a file.
    fileprivate func nanoseconds(since origin: WallTime) -> Int {
        let limit = 1 << 32
        let (first, last) = (
            min(max(origin.seconds, -limit), limit), min(max(seconds, -limit), limit)
        )
        return (last - first) * 1_000_000_000 + nanoseconds - origin.nanoseconds
    }
}

private struct TimelineParameters: Decodable, Sendable {
    let since: String?
    let limit: Int?
}

extension ControlMethods {
    /// Adds `timeline`: `{"since": "10m", "limit": 100}`, the entries of the record since a time.
    mutating func addTimeline(of host: AppHost) {
        add("timeline", TimelineParameters.self) { parameters, call in
            let since = parameters.since ?? "launch"
            guard let start = TimelineReport.Start(since) else {
                return call.reply.fail(
                    .invalidParameters(
                        "/since: \(quoted(since)) is not 'launch', 'all', a duration or a time"))
            }
            let limit = parameters.limit ?? TimelineReport.limit
            guard TimelineReport.limits.contains(limit) else {
                return call.reply.fail(
                    .invalidParameters("/limit: \(limit) is not in \(TimelineReport.limits)"))
            }
            guard let record = host.ring?.contents else {
                return call.reply.fail(RPCError(.unavailable, "this host keeps no record"))
            }
            let report = TimelineReport(
                of: record, isRunning: true, from: start, limit: limit, at: .now())
            call.reply.succeed { report.write(to: &$0) }
        }
    }
}
