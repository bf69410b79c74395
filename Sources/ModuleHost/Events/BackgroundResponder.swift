/// A module that is notified when the app goes to the background or returns from it.
///
/// - Order: Slatefile order, for both.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise; during a stop
///   `deadlines.stop`, 10 s.
/// - Failure: Throwing is reported, and the other modules still receive the event.
public protocol BackgroundResponder: Module {
    /// Notifies the module that the app is in the background now.
    ///
    /// For work that continues after this method has returned, take a ``ModuleContext/hold(_:expiry:)``.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didEnterBackground() throws

    /// Notifies the module that the app is about to return to the foreground; `activate` follows.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func willEnterForeground() throws
}

extension BackgroundResponder {
    /// Does nothing.
    public func didEnterBackground() throws {}

    /// Does nothing.
    public func willEnterForeground() throws {}
}

enum BackgroundEvent: EventDefinition {
    static let facts = EventFacts(change: .background, code: 13, handler: "didEnterBackground()")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any BackgroundResponder.Type
    }

    static func notify(_ module: any BackgroundResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.didEnterBackground()
        return .received
    }
}

enum ForegroundEvent: EventDefinition {
    static let facts = EventFacts(change: .foreground, code: 14, handler: "willEnterForeground()")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any BackgroundResponder.Type
    }

    static func notify(_ module: any BackgroundResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.willEnterForeground()
        return .received
    }
}
