/// A module with work to do when the app launches.
///
/// - Order: One responder at a time, in slatefile order, after all `high` start-up tasks. `default`
///   start-up tasks begin at the same time.
/// - Thread: The lane.
/// - Deadline: `deadlines.launch`, 20 s unless the slatefile says otherwise.
/// - Failure: Throwing marks the module failed: it receives no further events. If it is required, modules
///   already launched are stopped and the host exits 70.
public protocol LaunchResponder: Module {
    /// Notifies the module that the app has finished launching.
    ///
    /// - Parameter launch: The circumstances of the launch.
    /// - Throws: Any error; the module is then failed.
    func didFinishLaunching(_ launch: Launch) throws
}

enum LaunchEvent: EventDefinition {
    static let facts = EventFacts(
        isHostsOwn: true, code: 10, handler: "didFinishLaunching(_ launch: Launch)")

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any LaunchResponder.Type
    }

    static func content(of event: LifecycleEvent) -> Launch? {
        if case .launch(let launch) = event.content { launch } else { nil }
    }

    static func notify(
        _ module: any LaunchResponder, _ launch: Launch, as _: Member
    ) throws -> EventReply {
        try module.didFinishLaunching(launch)
        return .received
    }
}
