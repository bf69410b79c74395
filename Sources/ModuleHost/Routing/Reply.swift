/// The answer that a handler owes its caller, to be given now or later, once.
///
/// ```swift
/// Route("approve/:order") { (module, request: Order, call, reply: Reply<Approval>) in
///     module.waiting[request.order] = reply       // answered by a later event
/// }
/// ```
///
/// - Thread: Any thread may answer.
/// - Failure: A reply that is released without an answer fails the call with
///   ``RouteError/notAnswered(_:)``, and one that comes too late is not delivered: the caller has waited no
///   longer than the route's `deadline`, or `deadlines.call` of the slatefile.
public struct Reply<Value: Encodable & Sendable>: Sendable {
    private let owed: OwedReply

    @usableFromInline
    init(to call: any LateCall, of action: String) { owed = OwedReply(call, action) }

    /// Answers with a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: False where the call has an answer already, or its caller no longer waits.
    @discardableResult
    public func send(_ value: Value) -> Bool { owed.call.answer(.success(value)) }

    /// Answers with an error.
    ///
    /// - Parameter error: The error, which the caller receives as if the handler had thrown it.
    /// - Returns: False where the call has an answer already, or its caller no longer waits.
    @discardableResult
    public func fail(_ error: any Error) -> Bool {
        owed.call.answer(.failure(HandlerError(error: error)))
    }
}

extension Reply where Value == NoReply {
    /// Answers without a value.
    ///
    /// - Returns: False where the call has an answer already, or its caller no longer waits.
    @discardableResult
    public func send() -> Bool { send(NoReply()) }
}

/// The part of a reply that notices that no copy of it is left.
private final class OwedReply: Sendable {
    let call: any LateCall
    private let action: String

    init(_ call: any LateCall, _ action: String) { (self.call, self.action) = (call, action) }

    deinit { call.answer(.failure(RouteError.notAnswered(action))) }
}
