extension JSONWriter {
    /// Writes the members of an event that is to be sent, as parameters of the method `send`.
    package mutating func members(
        ofSent event: EventKind, payload: JSONValue?, id: String?, source: String?,
        traceparent: String?, waits: Bool = false
    ) {
        member("event", event.rawValue)
        if let payload { member("payload", raw: payload.textBytes) }
        if let id { member("id", id) }
        if let source { member("source", source) }
        if let traceparent { member("traceparent", traceparent) }
        if waits { member("wait", true) }
    }

    /// Writes the answer to an event that is in the inbox already.
    mutating func duplicate(_ id: String?) {
        object {
            if let id { $0.member("id", id) }
            $0.member("duplicate", true)
        }
    }

    /// Writes the answer to an event that was accepted; without an outcome, before its delivery.
    mutating func acceptance(
        _ id: String?, _ position: EventPosition, _ outcome: InboxSubmission.DeliveryResult?
    ) {
        let place = position.description
        object { json in
            json.member("id", id ?? place)
            json.member("position", place)
            switch outcome {
            case .done(let outcome)?: json.member("outcome") { $0.outcome(outcome) }
            case .rejected(let reason)?:
                json.member("deadLetter", reason)
            case .left?: json.member("left", true)
            case .pending?:
                json.member("duplicate", true)
                json.member("pending", true)
            case .duplicate?: json.member("duplicate", true)
            case nil: break
            }
        }
    }

    private mutating func outcome(_ outcome: EventOutcome) {
        object {
            $0.member("delivered", outcome.delivered)
            $0.member("failed", outcome.failed)
            $0.member("unresponsive", outcome.overdue)
            if outcome.later > 0 { $0.member("later", outcome.later) }
            if let fetch = outcome.fetch { $0.member("fetch", fetch.rawValue) }
            if let module = outcome.claimedBy { $0.member("claimedBy", module.text) }
            if let reply = outcome.reply { $0.member("reply", raw: reply) }
            if let failure = outcome.failure { $0.member("failure", failure) }
            if let undelivered = outcome.undelivered {
                $0.member("undelivered", undelivered)
            }
            if !outcome.waitsFor.isEmpty { $0.member("waitsFor", outcome.waitsFor) }
        }
    }
}
