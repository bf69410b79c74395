/// A module that can adopt a changed configuration while it runs.
///
/// Such a module is also notified of each reload that changed nothing, so that it can reopen files, as
/// daemons do on SIGHUP.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported; the module continues as before.
public protocol ConfigurationResponder: Module {
    /// Notifies the module that the slatefile was reloaded.
    ///
    /// - Parameter change: The current settings.
    /// - Throws: Any error; it is reported under the module's name.
    func configurationDidChange(_ change: ConfigurationChange) throws
}

enum ConfigurationChangedEvent: EventDefinition {
    static let facts = EventFacts(
        isHostsOwn: true, code: 25, handler: "configurationDidChange(_ change: ConfigurationChange)"
    )

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any ConfigurationResponder.Type
    }

    static func content(of event: LifecycleEvent) -> ConfigurationReload? {
        if case .configuration(let reload) = event.content { reload } else { nil }
    }

    static func concerns(
        _: EventListener<any ConfigurationResponder>, _ member: Member,
        _ reload: ConfigurationReload
    ) -> Bool {
        reload.change(for: member.slot.id) != nil
    }

    static func notify(
        _ module: any ConfigurationResponder, _ reload: ConfigurationReload, as member: Member
    ) throws -> EventReply {
        guard let change = reload.change(for: member.slot.id) else { return .notConcerned }
        try module.configurationDidChange(change)
        return .received
    }
}
