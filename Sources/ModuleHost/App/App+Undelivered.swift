import AppService
import Synchronization

/// Events for which there was no module.
extension App {
    /// Returns the modules, some of them at most, that have failed or are not made yet, and receive a durable event when
    /// they run, as far as that is known; none for an event that is not durable.
    func receiversThatWait(for event: LifecycleEvent) -> [ModuleID] {
        guard event.entry != nil else { return [] }
        let waiting = gate.lane.failedModules(awaitedBy: event).lazy.filter { id in
            self.record(of: id).map { ModuleDemands(of: $0.entry).mayReceive(event) } ?? true
        }
        return Array(waiting.prefix(64))
    }

    /// Returns the notice about an event from outside for which there was no module; nil for an event for which an app
    /// need not have one.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - hints: Whether a topic with a similar name may have been meant.
    /// - Returns: The notice.
    func noModule(for event: LifecycleEvent, hinting hints: Bool) -> String? {
        guard case .message(let message) = event.content else {
            return event.kind.isDurable && event.kind != .openURL
                ? "no module responds to '\(event.kind.rawValue)'" : nil
        }
        let topics = center.listeners(of: MessageEvent.self, .message).entries.lazy
            .filter { $0.slot.status.load(ordering: .acquiring) == .listed }
            .flatMap(\.member.knownTopics).filter { $0 != "*" }.prefix(256)
        let nearest = hints ? nearestName(to: message.topic, in: Array(topics)) : nil
        return "no module listens to topic \(quoted(message.topic))"
            + (nearest.map { "; did you mean \(quoted($0))?" } ?? "")
    }
}

extension EventTally {
    /// Whether no module was notified, or will be, but those that receive every event.
    var isUndelivered: Bool {
        delivered - observed + failed + overdue + later <= 0 && claimedBy == nil
    }
}
