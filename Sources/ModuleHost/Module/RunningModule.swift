/// A module with a task that runs as long as the module: a server's loop, a queue that it reads, a connection.
///
/// ```swift
/// final class OrdersModule: RunningModule {
///     private let orders: OrderStream
///     private var count = 0
///
///     init(context: ModuleContext) throws { orders = OrderStream() }
///
///     func run(isolation: isolated any Actor) async throws {
///         for try await order in orders.values {   // waits off the lane
///             count += order.items                 // in the module
///         }
///     }
/// }
/// ```
///
/// It is the counterpart of a `Service` of swift-service-lifecycle.
public protocol RunningModule: Module {
    /// Runs until it is cancelled.
    ///
    /// - Order: Begins once `launch` has been delivered to every module: its code up to the first suspension
    ///   runs before `activate`. In a reload it begins when the reload has been committed.
    /// - Thread: That of the module: the code between two suspensions runs on the lane, never beside other code
    ///   of the module. Between two such slices the module receives events and calls. Each slice has the deadline
    ///   of an event. A function that is to leave the lane is `@concurrent`.
    /// - End: The task is cancelled when the module is unloaded, in a reload or a stop, after the module has
    ///   received `terminate`; of an unresponsive module at once, while it does not return. What handles the
    ///   cancellation (`onCancel`) runs on a thread of the host, and must not wait. The module is released once
    ///   the task has returned, at most `deadlines.stop` later, 10 s by default. An end before is logged; of a module that the slatefile calls `required` it ends the app
    ///   with exit code 70.
    /// - Parameter isolation: The isolation of the module's asynchronous code. It is a parameter, and not
    ///   `nonisolated(nonsending)`, so that the compiler holds it for a method of a base class and for one whose
    ///   conformance stands in an extension, too. A closure that is given to a function such as `withTaskGroup`
    ///   and uses the module has to capture it: `_ = isolation`.
    /// - Throws: Any error: the module has failed then, as if it had failed in `launch`; a process of its own
    ///   ends and is restarted. ``CancellationError`` after the cancellation is a normal end.
    func run(isolation: isolated any Actor) async throws
}

/// The error of a required module whose task has returned.
struct RunEnded: Error, CustomStringConvertible {
    let description =
        "it has returned, and a required module runs as long as the app; leave \"required\" out where it may end"
}
