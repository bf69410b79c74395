import AppService

/// The answer to the question what is wrong with a host, or what is the matter with one of its modules or events.
package struct WhyReport: Hashable, Sendable {
    /// A thing to say, of a module or of the host.
    package struct Finding: Hashable, Sendable {
        /// The module; nil for the host.
        package var module: ModuleID?
        /// The state, in a word or a few.
        package var state: String
        package var since: WallTime?
        /// The reason, in one line.
        package var reason: String?
        /// The modules that need it.
        package var neededBy: [ModuleID] = []
        /// The events and the calls that wait for it.
        package var events = 0
        package var calls = 0
        /// The next thing that happens by itself.
        package var next: String?
        /// The command that helps.
        package var command: String?
        /// The place among the problems; nil where nothing is wrong.
        var rank: Rank?

        package init(_ module: ModuleID? = nil, _ state: String, _ rank: Rank? = nil) {
            (self.module, self.state, self.rank) = (module, state, rank)
        }
    }

    /// The kinds of problems, the worst first.
    package enum Rank: Int, Sendable {
        /// The host does not do its work: it is not ready, or its inbox cannot do its own.
        case unusable
        case unresponsive, failed, waiting, processEnds, errors, reload, deadLetters, requests, slow
        case task, death, slowStart
    }

    /// Whether a host runs; else this comes from the files that the last one has left.
    package var isRunning: Bool
    /// The host in one line.
    package var summary: String
    /// The event in question.
    var event: EventStory?
    /// The module or event in question, or the problems, the worst first.
    package var findings: [Finding] = []
    /// The last entries of the record, of the module or event in question or of a host that does not run any more.
    package var record: [HostRecord] = []
    /// Whether the entries are a part of one trace, and stand behind what has set them off.
    var hasCauses = false
    /// The time of the answer.
    package var time: WallTime

    /// The number of entries of the record to show.
    static let entries = 10
    /// The number of events among them in which the module took long.
    static let handlings = 3

    package init(isRunning: Bool, _ summary: String, at time: WallTime) {
        (self.isRunning, self.summary, self.time) = (isRunning, summary, time)
    }

    /// Writes the report as one object.
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("running", isRunning)
            $0.member("summary", summary)
            $0.member("time", time.iso8601)
            if let event { $0.member("event") { event.write(to: &$0) } }
            $0.member("findings") {
                $0.objects(for: findings) { finding, json in write(finding, to: &json) }
            }
            guard !record.isEmpty else { return }
            let rows = hasCauses ? CauseTree(record).rows : record.map { ($0, 0) }
            $0.member("record") {
                $0.objects(for: rows) { row, json in
                    row.entry.writeMembers(to: &json)
                    if row.depth > 0 { json.member("depth", row.depth) }
                }
            }
        }
    }

    private func write(_ finding: Finding, to json: inout JSONWriter) {
        if let module = finding.module { json.member("module", module.text) }
        json.member("state", finding.state)
        if let since = finding.since {
            json.member("since", since.iso8601)
            json.member("forMs", max(0, since.milliseconds(until: time)))
        }
        if let reason = finding.reason { json.member("reason", reason) }
        if !finding.neededBy.isEmpty { json.member("neededBy", finding.neededBy) }
        if finding.events > 0 { json.member("events", finding.events) }
        if finding.calls > 0 { json.member("calls", finding.calls) }
        if let next = finding.next { json.member("next", next) }
        if let command = finding.command { json.member("command", command) }
    }
}

extension WhyReport {
    /// Creates the report about a trace: what the record has kept of it, in order.
    ///
    /// - Parameters:
    ///   - trace: The id of the trace.
    ///   - record: The record.
    ///   - isRunning: Whether a host runs.
    ///   - now: The time.
    /// - Returns: Nil where the record has nothing of it.
    package static func of(
        _ trace: TraceID, in record: RecordContents?, isRunning: Bool, at now: WallTime
    ) -> WhyReport? {
        let entries = record?.last(Self.tracedEntries) { $0.trace?.trace == trace } ?? []
        guard let first = entries.first else { return nil }
        let count = entries.count == 1 ? "1 entry" : "\(entries.count) entries"
        var report = WhyReport(
            isRunning: isRunning,
            "trace \(trace.text): \(count) since \(first.time.iso8601)", at: now)
        (report.record, report.hasCauses) = (entries, true)
        return report
    }

    /// The number of entries of a trace to show.
    static let tracedEntries = 1000

    /// The reason for which nothing of a trace may be there.
    package static let untraced =
        "the record keeps deliveries and calls of a trace whose sender records it (its traceparent ends in 1), those of 1 ms "
        + "and more, and those that failed; with '--record all' it keeps every one"
}

extension RecordContents {
    /// Returns the last entries about a module, with a few events in which it took long: many of them would hide what
    /// happened to it.
    func story(of id: ModuleID) -> [HostRecord] {
        var handlings = 0
        return last(WhyReport.entries) { entry in
            guard entry.module == id else { return false }
            switch entry.fact {
            case .sent: return false
            case .handled:
                handlings += 1
                return handlings <= WhyReport.handlings
            default: return true
            }
        }
    }
}

extension WallTime {
    /// The milliseconds until a later time; bounded, for times that were read from a file.
    fileprivate func milliseconds(until later: WallTime) -> Int {
        let limit = 1 << 40
        let (first, last) = (
            min(max(seconds, -limit), limit), min(max(later.seconds, -limit), limit)
        )
        return (last - first) * 1000 + (later.nanoseconds - nanoseconds) / 1_000_000
    }
}
