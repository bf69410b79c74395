/// A module that is notified when the app becomes active or stops being active.
///
/// - Order: Slatefile order. `activate` is the last step before READY, and follows each
///   `foreground`; `resign-active` precedes each `background`.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise; during a stop
///   `deadlines.stop`, 10 s.
/// - Failure: Throwing is reported, and the other modules still receive the event.
public protocol ActivationResponder: Module {
    /// Notifies the module that the app became active.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didBecomeActive() throws

    /// Notifies the module that the app is about to stop being active.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func willResignActive() throws
}

extension ActivationResponder {
    /// Does nothing.
    public func didBecomeActive() throws {}

    /// Does nothing.
    public func willResignActive() throws {}
}

enum ActivateEvent: EventDefinition {
    static let facts = EventFacts(change: .activate, code: 11, handler: "didBecomeActive()")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any ActivationResponder.Type
    }

    static func notify(_ module: any ActivationResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.didBecomeActive()
        return .received
    }
}

enum ResignActiveEvent: EventDefinition {
    static let facts = EventFacts(change: .resignActive, code: 12, handler: "willResignActive()")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any ActivationResponder.Type
    }

    static func notify(_ module: any ActivationResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.willResignActive()
        return .received
    }
}
