import AppService

/// Findings about the host itself.
extension WhyKnowledge {
    /// The inbox that cannot do its work.
    var inbox: [WhyReport.Finding] {
        guard let inbox = status.inbox, let problem = inbox.problem else { return [] }
        var finding = WhyReport.Finding(nil, "inbox", .unusable)
        (finding.since, finding.reason) = (inbox.problemSince, problem)
        finding.command =
            problem.contains(bytesOf: "No space left")
            ? "df -h \(shellQuoted(status.identity.stateDirectory))" : "\(program) inbox"
        return [finding]
    }

    /// The slatefiles that did not take effect.
    var reloads: [WhyReport.Finding] {
        let (last, ofFile) = (status.lastReload, status.lastReloadOfFile)
        let all = last == ofFile ? [last] : [ofFile, last]
        return all.compactMap(\.self).filter { $0.exitCode != .success }.map { reload in
            let what = reload.isHandedOver ? "apply" : "reload"
            var finding = WhyReport.Finding(nil, "\(what) \(reload.word)", .reload)
            finding.since = reload.time
            finding.reason = reload.summary
            finding.next = "the former slatefile stays in effect"
            if !reload.isHandedOver, let slatefile = status.identity.slatefile {
                finding.command = "\(program) check \(shellQuoted(slatefile))"
            }
            return finding
        }
    }

    /// The dead letters; what was retried or dropped since is not wrong any more.
    var deadLetters: [WhyReport.Finding] {
        guard let deadLetter else { return [] }
        let rejected = status.inbox?.rejected ?? 0
        let name = deadLetter.id ?? "\(deadLetter.position)"
        var finding = WhyReport.Finding(nil, "dead letters", .deadLetters)
        finding.since = WallTime(deadLetter.time)
        finding.reason =
            "\(rejected == 0 ? "none" : "\(rejected)") since the host started; "
            + "the last one, \(name): \(deadLetter.reason)"
        finding.command = "\(program) inbox"
        return [finding]
    }

    /// The end of the host before this one, if it was a death.
    var lastDeath: [WhyReport.Finding] {
        guard let death = status.identity.lastDeath else { return [] }
        var finding = WhyReport.Finding(nil, "last death", .death)
        (finding.since, finding.reason) = (status.identity.startedAt, "\(death)")
        return [finding]
    }

    /// The requests of the control socket that failed a short time ago, if there were many.
    func failedRequests(_ recent: [HostRecord]) -> [WhyReport.Finding] {
        var (count, newest) = (0, nil as (time: WallTime, text: String, process: Int)?)
        for entry in recent {
            guard case .requestsFailed(let number, let last, let process) = entry.fact else {
                continue
            }
            count += number
            newest = (entry.time, last, process)
        }
        guard let newest else { return [] }
        var finding = WhyReport.Finding(nil, "failing requests", .requests)
        finding.reason =
            "\(count) requests failed in the last 10 minutes; at \(newest.time.iso8601): \(newest.text)"
        finding.command = "ps -f -p \(newest.process)"
        return [finding]
    }
}
