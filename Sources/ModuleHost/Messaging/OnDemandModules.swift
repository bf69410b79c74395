/// The modules of an app that are not made, for its services and calls.
///
/// Belongs to the lane.
protocol OnDemandModules: AnyObject {
    /// Makes the module that declares a service.
    ///
    /// - Returns: Whether it was made now.
    /// - Throws: ``ServiceError/notMade(_:because:)``.
    func makeProvider(of service: ObjectIdentifier, on thread: LaneThread) throws -> Bool

    /// Returns whether a module that is not made declares a service.
    func declares(_ service: ObjectIdentifier) -> Bool

    /// Returns the reason why a service is missing if a module declares it, and is not created yet or has failed; nil
    /// if there is no such module besides the caller.
    func absence(
        of service: ObjectIdentifier, _ name: String, for caller: ModuleSlot?
    ) -> ServiceError?

    /// Notes a second provider of a service, which cannot register it.
    func noteDuplicate(by slot: ModuleSlot, _ error: ServiceError)

    /// Makes a module.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - thread: The calling thread, which owns the lane, in the host or in a module.
    /// - Throws: ``ModuleIsStarting`` where the job that calls is to wait; ``ModuleHasFailed``; ``RouteError`` with another
    ///   reason why it cannot be made.
    func makeForCall(_ module: ModuleID, on thread: LaneThread) throws

    /// Returns the module with an id if it is not made, or could not be, and its routes are known only when it is.
    func unmadeCommand(_ id: some StringProtocol) -> ModuleID?

    /// Keeps a call until a module is made, or has failed; then it is run again.
    func wait(_ call: any LaneJob, for module: ModuleID)

    /// Keeps a call of a module until each module is created, if the app is about to do that.
    ///
    /// - Returns: Whether it is kept: then it will be run again.
    func keeps(_ call: any LaneJob) -> Bool
}
