import ModuleHost

extension JSONWriter {
    /// Writes an event as a line of the journal: no member stands for what is not there.
    mutating func journalLine(of event: LifecycleEvent, at time: WallTime) {
        object { line in
            line.member("time", time.iso8601)
            line.member("event", event.kind.rawValue)
            if let position = event.position {
                if let id = event.id { line.member("id", id) }
                line.member("position", position.description)
                if event.attempt > 1 { line.member("attempt", event.attempt) }
            }
            if let payload = event.payload {
                line.member("payload") { $0.redacted(payload) }
            }
            line.member("origin") { $0.origin(event.origin) }
        }
        newline()
    }

    private mutating func origin(_ origin: Origin) {
        object { object in
            switch origin {
            case .host: object.member("kind", "host")
            case .local(let module):
                object.member("kind", "local")
                object.member("module", module.text)
            case .signal(_, let uid, let pid, let value):
                object.member("kind", "signal")
                if let uid { object.member("uid", Int(uid)) }
                if let pid { object.member("pid", Int(pid)) }
                if let value { object.member("value", Int(value)) }
            case .control(let uid, let pid):
                object.member("kind", "control")
                object.member("uid", Int(uid))
                object.member("pid", Int(pid))
            case .inbox: object.member("kind", "inbox")
            case .push: object.member("kind", "push")
            }
        }
    }
}
