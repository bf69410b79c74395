/// A module with something to put away when the app leaves sight, or to take up when it returns.
///
/// - Order: Slatefile order, for both.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise; during a stop
///   `deadlines.stop`, 10 s.
/// - Failure: Throwing is reported and does not keep the event from the other modules.
public protocol BackgroundResponder: Module {
    /// Tells the module that the app is in the background now.
    ///
    /// Work that goes on after it has returned is held open by ``ModuleContext/hold(_:expiry:)``.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didEnterBackground() throws

    /// Tells the module that the app is about to come back; `activate` follows.
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
    static func notify(_ module: any BackgroundResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.didEnterBackground()
        return .received
    }
}

enum ForegroundEvent: EventDefinition {
    static func notify(_ module: any BackgroundResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.willEnterForeground()
        return .received
    }
}
