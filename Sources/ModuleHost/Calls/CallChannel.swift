/// The channel of a module's calls to the lane.
///
/// Belongs to the module.
struct CallChannel {
    typealias Call<Reply> = @Sendable (CallDispatcher, LaneThread) throws -> Reply
    /// A call whose caller waits for a route that answers later.
    typealias AnsweredCall =
        @Sendable (CallDispatcher, LaneThread, LateAnswer) throws -> any Encodable & Sendable

    let dispatcher: CallDispatcher
    /// The calling module.
    let module: ModuleID
    /// The slot of the calling module.
    let slot: ModuleSlot
    /// The circumstances of a call without a URL and without objects: the same for all of them, so that none is
    /// created for a call.
    let plainCall: RouteCall
    var origin: Origin { plainCall.origin }

    init(_ dispatcher: CallDispatcher, for id: ModuleID, at slot: ModuleSlot) {
        self.dispatcher = dispatcher
        module = id
        self.slot = slot
        plainCall = RouteCall(origin: .local(id))
    }

    /// Makes a call: at once on the lane, else when the lane reaches it.
    func call<Reply: Sendable>(_ body: @escaping Call<Reply>) throws -> Reply {
        try call(body, elsewhere: { body })
    }

    /// Makes a call without an allocation on the lane.
    ///
    /// - Parameters:
    ///   - elsewhere: Returns the same call; used only where it is to outlive this one: an overdue module
    ///     calls from its own thread and waits, but not for a target that takes too long.
    /// - Throws: The error of the call.
    @inline(__always)
    func call<Reply: Sendable>(
        _ body: (CallDispatcher, LaneThread) throws -> Reply, elsewhere: () -> Call<Reply>
    ) throws -> Reply {
        // Neither is counted. The lane keeps all its threads. The caller keeps the mediator or router, which keeps
        // this channel, and that keeps the dispatcher, its successor and the lane.
        if let thread = dispatcher.gate.lane.uncountedHold {
            do {
                return try thread._withUnsafeGuaranteedRef { thread in
                    try dispatcher.uncountedCurrent._withUnsafeGuaranteedRef {
                        try body($0, thread)
                    }
                }
            } catch is LaneLost {}
        }
        return try callFromElsewhere(elsewhere())
    }

    private func callFromElsewhere<Reply: Sendable>(_ body: @escaping Call<Reply>) throws -> Reply {
        let reply = BlockingFuture<Result<Reply, any Error>>()
        CallJob.enqueue(
            LaneConfined(dispatcher), through: dispatcher.gate, from: slot, body
        ) { reply.keep($0) }
        guard let reply = reply.take() else { throw RouteError.stopped }
        return try reply.get()
    }

    /// Runs host code that accesses the state of the lane.
    func asHost<Result>(_ body: (CallDispatcher) throws -> Result) throws -> Result {
        guard
            let result = dispatcher.gate.lane.asHost({
                Swift.Result { try body(dispatcher.current) }
            })
        else { throw RouteError.stopped }
        return try result.get()
    }

    /// Makes a call after everything accepted before, and passes the result to the module.
    ///
    /// - Parameters:
    ///   - completion: Code of the calling module; not called any more once the module is unloaded.
    func enqueue(
        _ body: @escaping AnsweredCall,
        completion: @escaping (Result<any Encodable & Sendable, any Error>) -> Void
    ) {
        let (gate, slot) = (dispatcher.gate, slot)
        let trace = gate.lane.currentTrace
        let confined = LaneConfined(completion)
        CallJob.enqueueAnswered(LaneConfined(dispatcher), through: gate, from: slot, body) {
            result in
            gate.lane.enqueue(
                ModuleJob(gate: gate, slot: slot, trace: trace) {
                    confined.openInModule()(result)
                })
        }
    }
}

/// The channel of calls from code that is not on the lane.
struct RemoteCallLine: Sendable {
    let dispatcher: LaneConfined<CallDispatcher>
    private let gate: Gate
    let slot: ModuleSlot
    let origin: Origin

    init(_ line: CallChannel) {
        gate = line.dispatcher.gate
        dispatcher = LaneConfined(line.dispatcher)
        slot = line.slot
        origin = line.origin
    }

    nonisolated(nonsending) func call<Reply: Sendable>(
        _ body: @escaping CallChannel.Call<Reply>
    ) async throws -> Reply {
        let result = SuspendingFuture<Result<Reply, any Error>>()
        CallJob.enqueue(dispatcher, through: gate, from: slot, body) { result.keep($0) }
        guard let result = await result.value else { throw RouteError.stopped }
        return try result.get()
    }

    /// Makes a call, and waits for a route that answers later.
    nonisolated(nonsending) func callAnswered(
        _ body: @escaping CallChannel.AnsweredCall
    ) async throws -> any Encodable & Sendable {
        let result = SuspendingFuture<Result<any Encodable & Sendable, any Error>>()
        CallJob.enqueueAnswered(dispatcher, through: gate, from: slot, body) { result.keep($0) }
        guard let result = await result.value else { throw RouteError.stopped }
        return try result.get()
    }
}
