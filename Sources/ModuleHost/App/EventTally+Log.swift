import AppService

extension LifecycleEvent {
    /// The fields of its line in the log.
    var logFields: [LogField] {
        var fields = [LogField("origin", "\(origin)")]
        if let topic { fields.append(LogField("topic", topic)) }
        if let entry {
            fields.append(LogField("position", entry.position.description))
            if let id = entry.id { fields.append(LogField("id", id)) }
        }
        if let trace { fields.append(LogField("trace", trace.id.text)) }
        return fields
    }
}

extension EventTally {
    /// The fields of its line in the log.
    ///
    /// - Parameter duration: The time of the delivery, which is exact.
    func logFields(within duration: Duration) -> [LogField] {
        guard let (slot, time) = slowest, let module = slot.id else { return [] }
        let text = min(time, duration).briefText
        return [LogField("slowest", module.text), LogField("slowestTime", text)]
    }

    /// The result of an event in words: `3 modules, newData`.
    var summary: String {
        // Not an interpolation, which would take longer than the rest of this function; it runs for each event.
        var text = delivered == 1 ? "1 module" : String(delivered) + " modules"
        if failed > 0 { text += ", \(failed) failed" }
        if overdue > 0 { text += ", \(overdue) unresponsive" }
        if later > 0 { text += ", \(later) later" }
        if let fetch { text += ", \(fetch.rawValue)" }
        if let claimedBy = claimedBy?.id { text += ", claimed by \(claimedBy)" }
        return text
    }
}
