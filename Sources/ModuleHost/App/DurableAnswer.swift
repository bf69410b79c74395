import AppService

/// The answer to a durable `open-url`: the event is done when the answer is there, and not when the handler
/// first suspends.
///
/// The lane ends the delivery itself where the call has its answer by then. Else it notes the event as
/// unanswered and continues, and the thread of the answer ends it.
final class DurableAnswer: Sendable {
    private enum State {
        /// The lane is in the call; the answer may be there already.
        case calling(EventOutcome?)
        /// The lane has passed the event.
        case suspended
        case done
    }

    private let state = Guarded(State.calling(nil))
    private let entry: InboxEntry
    private let inbox: Inbox?

    init(to entry: InboxEntry, in inbox: Inbox?) {
        self.entry = entry
        self.inbox = inbox
    }

    /// Whether the answer ends the delivery, or has ended it, and not the lane.
    var isSuspended: Bool {
        state.withLock { if case .calling = $0 { false } else { true } }
    }

    /// Notes that the call has begun, and that its answer comes or came elsewhere.
    ///
    /// On the lane.
    func suspend() {
        inbox?.suspended(entry)
        let outcome = state.withLock { state -> EventOutcome? in
            switch state {
            case .calling(let outcome?):
                state = .done
                return outcome
            case .calling(nil): state = .suspended
            case .suspended, .done: break
            }
            return nil
        }
        if let outcome { inbox?.answered(entry, outcome) }
    }

    /// Ends the delivery without an answer of the handler: the call failed within the lane.
    ///
    /// On the lane.
    func end(_ outcome: EventOutcome) {
        state.withLock { $0 = .done }
        inbox?.ended(entry, outcome)
    }

    /// Notes the answer.
    ///
    /// From any thread.
    func answer(_ outcome: EventOutcome) {
        let isSuspended = state.withLock { state in
            switch state {
            case .calling(nil): state = .calling(outcome)
            case .suspended:
                state = .done
                return true
            case .calling, .done: break
            }
            return false
        }
        if isSuspended { inbox?.answered(entry, outcome) }
    }
}
