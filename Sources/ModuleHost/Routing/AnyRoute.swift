import Synchronization

/// A route without the type of its module, as tables store it.
package final class AnyRoute: Sendable {
    package let pattern: RoutePattern
    /// The name of the route within its module.
    package let action: String
    package let access: RouteAccess
    package let summary: String
    let handler: ErasedHandler
    private let successes = Atomic(0)
    private let failures = Atomic(0)

    /// - Throws: The error of a malformed pattern.
    init(
        _ pattern: String, action: String, access: RouteAccess, summary: String,
        _ handler: ErasedHandler
    ) throws(RouteError) {
        do throws(RoutePatternError) {
            self.pattern = try RoutePattern(pattern)
        } catch {
            throw .pattern(error)
        }
        self.action = action
        self.access = access
        self.summary = summary
        self.handler = handler
    }

    /// The calls that were answered since the route was made, and those that failed.
    var callCounts: (successes: Int, failures: Int) {
        (successes.load(ordering: .relaxed), failures.load(ordering: .relaxed))
    }

    /// Counts a call that was answered at once: a load and a store.
    ///
    /// In the module. Where another thread has taken the lane meanwhile, the count may be one off.
    @inline(__always)
    func countSuccess() {
        successes.store(successes.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Counts a call that failed; from any thread.
    func countFailure() { failures.wrappingAdd(1, ordering: .relaxed) }

    /// Counts an answer that came later; from any thread.
    func count(_ answer: Result<some Any, any Error>) {
        switch answer {
        case .success: successes.wrappingAdd(1, ordering: .relaxed)
        case .failure: countFailure()
        }
    }

    /// Whether ``accepts(_:)`` calls a predicate.
    package var hasPredicate: Bool { handler.accepts != nil }

    /// Whether the answer may come after the handler has returned.
    package var answersLater: Bool { handler.later != nil }

    /// Returns whether the route's predicate accepts the request; true if there is none.
    ///
    /// Parameters that are not a valid request pass, so that the caller receives the reason.
    package func accepts(_ parameters: RouteParameters) -> Bool {
        handler.accepts?(parameters) ?? true
    }

    /// Checks whether the parameters are a valid request, without calling the handler.
    package func check(_ parameters: RouteParameters) throws(ParameterError) {
        try handler.check(parameters)
    }

    /// Decodes the request and calls the handler.
    ///
    /// Only the gate calls this.
    ///
    /// - Parameters:
    ///   - module: An instance of the class that the route was created for.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - call: The circumstances of the call.
    /// - Returns: The reply.
    /// - Throws: ``ParameterError`` before the handler runs; ``HandlerError`` with any error that the handler
    ///   throws.
    package func perform(
        _ module: AnyObject, _ parameters: RouteParameters, _ call: RouteCall
    ) throws -> any Encodable & Sendable {
        try handler.perform(module, parameters, call)
    }

    /// The description of the request, found by decoding one without values.
    package var request: RequestDescription {
        handler.describe(pattern.names + pattern.queryNames)
    }

    /// The type of the reply as it is written in Swift; nil where there is none.
    package var replyType: String? { handler.replyType }
}

/// The handler of a route, without the types of its module, request and reply.
///
/// Created where these are known, in the module's own target: so decoding and calling are compiled for the
/// concrete types.
@usableFromInline
struct ErasedHandler: Sendable {
    @usableFromInline typealias Perform =
        @Sendable (AnyObject, RouteParameters, RouteCall) throws -> any Encodable & Sendable

    let accepts: (@Sendable (RouteParameters) -> Bool)?
    let check: @Sendable (RouteParameters) throws(ParameterError) -> Void
    let perform: Perform
    /// The handler of a route whose answer comes later; ``perform`` then throws.
    let later: Later?
    /// Begins the handler of a route that answers at once, but in another process; nil for one of this process.
    let elsewhere: Later.Begin?
    /// Returns the description of the request, given the names that the pattern has.
    let describe: @Sendable (_ names: [String]) -> RequestDescription
    let replyType: String?

    /// A handler whose answer comes later.
    @usableFromInline
    struct Later: Sendable {
        @usableFromInline typealias Begin =
            @Sendable (AnyObject, RouteParameters, RouteCall, any LateCall) throws -> Void

        /// The longest time until the answer; nil for `deadlines.call` of the slatefile.
        let deadline: Duration?
        let begin: Begin

        @usableFromInline
        init(deadline: Duration?, begin: @escaping Begin) {
            (self.deadline, self.begin) = (deadline, begin)
        }
    }

    /// Creates a handler whose request is not a type of this process.
    init(
        check: @escaping @Sendable (RouteParameters) throws(ParameterError) -> Void,
        describe: @escaping @Sendable ([String]) -> RequestDescription, replyType: String?,
        later: Later?, elsewhere: Later.Begin?, perform: @escaping Perform
    ) {
        accepts = nil
        self.later = later
        self.elsewhere = elsewhere
        self.check = check
        self.perform = perform
        self.describe = describe
        self.replyType = replyType
    }

    @usableFromInline
    init<Request: Decodable & Sendable>(
        _ request: Request.Type, replyType: Any.Type,
        accepts: (@Sendable (RouteParameters) -> Bool)?, perform: @escaping Perform
    ) {
        self.accepts = accepts
        check = { parameters throws(ParameterError) in
            _ = try parameters.decode(Request.self)
        }
        self.perform = perform
        later = nil
        elsewhere = nil
        describe = { RequestDescription(of: Request.self, names: $0) }
        self.replyType = replyType == NoReply.self ? nil : "\(replyType)"
    }

    /// Creates a handler whose answer comes later.
    @usableFromInline
    init<Request: Decodable & Sendable>(
        _ request: Request.Type, replyType: Any.Type,
        accepts: (@Sendable (RouteParameters) -> Bool)?, later: Later
    ) {
        self.accepts = accepts
        check = { parameters throws(ParameterError) in
            _ = try parameters.decode(Request.self)
        }
        perform = { _, _, _ in throw AnswersLater() }
        self.later = later
        elsewhere = nil
        describe = { RequestDescription(of: Request.self, names: $0) }
        self.replyType = replyType == NoReply.self ? nil : "\(replyType)"
    }
}

/// The error of a handler that answers later, where it is called synchronously; its table knows the module.
struct AnswersLater: Error {}
