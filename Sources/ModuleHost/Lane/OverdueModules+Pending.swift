extension OverdueModules {
    /// Returns the durable events that the lane has passed, and that a module has yet to receive.
    ///
    /// - Returns: Their number, which is that of the module with the most of them, and the position of the first; nil for
    ///   none.
    func pending(log: EventLog) -> (count: Int, first: EventPosition)? {
        let overdue = modules.values.filter(\.slot.isListed).map { module in
            var (count, first) = (module.inboxBacklog.count, module.inboxBacklog.first)
            var position = module.position
            while position < log.head {
                if let kept = log[position], let entry = kept.event.entry,
                    kept.isFor(module.slot) != false
                {
                    count += 1
                    first = first ?? entry.position
                }
                position += 1
            }
            if let begun = module.begun { (count, first) = (count + 1, begun.position) }
            return (count, first)
        }
        let failed = failed.values.map { ($0.inboxBacklog.count, $0.inboxBacklog.first) }
        let all = overdue + failed
        guard let first = all.compactMap(\.1).min() else { return nil }
        return (all.map(\.0).max() ?? 0, first)
    }
}

extension Lane {
    /// Returns the durable events that the lane has passed, and that a module has yet to receive: their number, and the
    /// first position; nil for none.
    var pendingEvents: (count: Int, first: EventPosition)? {
        state.withLock { $0.overdue.pending(log: $0.log) }
    }
}
