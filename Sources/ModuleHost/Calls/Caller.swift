/// A caller, and what it passes besides the request.
struct Caller: Sendable {
    var origin: Origin
    var token: RouteToken?
    var userInfo: [String: any Sendable] = [:]
    /// Whether the reply is to be JSON since it leaves the app.
    ///
    /// The encoding is code of the module.
    var wantsJSON = false
    /// The URL of a call that is made by name here, and was made by URL in another process.
    var url: RouteURL?
    /// Whether the permission of the caller was checked before.
    var isAdmitted = false
    /// The failed module instead of which the call is made; nil for any other call.
    var insteadOf: ModuleID?
    /// The answer for a route that answers later; nil where the caller cannot wait for it.
    var later: LateAnswer?
    /// Whether a route of another process that answers at once is waited for on the calling thread, although ``later`` is there:
    /// in the middle of a call it would else stand until its deadline.
    var isNested = false
}

extension Caller {
    /// Returns the caller, which can wait for an answer that comes later.
    func waiting(_ later: LateAnswer) -> Caller {
        var caller = self
        caller.later = later
        return caller
    }
}

/// A reply as JSON text.
struct EncodedReply: Encodable, Sendable {
    let json: [UInt8]
    /// The route that returned the reply.
    let entry: RouteTable.Entry

    func encode(to encoder: any Encoder) throws {
        try JSONValue(parsing: json).encode(to: encoder)
    }
}

/// An error that a handler threw in a call from outside the app.
public struct HandlerFailure: Error, CustomStringConvertible {
    /// The module of the handler.
    public let module: ModuleID
    /// The error that it threw, of which only the description is kept.
    public let error: any Error

    /// The module and its error.
    public var description: String { "\(module): \(error)" }
}
