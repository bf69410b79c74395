/// Who calls, and with what besides the request.
struct Caller: Sendable {
    var origin: Origin
    var token: RouteToken?
    var userInfo: [String: any Sendable] = [:]
    /// Whether the reply is to be JSON: it leaves the app. What encodes it is code of its module.
    var wantsJSON = false
}

/// A route of a module that can be called.
struct CallTarget {
    let cell: Cell
    let module: any Module
    let route: AnyRoute

    /// Calls the handler; only through the gate.
    ///
    /// - Returns: The reply, as ``EncodedReply`` where the caller wants JSON.
    /// - Throws: ``ParameterFault``; what the handler threw, for a caller outside of the app as
    ///   ``HandlerFailure``.
    func perform(
        _ parameters: RouteParameters, for caller: Caller, url: RouteURL? = nil
    ) throws -> any Encodable & Sendable {
        do {
            let reply = try route.perform(
                module, parameters,
                RouteCall(origin: caller.origin, url: url, userInfo: caller.userInfo))
            return caller.wantsJSON ? EncodedReply(json: try JSONEncoding.bytes(reply)) : reply
        } catch let failure as HandlerError {
            guard caller.wantsJSON, let id = cell.id else { throw failure.error }
            throw HandlerFailure(module: id, error: failure.error)
        }
    }
}

/// A reply as JSON text.
struct EncodedReply: Encodable, Sendable {
    let json: [UInt8]

    func encode(to encoder: any Encoder) throws {
        try JSONValue(parsing: json).encode(to: encoder)
    }
}

/// What a handler threw, on its way to who tells it from what the host says about the call.
struct HandlerError: Error, CustomStringConvertible {
    let error: any Error

    var description: String { "\(error)" }
}

/// What a handler threw at a call from outside of the app.
package struct HandlerFailure: Error, CustomStringConvertible {
    /// Whose handler.
    package let module: ModuleID
    /// What it threw.
    package let error: any Error

    package var description: String { "\(module): \(error)" }
}
