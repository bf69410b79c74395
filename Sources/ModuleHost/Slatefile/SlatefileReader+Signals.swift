import AppService

extension SlatefileReader {
    /// Replaces default actions with those of the slatefile.
    mutating func signals(
        _ node: Int, into signals: inout [SignalName: Slatefile.SignalAction]
    ) {
        guard nodes[node].kind == .object else { return mismatch("an object", at: node) }
        /// The place at which a signal that would end the app is given another action.
        var taken: Int?
        var key = node + 1
        while key < nodes[node].next {
            let action = signalAction(key + 1)
            do throws(SignalName.ParsingError) {
                let signal = try SignalName(document.writtenString(key))
                if let action {
                    if signals[signal]?.isStop == true, !action.isStop { taken = key }
                    signals[signal] = action
                }
            } catch {
                report(.signal(error), at: key)
            }
            key = Int(nodes[key + 1].next)
        }
        if let taken, !signals.values.contains(where: \.isStop) {
            report(.noStopSignal, at: taken)
        }
    }

    /// The members of the action of a signal, before they are checked together.
    private struct SignalMembers {
        var event: Int?
        var payload: Int?
        var url: Int?
        var topic: Int?
    }

    private mutating func signalAction(_ node: Int) -> Slatefile.SignalAction? {
        var found = SignalMembers()
        members(of: node, as: SignalKey.self, "an event: an object") { _, key, value in
            switch key {
            case .event: found.event = value
            case .payload: found.payload = value
            case .url: found.url = value
            case .topic: found.topic = value
            }
        }
        guard let eventNode = found.event, let name = string(eventNode, "the name of an event")
        else { return nil }
        if name == Slatefile.reload { return reload(found, event: eventNode) }
        guard let event = EventKind(rawValue: name) else {
            let nearest = nearestName(to: name, in: Slatefile.signalEvents)
            report(.unknownEvent(name, nearest: nearest), at: eventNode)
            return nil
        }
        guard Slatefile.signalEvents.contains(name) else {
            report(.hostEvent(event), at: eventNode)
            return nil
        }
        return action(event, found, of: node)
    }

    /// Returns the action that is not an event: it takes no further keys.
    private mutating func reload(
        _ found: SignalMembers, event: Int
    ) -> Slatefile.SignalAction {
        for node in [found.payload, found.url, found.topic] {
            if let node {
                let key = document.writtenString(node - 1)
                report(.json(.unknownKey(key, nearest: nil)), at: node - 1)
            }
        }
        return .reload
    }

    private mutating func action(
        _ event: EventKind, _ found: SignalMembers, of node: Int
    ) -> Slatefile.SignalAction? {
        let takesURL = event == .openURL
        let takesTopic = event == .message
        let takesPayload = event.payloadType != nil && !takesURL
        for (value, isTaken) in [
            (found.url, takesURL), (found.topic, takesTopic), (found.payload, takesPayload),
        ] {
            guard let value, !isTaken else { continue }
            report(.keyNotTaken(document.writtenString(value - 1), event), at: value - 1)
        }
        if takesURL {
            guard let url = found.url else { return needs(.url, event, node) }
            return openedURL(url).map { .openURL($0) }
        }
        if takesTopic {
            guard let topic = found.topic else { return needs(.topic, event, node) }
            return nonEmptyString(topic, "a topic").map {
                .message(topic: $0, payload: found.payload.map(value))
            }
        }
        guard takesPayload else { return .event(event, payload: nil) }
        guard let payload = found.payload else { return needs(.payload, event, node) }
        if nodes[payload].kind != .invalid, let type = event.payloadType { check(payload, type) }
        return .event(event, payload: value(payload))
    }

    /// Returns a URL to open: well-formed, with one token at most.
    private mutating func openedURL(_ node: Int) -> String? {
        guard let text = url(node) else { return nil }
        do throws(RouteURLError) {
            _ = try RouteURL(text).separatingToken()
            return text
        } catch {
            report(.url(error), at: node)
            return nil
        }
    }

    private mutating func needs(
        _ key: SignalKey, _ event: EventKind, _ node: Int
    ) -> Slatefile.SignalAction? {
        report(.keyNeeded(key.rawValue, event), at: node)
        return nil
    }

    /// Reports why the value at `node` cannot be decoded as a `T`.
    private mutating func check<T: Decodable>(_ node: Int, _ type: T.Type) {
        do throws(UnplacedJSONError) {
            _ = try value(node).decodeWithoutPlaces(type)
        } catch {
            report(error)
        }
    }
}

extension Slatefile {
    /// The action of a signal that is not an event.
    static let reload = "reload"

    /// The events that a signal may send: all except those that only the host sends.
    static let signalEvents =
        EventKind.allCases.filter { !$0.isHostsOwn }.map(\.rawValue) + [reload]
}

extension Slatefile.SignalAction {
    /// Whether the action ends the app.
    fileprivate var isStop: Bool {
        if case .event(.terminate, payload: _) = self { true } else { false }
    }
}
