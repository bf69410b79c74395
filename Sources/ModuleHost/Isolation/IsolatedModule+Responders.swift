extension IsolatedModule: Module {
    convenience init(context: ModuleContext) throws { throw IsolationError.gone }
}

extension IsolatedModule: RootProvider {
    var root: String? {
        get throws { declaration.suppliesRoot ? try askForRoot() : nil }
    }
}

extension IsolatedModule: WildcardResponder {
    func receives(_ kind: EventKind) -> Bool { declaration.events.contains(kind) }

    var topics: [String] { declaration.topics }

    func hear(_ event: LifecycleEvent) throws -> EventReply {
        if begin(event) { return .open }
        settleEvent()
        return reply(to: event, try notify(event))
    }

    /// Returns the reply that an answer of the process is.
    func reply(to event: LifecycleEvent, _ answer: JSONValue) -> EventReply {
        if event.kind.isClaimed { return .claim(answer["claimed"]?.bool ?? false) }
        let fetch =
            event.kind.wantsFetchResult
            ? answer["fetch"]?.string.flatMap(FetchResult.init) ?? .noData : nil
        if isObserver { return .observed(fetch) }
        return fetch.map(EventReply.fetch) ?? .received
    }
}
