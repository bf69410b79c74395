/// A route without the type of its module: what tables hold.
package final class AnyRoute: Sendable {
    package let pattern: RoutePattern
    /// Its name within its module.
    package let action: String
    package let access: RouteAccess
    package let summary: String
    let handler: ErasedHandler

    /// - Throws: The fault of a malformed pattern.
    package init<M>(_ route: Route<M>) throws(RouteError) {
        do throws(RoutePatternFault) {
            pattern = try RoutePattern(route.pattern)
        } catch {
            throw .pattern(error)
        }
        action = route.action
        access = route.access
        summary = route.summary
        handler = route.erased
    }

    /// Whether ``accepts(_:)`` has anything to find out.
    package var hasPredicate: Bool { handler.accepts != nil }

    /// Whether the route's predicate lets the request pass; true where there is none.
    ///
    /// Parameters that are no request pass, so that the caller is told what is wrong with them.
    package func accepts(_ parameters: RouteParameters) -> Bool {
        handler.accepts?(parameters) ?? true
    }

    /// Finds out whether the parameters are a request, without calling anything.
    package func check(_ parameters: RouteParameters) throws(ParameterFault) {
        try handler.check(parameters)
    }

    /// Decodes the request and calls the handler.
    ///
    /// Only the gate may do this.
    ///
    /// - Parameters:
    ///   - module: An instance of the class that the route was made for.
    ///   - parameters: What the request is decoded from.
    ///   - call: What goes along with it.
    /// - Returns: The reply.
    /// - Throws: ``ParameterFault`` before the handler runs; ``HandlerError`` with whatever that throws.
    package func perform(
        _ module: AnyObject, _ parameters: RouteParameters, _ call: RouteCall
    ) throws -> any Encodable & Sendable {
        try handler.perform(module, parameters, call)
    }

    /// What the request asks for, found out by decoding one from nothing.
    package var request: RequestDescription { handler.describe() }

    /// The type of the reply as it is written in Swift; nil where there is none.
    package var replyType: String? { handler.replyType }
}

/// What a route does, without the types of its module, request and reply.
struct ErasedHandler: Sendable {
    let accepts: (@Sendable (RouteParameters) -> Bool)?
    let check: @Sendable (RouteParameters) throws(ParameterFault) -> Void
    let perform:
        @Sendable (AnyObject, RouteParameters, RouteCall) throws -> any Encodable & Sendable
    let describe: @Sendable () -> RequestDescription
    let replyType: String?

    init<M: Module & SendableMetatype, Request: Decodable & Sendable, Reply: Encodable & Sendable>(
        when predicate: (@Sendable (Request) -> Bool)?,
        _ handler: @escaping @Sendable (M, Request, RouteCall) throws -> Reply
    ) {
        if let predicate {
            accepts = { parameters in
                guard let request = try? parameters.decode(Request.self) else { return true }
                return predicate(request)
            }
        } else {
            accepts = nil
        }
        check = { parameters throws(ParameterFault) in
            _ = try parameters.decode(Request.self)
        }
        // A request without fields is there already.
        let empty = NoParameters() as? Request
        perform = { module, parameters, call in
            // Not `as?`: a class that is `M` itself, as one with routes is, is found out by comparing
            // two addresses.
            guard type(of: module) == M.self else {
                throw RouteError.otherModule(expected: "\(M.self)", found: "\(type(of: module))")
            }
            let module = unsafeDowncast(module, to: M.self)
            let request = try empty ?? parameters.decode(Request.self)
            do { return try handler(module, request, call) } catch {
                throw HandlerError(error: error)
            }
        }
        describe = { RequestDescription(of: Request.self) }
        replyType = Reply.self == NoReply.self ? nil : "\(Reply.self)"
    }
}
