/// A module that can give memory back.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported and does not keep the event from the other modules.
public protocol MemoryWarningResponder: Module {
    /// Tells the module that memory runs short.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveMemoryWarning() throws
}

enum MemoryWarningEvent: EventDefinition {
    static func notify(_ module: any MemoryWarningResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.didReceiveMemoryWarning()
        return .received
    }
}
