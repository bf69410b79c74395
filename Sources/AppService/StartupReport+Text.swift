// The report as plain text, in the manner of `systemd-analyze`.
extension StartupReport {
    /// One line for each task that ran, slowest first.
    ///
    /// A line gives the time the task took, its name, and how it ended where it did not succeed.
    ///
    /// ```text
    ///    2s log in (overdue after 2s, ended after 2.5s)
    /// 350ms database
    ///  12ms settings
    /// ```
    public var blameText: String {
        let rows = blame.map { (($0.duration ?? .zero).briefText, $0) }
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { duration, entry in
            duration.padded(toLeft: width) + " " + entry.name + entry.remark + "\n"
        }.joined()
    }

    /// The critical chain, the last task first, with the time at which each began (`@`) and the time it took
    /// (`+`).
    ///
    /// ```text
    /// thumbnails @362ms +40ms
    /// └─database @12ms +350ms
    ///   └─settings @0ns +12ms
    /// ```
    public var criticalChainText: String {
        criticalChain.reversed().enumerated().map { depth, entry in
            let indent = String(repeating: " ", count: 2 * max(0, depth - 1))
            let started = (entry.started ?? .zero).briefText
            let duration = (entry.duration ?? .zero).briefText
            return indent + (depth > 0 ? "└─" : "")
                + "\(entry.name) @\(started) +\(duration)\(entry.remark)\n"
        }.joined()
    }

    /// Returns a timeline of the run: a line for each task, in order of their starts.
    ///
    /// A line has the number of the task's worker, `·` while the task could have begun and `█` while it ran.
    /// Tasks that did not run stand below with the reason.
    ///
    /// ```text
    /// settings   1 ██████
    /// database   1       ██████████████
    /// log in     2       ·█████████
    /// thumbnails 2                     ·████
    /// ```
    ///
    /// - Parameter columns: How wide the time axis is, from 10 to 1000 characters.
    /// - Returns: Lines, each with its line break.
    public func picture(columns: Int = 60) -> String {
        let columns = min(max(columns, 10), 1000)
        let ran = tasks.filter { $0.started != nil }
            .sorted { ($0.started ?? .zero) < ($1.started ?? .zero) }
        let end = max(ran.compactMap { $0.ended ?? $0.started }.max() ?? .zero, .nanoseconds(1))
        let nameWidth = ran.map(\.name.count).max() ?? 0
        let workerWidth = ran.compactMap(\.worker).max().map { "\($0)".count } ?? 0
        func column(_ instant: Duration) -> Int { Int(instant / end * Double(columns)) }

        var text = ""
        for entry in ran {
            guard let started = entry.started, let worker = entry.worker else { continue }
            let from = min(column(started), columns - 1)
            let ready = min(column(entry.ready ?? started), from)
            let to = max(from + 1, column(entry.ended ?? end))
            text += entry.name.padded(toRight: nameWidth) + " "
            text += "\(worker)".padded(toLeft: workerWidth) + " "
            text += String(repeating: " ", count: ready)
            text += String(repeating: "·", count: from - ready)
            text += String(repeating: "█", count: to - from) + entry.remark + "\n"
        }
        for entry in tasks where entry.started == nil {
            text += "\(entry.name): \(entry.outcome?.description ?? "has not begun")\n"
        }
        return text
    }
}

extension StartupReport.Entry {
    /// The remark beside a success.
    fileprivate var remark: String {
        guard let outcome else { return " (still running)" }
        guard outcome != .succeeded else { return "" }
        guard let endedLate, let started else { return " (\(outcome))" }
        return " (\(outcome), ended after \((endedLate - started).briefText))"
    }
}

extension String {
    fileprivate func padded(toLeft width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    fileprivate func padded(toRight width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
