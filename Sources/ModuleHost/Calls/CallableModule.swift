import AppService

/// A module as the target of calls.
///
/// Belongs to the lane.
protocol CallableModule: AnyObject {
    /// The module's slot on the lane.
    var slot: ModuleSlot { get }
    /// The isolation of its asynchronous code; nil while there is no instance.
    var place: ModulePlace? { get }
    /// Returns the longest time until an answer that comes later; `own` is the deadline of the route, if it has
    /// one.
    func callDeadline(_ own: Duration?) -> Duration
    /// The instance, which is about to be called; nil while there is none.
    var instance: AnyObject? { get }
    /// Whether the module has failed: its URLs pass on to other modules.
    var hasFailed: Bool { get }
    /// The reason why the module cannot be called, if ``instance`` is nil.
    var unavailability: String { get }
    /// The reason why the module has no routes now, where it is a program that ends; nil for any other.
    var absenceOfRoutes: String? { get }
    /// Returns the error of a call where there is no instance.
    func absence(of module: ModuleID) -> any Error
}

extension CallableModule {
    var absenceOfRoutes: String? { nil }

    func absence(of module: ModuleID) -> any Error {
        hasFailed
            ? ModuleHasFailed(module: module, reason: unavailability)
            : RouteError.unavailable(module, because: unavailability)
    }
}

/// The host that has started this process for one of its modules; it makes that module's calls to others.
///
/// On the lane.
protocol UpstreamCalls: AnyObject, Sendable {
    /// The module of this process, whose own actions are called here.
    var module: ModuleID { get }

    /// The id of the host whose inbox the events come from; nil for none.
    var hostID: String? { get }

    /// Calls an action of another module by its name, and waits for the reply.
    func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters, for caller: Caller,
        on thread: LaneThread
    ) throws -> any Encodable & Sendable

    /// Opens a URL that another module answers, and waits for the reply.
    func open(
        _ url: String, for caller: Caller, on thread: LaneThread
    ) throws -> any Encodable & Sendable

    /// Returns whether another module answers a URL.
    func canOpen(_ url: String, for caller: Caller, on thread: LaneThread) throws -> Bool
}
