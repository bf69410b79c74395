/// The definition of one kind of event: its receivers, its content, and the way it is delivered to a module.
///
/// Each stands in the file of its responder protocol; ``EventKind/definition`` is the table of them.
/// Everything else that the host has to know about an event is in its ``EventFacts``.
protocol EventDefinition {
    /// The protocol of the modules that receive the event, such as `any LaunchResponder`.
    associatedtype Responder
    /// The value that a module receives.
    associatedtype Content

    /// The properties of the event beside its delivery.
    static var facts: EventFacts { get }

    /// Returns whether a class conforms to the responder protocol: `type is any LaunchResponder.Type`.
    static func isDeclared(by type: any Module.Type) -> Bool

    /// Returns the content of an event of this kind; nil for an event of another kind.
    static func content(of event: LifecycleEvent) -> Content?

    /// Returns whether a listener is to receive the event: every listener, unless a definition restricts it.
    ///
    /// Called inside the listener's module.
    static func concerns(
        _ listener: EventListener<Responder>, _ member: Member, _ content: Content
    ) -> Bool

    /// Delivers an event to a module, in the form of the member of the center.
    static func notify(
        _ module: Responder, _ content: Content, as member: Member
    ) throws -> EventReply

    /// Returns the asynchronous handler of an object for the event; nil if it has none: by default.
    static func asyncHandler(of object: AnyObject) -> AsyncHandler?

    // Written once for all kinds: generic here, so that each definition has specialized code of its own, as
    // fast as handwritten code.

    /// Returns whether an object receives events of this kind.
    static func isReceived(by object: AnyObject, as kind: EventKind) -> Bool

    /// Delivers an event to all modules in order, on the lane.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - center: The center of the modules.
    ///   - gate: The way into the modules.
    ///   - thread: The calling thread, which owns the lane.
    ///   - rank: The rank after which to begin.
    ///   - progress: The counts, updated while the thread owns the lane.
    /// - Returns: False where the lane was lost in between: another thread goes on, and the counts belong to it.
    static func send(
        _ event: LifecycleEvent, from center: CommunicationCenter, through gate: Gate,
        on thread: LaneThread, after rank: UInt16, counting progress: EventProgress
    ) -> Bool

    /// Delivers an event to members of one module in order.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - members: The members.
    ///   - enter: Enters the module for a member, by calling the closure that it receives, which returns its reply.
    static func send(
        _ event: LifecycleEvent, to members: [Member],
        _ enter: (Member, () throws -> EventReply) -> Void)
}

extension EventDefinition where Content == Void {
    static func content(of event: LifecycleEvent) -> Void? { () }
}

extension EventDefinition {
    /// The name of the responder protocol, such as `LaunchResponder`.
    static var responderName: String {
        String("\(Responder.self)".split(separator: " ").last ?? "")
    }

    @inline(__always)
    static func concerns(
        _ listener: EventListener<Responder>, _ member: Member, _ content: Content
    ) -> Bool { true }

    static func isReceived(by object: AnyObject, as kind: EventKind) -> Bool {
        EventListener<Responder>(object, of: kind) != nil
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? { nil }

    static func send(
        _ event: LifecycleEvent, to members: [Member],
        _ enter: (Member, () throws -> EventReply) -> Void
    ) {
        guard let content = content(of: event) else { return }
        let list = list(of: event.kind)
        for member in members { list.insert(member) }
        for index in list.entries.indices {
            enter(list.entries[index].member) {
                try notify(list.entries, index, event, content)
            }
        }
    }

    /// Returns an empty list for the listeners of events of this kind.
    static func list(of kind: EventKind) -> ResponderList<EventListener<Responder>> {
        ResponderList { EventListener($0.object, of: kind, handlers: $0.taker as? OpenHandlers) }
    }

    /// Delivers an event to one listener.
    ///
    /// By its index: taking an entry out of its list would count its references for each delivery.
    @inline(__always)
    static func notify(
        _ list: ResponderList<EventListener<Responder>>.Entries, _ index: Int,
        _ event: LifecycleEvent, _ content: Content
    ) throws -> EventReply {
        guard concerns(list[index].responder, list[index].member, content) else {
            return .notConcerned
        }
        do {
            return try list[index].responder.call(
                direct: { try notify($0, content, as: list[index].member) },
                wildcard: { try $0.hear(event) })
        } catch {
            throw event.placed(error)
        }
    }
}

extension EventKind: DefinedEvent {
    var definedFacts: EventFacts { definition.facts }

    /// The name of the protocol of the modules that receive the event, such as `LaunchResponder`.
    package var responder: String { definition.responderName }

    /// The table of events.
    var definition: any EventDefinition.Type {
        switch self {
        case .launch: LaunchEvent.self
        case .activate: ActivateEvent.self
        case .resignActive: ResignActiveEvent.self
        case .background: BackgroundEvent.self
        case .foreground: ForegroundEvent.self
        case .terminate: TerminateEvent.self
        case .memoryWarning: MemoryWarningEvent.self
        case .push: PushEvent.self
        case .pushRegistered: PushRegisteredEvent.self
        case .pushRegistrationFailed: PushRegistrationFailedEvent.self
        case .notificationSettings: NotificationSettingsEvent.self
        case .localNotification: LocalNotificationEvent.self
        case .openURL: OpenURLEvent.self
        case .userActivity: UserActivityEvent.self
        case .shortcut: ShortcutEvent.self
        case .configurationChanged: ConfigurationChangedEvent.self
        case .message: MessageEvent.self
        }
    }

    /// Returns whether an object receives events of this kind.
    func isReceived(by object: AnyObject) -> Bool { definition.isReceived(by: object, as: self) }
}
