import AppService

extension WhyReport {
    /// Creates the report about a host that does not run any more, from its black box and its record.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - name: The id of the module in question; nil for all.
    ///   - program: The name of the host's program.
    ///   - now: The time.
    /// - Throws: ``NoSuchModule`` where neither file has the module.
    /// - Returns: Nil where there are no such files.
    package static func left(
        in directory: StateDirectory, of name: String?, program: String, at now: WallTime
    ) throws(NoSuchModule) -> WhyReport? {
        let box = BlackBox.Contents(in: directory)
        let record = RecordContents(in: directory)
        guard box != nil || record != nil else { return nil }
        var report = WhyReport(
            isRunning: false, summary(box, record, in: directory), at: now)
        guard let name else {
            report.findings = findings(after: box?.death)
            report.findings.append(notRunning(in: directory, program))
            report.record = record?.last(entries) ?? []
            return report
        }
        let id = try? ModuleID(name)
        let own = id.flatMap { id in record?.story(of: id) } ?? []
        let isInBox = box?.order.contains { $0.text == name } == true
        guard isInBox || !own.isEmpty else {
            let others = Set(record?.last(.max).compactMap(\.module?.text) ?? [])
            let known = others.union(box?.order.map(\.text) ?? [])
            throw NoSuchModule(
                name: name, nearest: nearestName(to: name, in: known.sorted()))
        }
        var finding = Finding(id, "not running")
        // Of a host that died, the record does not have the end.
        let end = record?.last(1).first
        if box?.death == nil, case .ended? = end?.fact { finding.since = end?.time }
        finding.reason =
            findings(after: box?.death).first { $0.module?.text == name }?.reason
            ?? box?.death.map { "\($0)" } ?? "the host ended"
        finding.command = "\(program) run"
        report.findings = [finding]
        report.record = id.flatMap { record?.story(of: $0) } ?? []
        return report
    }

    private static func summary(
        _ box: BlackBox.Contents?, _ record: RecordContents?, in directory: StateDirectory
    ) -> String {
        var text = "no host runs on the state directory \(quoted(directory.path))"
        let end = record?.last(1).first
        if let death = box?.death {
            text += "; \(death)"
        } else if let box {
            text += "; the last host (process \(box.processID)) ended"
            if case .ended(let reason?)? = end?.fact { text += ": \(reason)" }
        }
        if let end { text += "; the last entry of the record is of \(end.time.iso8601)" }
        return text
    }

    /// The last finding where no host runs: what waits for the next one.
    private static func notRunning(in directory: StateDirectory, _ program: String) -> Finding {
        var finding = Finding(nil, "not running")
        finding.command = "\(program) run"
        let inbox = try? InboxFilesListing(in: directory, limit: 1)
        finding.events = inbox?.count ?? 0
        let begun = inbox?.behind.keys.sortedByText(\.text) ?? []
        guard !begun.isEmpty else { return finding }
        finding.reason = "\(begun.map(\.text).shortList()) had events to handle"
        finding.next = "they are delivered when a host starts"
        return finding
    }

    private static func findings(after death: LastDeath?) -> [Finding] {
        guard let death else { return [] }
        var findings: [Finding] = []
        if let module = death.module {
            var finding = Finding(module, "was running when the host died")
            finding.reason = "\(death)"
            findings.append(finding)
        }
        for module in death.overdue where module != death.module {
            var finding = Finding(module, "was unresponsive when the host died")
            finding.reason = "it ran on a thread of its own, and may have been the cause"
            findings.append(finding)
        }
        return findings
    }
}
