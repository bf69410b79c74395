/// The action of each signal, by its number: created once, so that a signal in a burst costs no more than its
/// delivery.
struct SignalActions: Sendable {
    enum Action: Sendable {
        case reload
        /// The event, whose origin is filled in for each signal.
        case event(LifecycleEvent)
    }

    private var actions: [Int32: (name: String, action: Action)] = [:]

    /// - Parameter signals: The actions of the slatefile, which was checked: a payload that its event cannot
    ///   take is not possible here.
    init(_ signals: [SignalName: Slatefile.SignalAction]) {
        for (signal, action) in signals {
            guard let action = Action(action) else { continue }
            actions[signal.number] = (signal.name, action)
        }
    }

    /// The signals that stop the host.
    var stopping: [Int32] {
        actions.compactMap { number, entry in
            if case .event(let event) = entry.action, event.kind == .terminate {
                number
            } else {
                nil
            }
        }
    }

    /// The signals whose events are delivered to modules one by one.
    var delivered: [Int32] {
        let stopping = stopping
        return actions.compactMap { number, entry in
            if case .event = entry.action, !stopping.contains(number) { number } else { nil }
        }
    }

    subscript(number: Int32) -> (name: String, action: Action)? { actions[number] }
}

extension SignalActions.Action {
    fileprivate init?(_ action: Slatefile.SignalAction) {
        switch action {
        case .reload: self = .reload
        case .event(let kind, let payload):
            guard
                let event = try? LifecycleEvent(kind, payload: payload, origin: .host)
            else { return nil }
            self = .event(event)
        case .openURL(let url):
            guard let event = try? LifecycleEvent.openURL(url, origin: .host) else { return nil }
            self = .event(event)
        case .message(let topic, let payload):
            guard
                let event = try? LifecycleEvent.message(
                    topic: topic, payload: payload, origin: .host)
            else { return nil }
            self = .event(event)
        }
    }
}
