/// The actions of the signals: created once, so that a signal in a burst costs no more than its delivery.
struct SignalActions: Sendable {
    /// The action of one signal; a class, so that a signal copies a reference and neither name nor payload.
    final class Assigned: Sendable {
        let number: Int32
        /// The name of the signal.
        let name: String
        let action: Action

        fileprivate init(_ signal: SignalName, _ action: Action) {
            number = signal.number
            name = signal.name
            self.action = action
        }
    }

    enum Action: Sendable {
        case reload
        /// The event, whose origin is filled in for each signal.
        case event(LifecycleEvent)
    }

    private var assigned: [Assigned] { byNumber.compactMap(\.self) }
    /// An array, since the numbers of signals are small: no number is hashed.
    private var byNumber: [Assigned?]

    /// - Parameter signals: The actions of the slatefile, which was checked: a payload that its event cannot
    ///   take is not possible here.
    init(_ signals: [SignalName: Slatefile.SignalAction]) {
        let last = signals.keys.map(\.number).max() ?? 0
        byNumber = Array(repeating: nil, count: Int(last) + 1)
        for (signal, action) in signals {
            guard let action = Action(action) else { continue }
            byNumber[Int(signal.number)] = Assigned(signal, action)
        }
    }

    /// The signals that stop the host.
    var stopping: [Int32] {
        assigned.compactMap { assigned in
            if case .event(let event) = assigned.action, event.kind == .terminate {
                assigned.number
            } else {
                nil
            }
        }
    }

    /// The signals whose events are delivered to modules one by one.
    var delivered: [Int32] {
        let stopping = stopping
        return assigned.compactMap { assigned in
            if case .event = assigned.action, !stopping.contains(assigned.number) {
                assigned.number
            } else {
                nil
            }
        }
    }

    /// The action of a signal; nil where it has none.
    subscript(number: Int32) -> Assigned? {
        byNumber.indices.contains(Int(number)) ? byNumber[Int(number)] : nil
    }
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
