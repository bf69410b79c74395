import AppService

/// The deadlines that the process of a Swift module watches itself: those of code that no request of the host waits for.
struct ModuleDeadlines: Hashable, Sendable {
    /// The deadline of each entry into the module.
    var event: Duration
    /// The deadline of an answer that comes later, and of work off the lane.
    var call: Duration

    /// Creates the deadlines that the host has for a module.
    init(_ context: ModuleContext) {
        let deadlines = context.host.services.deadlines
        event = context.slot.deadline ?? deadlines.event
        call = deadlines.call
    }

    /// Reads what ``write(to:)`` writes; nil for anything else.
    init?(_ value: JSONValue?) {
        guard let event = value?["eventMs"]?.int, let call = value?["callMs"]?.int, event > 0,
            call > 0
        else { return nil }
        self.event = .milliseconds(event)
        self.call = .milliseconds(call)
    }

    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("eventMs", event.wholeNanoseconds / 1_000_000)
            $0.member("callMs", call.wholeNanoseconds / 1_000_000)
        }
    }
}
