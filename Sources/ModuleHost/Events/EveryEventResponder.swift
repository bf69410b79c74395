/// A module that receives every event through one method, whatever its kind, and claims none.
///
/// A module that also conforms to the protocol of a kind receives that kind by the protocol's method instead:
///
/// ```swift
/// public final class EventCounter: EveryEventResponder, TerminationResponder {
///     private let log: Log
///     private var count = 0
///
///     public init(context: ModuleContext) { log = context.log }
///
///     public func didHear(_ kind: EventKind) { count += 1 }
///
///     public func willTerminate() { log.info("\(count) events") }
/// }
/// ```
///
/// It receives the messages on all topics, and answers a push with ``FetchResult/noData``. It observes: an event that no
/// other module receives counts as received by no module.
///
/// - Order: Slatefile order. An event that is claimed ends with the module that claims it, so this one
///   receives it only if it stands before that module.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise; `deadlines.launch` for `launch`,
///   and during a stop `deadlines.stop`, 10 s.
/// - Failure: As for each event; a throw in `launch` marks the module failed.
public protocol EveryEventResponder: Module {
    /// Notifies the module of an event; ``ModuleContext/event`` returns it.
    ///
    /// - Parameter kind: The kind of event.
    /// - Throws: Any error; it is reported under the module's name.
    func didHear(_ kind: EventKind) throws
}
