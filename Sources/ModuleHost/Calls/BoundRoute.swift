import Synchronization

/// A route with the module that answers it.
///
/// Belongs to the lane.
final class BoundRoute {
    let entry: RouteTable.Entry
    private let handler: ErasedHandler
    private let record: ModuleRecord
    let cell: Cell

    init(_ entry: RouteTable.Entry, of record: ModuleRecord) {
        self.entry = entry
        handler = entry.route.handler
        self.record = record
        cell = record.cell
    }

    /// Why the module cannot be called now, or nil where it can.
    ///
    /// Host code.
    @inline(__always)
    func obstacle(on lane: Lane) -> RouteError? {
        guard cell.status.load(ordering: .acquiring) != .listed || record.module == nil else {
            return nil
        }
        return lane.admit(cell, at: nil) == .late
            ? .late(entry.module) : .unavailable(entry.module)
    }

    /// Whether the route answers such parameters; code of its module.
    @inline(__always)
    func accepts(_ parameters: RouteParameters) -> Bool { handler.accepts?(parameters) ?? true }

    /// Whether the parameters make a request; code of its module.
    func check(_ parameters: RouteParameters) -> Bool {
        do throws(ParameterFault) {
            try handler.check(parameters)
            return true
        } catch {
            return false
        }
    }

    /// Calls the handler; code of its module.
    ///
    /// - Returns: The reply, as ``EncodedReply`` where the caller wants JSON; nil where the route does not
    ///   answer such parameters.
    /// - Throws: ``ParameterFault``; what the handler threw, for a caller outside of the app as
    ///   ``HandlerFailure``.
    @inline(__always)
    func perform(
        _ parameters: RouteParameters, for caller: Caller, url: RouteURL? = nil
    ) throws -> (any Encodable & Sendable)? {
        guard accepts(parameters), let module = record.module else { return nil }
        let call = RouteCall(origin: caller.origin, url: url, userInfo: caller.userInfo)
        do {
            let reply = try handler.perform(module, parameters, call)
            guard caller.wantsJSON else { return reply }
            return EncodedReply(json: try JSONEncoding.bytes(reply), entry: entry)
        } catch let failure as HandlerError {
            throw caller.wantsJSON
                ? HandlerFailure(module: entry.module, error: failure.error) : failure.error
        }
    }
}
