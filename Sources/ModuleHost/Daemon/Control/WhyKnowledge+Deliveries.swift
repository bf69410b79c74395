import AppService

/// Findings about deliveries.
extension WhyKnowledge {
    /// The topics and events that were delivered slowly a short time ago, the slowest first.
    func slowDeliveries(_ recent: [HostRecord]) -> [WhyReport.Finding] {
        typealias Share = (module: ModuleID, time: Duration)
        var slow: [String: (count: Int, longest: Duration, share: Share?, last: WallTime)] = [:]
        // Each of a delivery stands before that.
        var shares: [String: Share] = [:]
        func name(_ kind: EventKind, _ topic: String?) -> String {
            kind.rawValue + (topic.map { " \($0)" } ?? "")
        }
        for entry in recent {
            switch entry.fact {
            case .handled(let handling):
                let name = name(handling.kind, handling.topic)
                guard let module = entry.module, handling.duration > shares[name]?.time ?? .zero
                else { continue }
                shares[name] = (module, handling.duration)
            case .delivered(let delivery):
                let name = name(delivery.kind, delivery.topic)
                let share = shares.removeValue(forKey: name)
                guard delivery.duration >= Self.slowDelivery, delivery.kind != .launch else {
                    continue
                }
                var value = slow[name] ?? (0, .zero, nil, entry.time)
                if delivery.duration > value.longest {
                    (value.longest, value.share) = (delivery.duration, share)
                }
                (value.count, value.last) = (value.count + 1, entry.time)
                slow[name] = value
            default: break
            }
        }
        return slow.sorted { $0.value.longest > $1.value.longest }.prefix(3).map { name, value in
            var finding = WhyReport.Finding(nil, "slow", .slow)
            finding.reason =
                "\(name) took \(value.longest.briefText) at most, "
                + "\(times(value.count)) in the last 10 minutes, "
                + "at \(value.last.iso8601) for the last time"
            if let share = value.share {
                finding.reason? += "; \(share.time.briefText) of it in \(share.module)"
                finding.command = "\(program) why \(share.module)"
            } else {
                finding.reason? +=
                    "; no handler of it took long: it waited for modules that had other events"
            }
            return finding
        }
    }
}
