import Synchronization

/// Calls whose answers come later, to the process and from it.
///
/// No thread waits for them, so they do not count against the deadline of an event.
extension IsolatedModule {
    /// Calls a route whose answer comes later.
    ///
    /// A process that ends before it answers fails the call: it is not known whether the module has acted.
    func begin(
        _ route: DeclaredRoute, _ parameters: RouteParameters, _ call: RouteCall,
        _ late: any LateCall
    ) throws {
        defer { noteExchange() }
        let number = process.nextNumber()
        try send(route, parameters, call, as: number) { late.answer($0) }
        late.whenCancelled { [process] in process.cancel(number) }
    }

    /// Sends a call that no thread waits for, if it can cross.
    ///
    /// - Parameters:
    ///   - number: The number of the request.
    ///   - answer: Called once with the answer, on any thread: it must not wait.
    /// - Throws: ``RouteError`` where the process has too much to do yet; as ``prepare(_:)``.
    func send(
        _ route: DeclaredRoute, _ parameters: RouteParameters, _ call: RouteCall, as number: Int,
        answer: @escaping @Sendable (Result<any Encodable & Sendable, any Error>) -> Void
    ) throws {
        try prepare(call)
        let (limits, id) = (process.limits, context.id)
        guard process.input.takesCalls else {
            throw RouteError.unavailable(
                context.id,
                because: "it has not read \(limits.input.callBytes >> 20) MiB of its input yet")
        }
        let trace = traceOfCall()
        let isSent = process.request("call", as: number, within: callLimit) { [traces] response in
            traces.end(trace)
            switch response {
            case .success(let reply): answer(Result { try Self.reply(reply) })
            case .failure(let end) where end.cause == .asked:
                answer(.failure(RouteError.unloadedUnanswered(id)))
            case .failure(let end):
                answer(.failure(HandlerError(error: IsolationError.ended(end))))
            }
        } _: {
            $0.parameters(of: route, parameters, call, trace)
        }
        guard !isSent else { return }
        traces.end(trace)
        throw RouteError.unavailable(
            context.id, because: "it has not answered \(limits.queue.requests) calls yet")
    }

    /// Makes a call for the process, and responds when there is an answer.
    ///
    /// - Parameters:
    ///   - canWait: Whether the process takes an answer that comes later.
    ///   - trace: The trace that the process names.
    ///   - call: Makes the call; receives the recipient of an answer that comes later, and whether a thread waits for the
    ///     process: then the call is nested in what that waits for.
    /// - Throws: The error of the call.
    func respond(
        to id: RPCID?, canWait: Bool, in trace: TraceContext?,
        _ call: (LateAnswer?, _ isNested: Bool) throws -> any Encodable & Sendable
    ) throws(RPCError) {
        let process = process
        let isNested = process.queue.isExchanging
        func answer(_ later: LateAnswer?) -> Result<any Encodable & Sendable, any Error> {
            Result {
                try TraceContext.with(self.trace(trace)) { try call(later, isNested) }
            }
        }
        guard canWait else {
            return try process.respond(id, Self.encoded(answer(nil)).get())
        }
        guard process.pendingCalls.load(ordering: .relaxed) < process.limits.pendingCalls else {
            throw RPCError(
                .tooMany, "\(process.limits.pendingCalls) calls of this module wait for an answer")
        }
        let time = context.host.services.time
        let later = LateAnswer { result in
            process.pendingCalls.subtract(1, ordering: .relaxed)
            process.calls.withLock { $0.restart(at: time.now()) }
            process.post(Self.encoded(result), to: id)
        }
        // Before the call: its answer may come at any time.
        process.pendingCalls.add(1, ordering: .relaxed)
        let result = answer(later)
        guard case .success = result, later.isTaken else {
            process.pendingCalls.subtract(1, ordering: .relaxed)
            return try process.respond(id, Self.encoded(result).get())
        }
        // The process may handle an event, and wait for the answer in it: others need the lane for that.
        if isNested, context.host.services.isOnLane {
            context.host.services.yieldLane(again: true)
        }
    }

    private static func encoded(
        _ result: Result<any Encodable & Sendable, any Error>
    ) -> Result<[UInt8], RPCError> {
        do {
            return .success(try JSONEncoding.bytes(try result.get()))
        } catch {
            return .failure(RPCError(ofModulesCall: error))
        }
    }
}

extension ModuleProcess {
    /// Sends a request whose response no thread waits for.
    ///
    /// In the module.
    ///
    /// - Parameters:
    ///   - number: The number of the request.
    ///   - time: The longest wait until the process reads it.
    ///   - isLimited: Whether it counts as one of those that may have no response yet.
    ///   - recipient: Called once with the response, or the end of the process, on any thread.
    /// - Returns: False where too many have no response yet, so that it was not sent.
    func request(
        _ method: String, as number: Int, within time: Duration, isLimited: Bool = true,
        followed: Bool = false, for recipient: @escaping MessageQueue.Recipient,
        _ parameters: (inout JSONWriter) -> Void
    ) -> Bool {
        guard queue.expect(number, isLimited: isLimited, for: recipient) else { return false }
        var json = JSONWriter(capacity: 256)
        json.rpcRequest(method, id: RPCID(number), parameters)
        send(json.bytes, within: time, followed: followed)
        return true
    }

    /// Notifies the process that the caller no longer waits for the response to a request; it responds
    /// nevertheless.
    ///
    /// From any thread.
    fileprivate func cancel(_ number: Int) {
        notify("cancel") { $0.object { $0.member("id", number) } }
    }

    /// Sends a notification, from any thread.
    func notify(_ method: String, _ parameters: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        json.rpcRequest(method, id: nil, parameters)
        send(json.bytes)
    }

    /// Responds to a call of the process, in the module.
    fileprivate func respond(_ id: RPCID?, _ reply: [UInt8]) {
        succeed(id) { $0.object { $0.member("reply", raw: reply) } }
    }

    /// Responds to a call of the process, from any thread.
    fileprivate func post(_ reply: Result<[UInt8], RPCError>, to id: RPCID?) {
        guard let id else { return }
        var json = JSONWriter(capacity: 128)
        switch reply {
        case .success(let reply):
            json.rpcResult(id: id) { $0.object { $0.member("reply", raw: reply) } }
        case .failure(let error): json.rpcError(error, id: id)
        }
        send(json.bytes)
    }
}
