import AppService

/// Findings about the start of the host.
extension WhyKnowledge {
    /// The time from which on a start counts as slow.
    private static let longStart: Duration = .seconds(5)

    /// The start that is not over.
    var unfinishedStart: [WhyReport.Finding] {
        guard let notReady else { return [] }
        var finding = WhyReport.Finding(nil, "starting", .unusable)
        (finding.since, finding.reason) = (status.identity.startedAt, notReady)
        finding.command = "\(program) startup"
        return [finding]
    }

    /// The start of this host if it took long, with its slowest step.
    var slowStart: [WhyReport.Finding] {
        guard let ready = status.metrics.readyAfter, ready >= Self.longStart else { return [] }
        let steps = status.slowStart.compactMap { step in step.duration.map { (step.name, $0) } }
        guard let (name, time) = steps.max(by: { $0.1 < $1.1 }) else { return [] }
        var finding = WhyReport.Finding(nil, "slow start", .slowStart)
        finding.since = status.identity.startedAt
        finding.reason = "READY took \(ready.briefText), \(time.briefText) of it \(name)"
        finding.command = "\(program) startup"
        return [finding]
    }

    /// The start-up tasks of this host that did not succeed.
    var tasks: [WhyReport.Finding] {
        let start = status.identity.startedAt.seconds
        let entries =
            record?.last(WhyReport.entries) { entry in
                guard case .task(_, let outcome, _) = entry.fact,
                    outcome != "\(StartupOutcome.succeeded)"
                else { return false }
                return entry.time.seconds >= start
            } ?? []
        return entries.map { entry in
            var finding = WhyReport.Finding(entry.module, "start-up task", .task)
            (finding.since, finding.reason) = (entry.time, entry.text)
            return finding
        }
    }
}
