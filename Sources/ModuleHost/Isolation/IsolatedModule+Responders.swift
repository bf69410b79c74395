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
        awaitAnswers()
        return try reply(to: event, notify(event))
    }
}
