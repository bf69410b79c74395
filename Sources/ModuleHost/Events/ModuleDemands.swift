/// The uses of a module that make it where it is lazy, as its class or its slatefile declares them, without creating
/// it.
struct ModuleDemands {
    /// The events that it receives; without messages.
    var events: [EventKind] = []
    /// The topics of its messages.
    var topics: [String] = []
    /// The services that it provides.
    var services: [Any.Type] = []
    /// Whether calls are known to reach it: it has routes, or it is a command, whose routes are known when it runs.
    var isCallable = false
    /// Whether it receives messages whose topics are not declared.
    var hasUndeclaredTopics = false
    /// Whether it is a program that says only when it runs what it receives.
    var isUndeclared = false

    init(of module: Slatefile.Module) {
        guard let type = module.type else {
            guard case .command = module.implementation else { return }
            isCallable = true
            isUndeclared = module.declared == nil
            topics = module.declared?.topics ?? []
            events = module.declared?.events ?? []
            return
        }
        events = EventKind.allCases.filter { Slatefile.declares($0) && $0.isDeclared(by: type) }
        services = (type as? any ServiceProvider.Type)?.services ?? []
        isCallable = (type as? any RoutedModule.Type)?.actions.isEmpty == false
        if let listener = type as? any TopicListener.Type {
            topics = listener.topics
        } else if type is any EveryEventResponder.Type {
            topics = ["*"]
        } else {
            hasUndeclaredTopics = MessageEvent.isDeclared(by: type)
        }
    }

    /// Returns whether the module receives an event, as far as is known without it; yes where nothing is known.
    func mayReceive(_ event: LifecycleEvent) -> Bool {
        if isUndeclared { return true }
        guard case .message(let message) = event.content else { return events.contains(event.kind) }
        return hasUndeclaredTopics || topics.contains { isTopic(message.topic, wantedBy: $0) }
    }

    /// Whether nothing but the need of another module can make the module.
    var isEmpty: Bool { events.isEmpty && topics.isEmpty && services.isEmpty && !isCallable }
}

extension EventKind {
    /// Returns whether a class declares that its instances receive the event, by its conformance.
    fileprivate func isDeclared(by type: any Module.Type) -> Bool {
        type is any EveryEventResponder.Type || definition.isDeclared(by: type)
    }
}
