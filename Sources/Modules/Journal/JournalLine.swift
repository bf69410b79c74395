import ModuleHostCore

extension JSONWriter {
    /// Writes an event as a line of the journal; missing values have no member.
    mutating func journalLine(of event: LifecycleEvent, at time: WallTime) {
        object { line in
            line.member("time", time.iso8601)
            line.member("event", event.kind.rawValue)
            if let position = event.position {
                if let id = event.id { line.member("id", id) }
                line.member("position", position.description)
                if event.attempt > 1 {
                    line.member("attempt", event.attempt)
                } else if event.isRepeated {
                    line.member("repeated", true)
                }
            }
            if let payload = event.payload {
                line.member("payload") { $0.redacted(payload) }
            }
            line.member("origin", event.origin)
        }
        newline()
    }
}
