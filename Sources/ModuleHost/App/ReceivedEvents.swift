/// The events that a module received.
struct ReceivedEvents {
    private let kinds: Set<EventKind>
    /// Its topics; empty where they are not known.
    private let topics: [String]

    /// - Parameter members: The members of the module.
    init(by members: [Member]) {
        kinds = Set(
            EventKind.allCases.filter { kind in
                kind.makesModules && members.contains { kind.isReceived(by: $0.object) }
            })
        let listening = members.filter { EventKind.message.isReceived(by: $0.object) }
        let known = listening.map { member in
            let declared =
                (member.object as? any WildcardResponder)?.topics
                ?? (type(of: member.object) as? any TopicListener.Type)?.topics
            return declared ?? member.knownTopics
        }
        topics = known.contains(where: \.isEmpty) ? [] : known.flatMap(\.self)
    }

    func contains(_ event: LifecycleEvent) -> Bool {
        guard kinds.contains(event.kind) else { return false }
        guard case .message(let message) = event.content, !topics.isEmpty else { return true }
        return topics.contains { isTopic(message.topic, wantedBy: $0) }
    }
}
