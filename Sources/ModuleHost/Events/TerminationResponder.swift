/// A module that saves its state before the app ends.
///
/// - Order: Slatefile order, as on a phone; modules are released afterwards, in reverse order.
/// - Thread: The lane.
/// - Deadline: `deadlines.stop`, 10 s a module, and `deadlines.stopAll`, 30 s for the whole stop,
///   unless the slatefile says otherwise.
/// - Failure: Throwing is reported; every other module still receives `terminate`.
public protocol TerminationResponder: Module {
    /// Notifies the module that the app is about to end.
    ///
    /// For work that continues after this method has returned, take a ``ModuleContext/hold(_:expiry:)``.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func willTerminate() throws
}

enum TerminateEvent: EventDefinition {
    static let facts = EventFacts(change: .terminate, code: 15, handler: "willTerminate()")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any TerminationResponder.Type
    }

    static func notify(_ module: any TerminationResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.willTerminate()
        return .received
    }
}
