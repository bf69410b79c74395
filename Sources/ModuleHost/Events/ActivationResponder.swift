/// A module that cares whether the app has the user's attention.
///
/// - Order: Slatefile order. `activate` is the last step before READY, and follows each
///   `foreground`; `resign-active` precedes each `background`.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise; during a stop
///   `deadlines.stop`, 10 s.
/// - Failure: Throwing is reported and does not keep the event from the other modules.
public protocol ActivationResponder: Module {
    /// Tells the module that the app became active.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didBecomeActive() throws

    /// Tells the module that the app is about to stop being active.
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
    static func notify(_ module: any ActivationResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.didBecomeActive()
        return .received
    }
}

enum ResignActiveEvent: EventDefinition {
    static func notify(_ module: any ActivationResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.willResignActive()
        return .received
    }
}
