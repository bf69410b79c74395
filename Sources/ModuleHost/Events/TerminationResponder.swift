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

/// A module that saves its state before the app ends, and takes its time for it.
///
/// - Order: Slatefile order. Other modules do not wait for it. Until it has returned it has a hold of `terminate`
///   (``ModuleHold``): modules are released when all have returned.
/// - Thread: That of the module: one slice from one suspension to the next, never beside other code of the module.
/// - Deadline: `deadlines.stop`, 10 s unless the slatefile says otherwise: then its task is cancelled and it has failed. The
///   whole stop has `deadlines.stopAll`, 30 s. Each slice has the time of a module in a stop.
/// - Failure: Throwing is reported; every other module still receives `terminate`.
public protocol AsyncTerminationResponder: Module {
    /// Notifies the module that the app is about to end.
    ///
    /// - Parameter isolation: The isolation of the module's asynchronous code; see ``RunningModule/run(isolation:)``.
    /// - Throws: Any error; it is reported under the module's name.
    func willTerminate(isolation: isolated any Actor) async throws
}

enum TerminateEvent: EventDefinition {
    static let facts = EventFacts(change: .terminate, code: 15, handler: "willTerminate()")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any TerminationResponder.Type || type is any AsyncTerminationResponder.Type
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncTerminationResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler { _, isolation in
                try await module.openInModule().willTerminate(isolation: isolation)
                return .received
            }
        }
    }

    static func notify(_ module: any TerminationResponder, _: Void, as _: Member) throws
        -> EventReply
    {
        try module.willTerminate()
        return .received
    }
}
