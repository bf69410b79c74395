import AppService

/// The knowledge of a running host from which it answers why.
struct WhyKnowledge {
    let status: HostStatus
    let modules: [ModuleStatus]
    /// The modules that need each.
    let dependents: [ModuleID: [ModuleID]]
    let record: RecordContents?
    /// The last dead letter in the file, perhaps of an earlier host; nil for none.
    var deadLetter: DeadLetter?
    /// The reason why a host that starts is not ready; nil for one that is.
    var notReady: String?
    /// The name of the host's program, for the commands that help.
    let program: String
    let now: WallTime

    /// The time that counts as recent, in seconds.
    private static let recent = 600
    /// The time from which on a delivery counts as slow.
    static let slowDelivery: Duration = .milliseconds(100)

    /// Returns the report about a module.
    func report(of module: ModuleStatus) -> WhyReport {
        var report = WhyReport(isRunning: true, summary, at: now)
        report.findings = [
            finding(
                of: module, recentEntries.filter { $0.module == module.id },
                placesOfUnresponsive([module]))
        ]
        report.record = record?.story(of: module.id) ?? []
        return report
    }

    /// Returns the report about all that is wrong, the worst first.
    func report() -> WhyReport {
        var report = WhyReport(isRunning: true, summary, at: now)
        let recent = recentEntries
        let own = Dictionary(grouping: recent) { $0.module }
        let places = placesOfUnresponsive(modules)
        let failed = Set(modules.lazy.filter { $0.state == .failed }.map(\.id))
        let wrong = modules.filter { module in
            // It is shown as one that needs that.
            !(module.failedNeed.map(failed.contains) ?? false)
        }.map { finding(of: $0, own[$0.id] ?? [], places) }.filter { $0.rank != nil }
        let others =
            unfinishedStart + inbox + reloads + deadLetters + lastDeath + failedRequests(recent)
            + slowDeliveries(recent) + tasks + slowStart
        report.findings = (wrong + others).enumerated()
            .map { (place: ($0.element.rank?.rawValue ?? 0, $0.offset), finding: $0.element) }
            .sorted { $0.place < $1.place }.map(\.finding)
        return report
    }

    private var summary: String {
        let metrics = status.metrics
        let since = (metrics.stateSince ?? status.identity.startedAt).iso8601
        return "\(status.identity.app): \(metrics.state.inWords) since \(since), "
            + "process \(status.identity.processID)"
    }

    /// The most entries of one kind that count.
    private static let mostRecent = 1000

    /// The entries of this host, of the last minutes, that say what may be wrong; many events that went well leave them in place.
    private var recentEntries: [HostRecord] {
        let start = max(now.seconds - Self.recent, status.identity.startedAt.seconds)
        var (faults, deliveries, isSlow) = (0, 0, false)
        return record?.last(.max) { entry in
            guard entry.time.seconds >= start else { return false }
            switch entry.fact {
            case .processEnded, .threw, .requestsFailed:
                faults += 1
                return faults <= Self.mostRecent
            // The newest comes first: these are of the delivery behind them.
            case .handled: guard isSlow else { return false }
            case .delivered(let delivery):
                isSlow = delivery.duration >= Self.slowDelivery
                guard isSlow else { return false }
            default: return false
            }
            deliveries += 1
            return deliveries <= Self.mostRecent
        } ?? []
    }
}

/// Returns a number of occurrences in words.
func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
