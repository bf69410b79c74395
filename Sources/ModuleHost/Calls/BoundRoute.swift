import Synchronization

/// A route with the module that answers it.
///
/// Belongs to the lane.
final class BoundRoute {
    let entry: RouteTable.Entry
    private let handler: ErasedHandler
    private let target: any CallableModule
    let slot: ModuleSlot
    let moduleID: String
    let action: String

    init(_ entry: RouteTable.Entry, of target: any CallableModule) {
        self.entry = entry
        handler = entry.route.handler
        self.target = target
        slot = target.slot
        moduleID = entry.module.text
        action = entry.route.action
    }

    /// Whether the module of the route has failed.
    var hasFailed: Bool { target.hasFailed }

    /// Whether a URL may pass on from the route: its module has failed, or may fail when it is made.
    var mayPassOn: Bool { hasFailed || target is UnmadeModule }

    /// Returns the module; nil where it cannot be called now.
    ///
    /// Host code.
    ///
    /// - Parameter failure: Receives the reason for nil. Both are found in one check: the module
    ///   may return in the next moment.
    @inline(__always)
    func module(on lane: Lane, orFailure failure: inout (any Error)?) -> AnyObject? {
        let isListed = slot.status.load(ordering: .acquiring) == .listed
        let admission = isListed ? .go : lane.admit(slot, at: nil)
        if admission == .go, let module = target.instance { return module }
        failure =
            admission == .overdue
            ? RouteError.overdue(entry.module) : target.absence(of: entry.module)
        return nil
    }

    /// Returns whether the route accepts the parameters; runs code of its module.
    @inline(__always)
    func accepts(_ parameters: RouteParameters) -> Bool { handler.accepts?(parameters) ?? true }

    /// Returns whether the parameters are a valid request; runs code of its module.
    func check(_ parameters: RouteParameters) -> Bool {
        do throws(ParameterError) {
            try handler.check(parameters)
            return true
        } catch {
            return false
        }
    }

    /// Calls the handler; code of its module.
    ///
    /// - Parameters:
    ///   - parameters: The parameters from which the request is decoded.
    ///   - reply: Receives the reply. An inout parameter, and not a result: returning an optional of a
    ///     protocol's type costs as much as all the rest of the call.
    /// - Returns: False where the route does not accept the parameters.
    /// - Throws: ``ParameterError``, and an error of the handler as ``HandlerError``.
    @inline(__always)
    func perform(
        _ module: AnyObject, _ parameters: RouteParameters, _ call: RouteCall,
        _ reply: inout any Encodable & Sendable
    ) throws -> Bool {
        guard try run(module, parameters, call, &reply) else { return false }
        entry.route.countSuccess()
        return true
    }

    /// As ``perform(_:_:_:_:)``, and counts the call only if it fails.
    @inline(__always)
    private func run(
        _ module: AnyObject, _ parameters: RouteParameters, _ call: RouteCall,
        _ reply: inout any Encodable & Sendable
    ) throws -> Bool {
        guard accepts(parameters) else { return false }
        do {
            reply = try handler.perform(module, parameters, call)
        } catch {
            entry.route.countFailure()
            if error is AnswersLater {
                throw RouteError.answersLater(action, of: entry.module)
            }
            throw error
        }
        return true
    }

    /// Calls the handler for any caller; code of its module.
    ///
    /// - Parameters:
    ///   - parameters: The parameters from which the request is decoded.
    ///   - url: The URL of the call, if it has one.
    ///   - reply: Receives the reply; as ``EncodedReply`` where the caller wants JSON.
    /// - Returns: As ``perform(_:_:_:_:)``. Where ``Caller/later`` was taken, the reply comes there.
    /// - Throws: As ``perform(_:_:_:_:)``; an error of the handler or the reply as ``HandlerFailure``, in
    ///   words, where the caller wants JSON, and unchanged for others.
    func perform(
        _ module: AnyObject, _ parameters: RouteParameters, for caller: Caller,
        url: RouteURL? = nil,
        _ reply: inout any Encodable & Sendable
    ) throws -> Bool {
        let call = RouteCall(
            origin: caller.origin, url: url ?? caller.url, userInfo: caller.userInfo)
        do {
            if let later = caller.later, let begin = beginning(for: caller) {
                guard accepts(parameters) else { return false }
                try self.begin(
                    begin.handler, within: begin.limit, module, parameters, call, later, for: caller
                )
                return true
            }
            guard try run(module, parameters, call, &reply) else { return false }
            if caller.wantsJSON {
                reply = EncodedReply(json: try encoded(reply), entry: entry)
            }
            entry.route.countSuccess()
            return true
        } catch let failure as HandlerError {
            throw caller.wantsJSON
                ? HandlerFailure(module: entry.module, error: DescribedError(failure.error))
                : failure.error
        }
    }

    /// Returns the handler of a route that is not waited for, with the time that it has; the route of another process that
    /// answers at once sees to that itself.
    private func beginning(
        for caller: Caller
    ) -> (handler: ErasedHandler.Later.Begin, limit: Duration?)? {
        let handler = entry.route.handler
        if let later = handler.later {
            // The host that has admitted a call to this process limits its time.
            return (
                later.begin,
                caller.isAdmitted ? .seconds(86_400) : target.callDeadline(later.deadline)
            )
        }
        guard !caller.isNested, let elsewhere = handler.elsewhere else { return nil }
        return (elsewhere, nil)
    }

    /// Calls a handler whose answer is not waited for.
    private func begin(
        _ handler: ErasedHandler.Later.Begin, within limit: Duration?, _ module: AnyObject,
        _ parameters: RouteParameters, _ call: RouteCall, _ later: LateAnswer, for caller: Caller
    ) throws {
        guard let place = target.place else {
            throw RouteError.unavailable(entry.module, because: target.unavailability)
        }
        try later.admit(entry.module)
        later.begin(entry, at: place, wantsJSON: caller.wantsJSON, within: limit)
        do {
            try handler(module, parameters, call, later)
            later.awaitAnswer()
        } catch {
            entry.route.countFailure()
            later.withdraw()
            throw error
        }
    }

    private func encoded(_ reply: any Encodable) throws -> [UInt8] {
        do {
            return try JSONEncoding.bytes(reply)
        } catch {
            entry.route.countFailure()
            throw HandlerError(error: error)
        }
    }
}
