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

/// A module that takes its time when the app goes to the background.
///
/// ```swift
/// final class Drafts: AsyncBackgroundResponder {
///     func didEnterBackground(isolation: isolated any Actor) async throws {
///         try await server.save(drafts)       // off the lane
///         drafts = []                         // in the module
///     }
/// }
/// ```
///
/// - Order: Slatefile order. Other modules, and calls to this one, do not wait for it; the module receives the next event
///   when it has returned. Until then it has a hold of `background` (``ModuleHold``): a stop delivers `terminate`, to all
///   modules, when it has returned. A module that is created in the background, or was unresponsive in a stop, receives
///   the next event at once.
/// - Thread: That of the module: one slice from one suspension to the next, never beside other code of the module.
/// - Deadline: `deadlines.stop`, 10 s unless the slatefile says otherwise, as of a hold; if the app returns to the foreground
///   meanwhile, `deadlines.call`, 30 s. Then its task is cancelled and it has failed. Each slice has `deadlines.event`.
/// - Failure: Throwing is reported, and the other modules still receive the event.
public protocol AsyncBackgroundResponder: Module {
    /// Notifies the module that the app is in the background now.
    ///
    /// - Parameter isolation: The isolation of the module's asynchronous code; see ``RunningModule/run(isolation:)``.
    /// - Throws: Any error; it is reported under the module's name.
    func didEnterBackground(isolation: isolated any Actor) async throws

    /// Notifies the module that the app is about to return to the foreground; `activate` follows.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func willEnterForeground() throws
}

extension AsyncBackgroundResponder {
    /// Does nothing.
    public func willEnterForeground() throws {}
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
        type is any BackgroundResponder.Type || type is any AsyncBackgroundResponder.Type
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncBackgroundResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler { _, isolation in
                try await module.openInModule().didEnterBackground(isolation: isolation)
                return .received
            }
        }
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
        type is any BackgroundResponder.Type || type is any AsyncBackgroundResponder.Type
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncBackgroundResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler { _, _ in
                try module.openInModule().willEnterForeground()
                return .received
            }
        }
    }

    static func notify(_ module: any BackgroundResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.willEnterForeground()
        return .received
    }
}
