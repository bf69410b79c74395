import AppService

/// The answer to a durable `open-url`: the event is done when the answer is there, and not when the handler
/// first suspends.
///
/// If the route answers at once, the lane ends the delivery. Otherwise the lane notes the event as unanswered and
/// continues, and the thread of the answer ends the delivery.
final class DurableAnswer: Sendable {
    private enum State {
        /// The lane is in the call; the answer may be there already.
        case calling(EventOutcome?)
        /// The lane notes the event as unanswered.
        case suspending(EventOutcome?)
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

    /// Whether the answer ends the delivery and not the lane, or it has ended.
    var isOver: Bool {
        state.withLock { if case .calling = $0 { false } else { true } }
    }

    /// Notes that the answer comes, or came, elsewhere.
    ///
    /// On the lane; later calls have no effect.
    ///
    /// - Parameter isBegun: Whether a module has begun to answer.
    func suspend(isBegun: Bool = true) {
        let isFirst = state.withLock { state in
            guard case .calling(let outcome) = state else { return false }
            state = .suspending(outcome)
            return true
        }
        guard isFirst else { return }
        inbox?.suspended(entry, isBegun: isBegun)
        let outcome = state.withLock { state -> EventOutcome? in
            guard case .suspending(let outcome) = state else { return nil }
            state = outcome == nil ? .suspended : .done
            return outcome
        }
        if let outcome { inbox?.answered(entry, outcome) }
    }

    /// Ends the delivery on the lane: there is no answer that comes later.
    func end(_ outcome: EventOutcome) {
        let isFirst = state.withLock { state in
            guard case .calling = state else { return false }
            state = .done
            return true
        }
        if isFirst { inbox?.ended(entry, outcome) }
    }

    /// Notes the answer.
    ///
    /// From any thread.
    func answer(_ outcome: EventOutcome) {
        let isSuspended = state.withLock { state in
            switch state {
            case .calling(nil): state = .calling(outcome)
            case .suspending(nil): state = .suspending(outcome)
            case .suspended:
                state = .done
                return true
            case .calling, .suspending, .done: break
            }
            return false
        }
        if isSuspended { inbox?.answered(entry, outcome) }
    }
}
