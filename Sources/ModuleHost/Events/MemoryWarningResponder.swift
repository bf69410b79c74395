/// A module that can release memory.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported, and the other modules still receive the event.
public protocol MemoryWarningResponder: Module {
    /// Notifies the module that memory runs short.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveMemoryWarning() throws
}

enum MemoryWarningEvent: EventDefinition {
    static let facts = EventFacts(code: 16, handler: "didReceiveMemoryWarning()")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any MemoryWarningResponder.Type
    }

    static func notify(_ module: any MemoryWarningResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.didReceiveMemoryWarning()
        return .received
    }
}
