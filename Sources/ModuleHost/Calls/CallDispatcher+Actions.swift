import AppService

/// Calls by module and action.
extension CallDispatcher {
    /// Calls an action of a module.
    ///
    /// - Parameters:
    ///   - parameters: The parameters from which the request is decoded.
    ///   - thread: The calling thread, which owns the lane.
    /// - Throws: ``RouteError``, or the error of the handler.
    func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters, for caller: Caller,
        on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        if let resumption = takeResumption(on: thread) { return try resumption(self, thread) }
        if let parent, module != parent.module.text {
            return try parent.perform(module, action, parameters, for: caller, on: thread)
        }
        let intercepted = InterceptedCall(
            .action(action, of: module), parameters, caller.origin, isDryRun: false)
        if !interceptors.isEmpty,
            let url = try redirection(of: intercepted, for: caller, on: thread)
        {
            return try open(url, for: caller, redirects: 1, on: thread)
        }
        return try reach(module, action, parameters, intercepted, for: caller, on: thread)
    }

    /// Calls an action behind the interceptors.
    private func reach(
        _ module: String, _ action: String, _ parameters: RouteParameters,
        _ intercepted: InterceptedCall, for caller: Caller, on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        var reply: any Encodable & Sendable = NoReply()
        var isAnswered = false
        do {
            repeat {
                try makingModule(on: thread) {
                    try call(on: thread) {
                        guard let route = actions.find(module, action) else { return nil }
                        let isReachable =
                            caller.isAdmitted || !caller.origin.isRemote
                            || access(of: caller).mayReach(route.entry, parameters)
                        return isReachable ? route : nil
                    } _: { route, module in
                        isAnswered = try route.perform(module, parameters, for: caller, &reply)
                    }
                }
                if isAnswered { return reply }
            } while try makeCommand(module, for: intercepted, of: caller, on: thread)
            try checkUnknownRoutes(of: module, on: thread)
        } catch let starting as ModuleIsStarting {
            resumption = { calls, thread in
                if starting.hasUnknownRoutes {
                    try calls.refuseIfGuarded(intercepted, for: caller, on: thread)
                }
                return try calls.reach(
                    module, action, parameters, intercepted, for: caller, on: thread)
            }
            throw starting
        } catch let failure as ModuleHasFailed {
            guard
                let next = try instead(
                    of: failure, calling: action, parameters, for: caller, on: thread)
            else { throw failure.callError }
            return try open(next.url, for: next.caller, redirects: 1, on: thread)
        }
        throw try noAction(module, action, parameters, for: caller, on: thread)
    }

    /// Calls an action for a module of the app: without objects on the shortest path, where nothing is created
    /// that the handler does not receive.
    ///
    /// - Parameters:
    ///   - parameters: The parameters from which the request is decoded.
    ///   - call: The call without its objects.
    ///   - thread: The calling thread, which owns the lane.
    /// - Throws: ``RouteError``, or the error of the handler.
    @inline(__always)
    func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters, _ call: RouteCall,
        _ userInfo: [String: any Sendable], on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        if interceptors.isEmpty, parent == nil, userInfo.isEmpty {
            var reply: any Encodable & Sendable = NoReply()
            var isAnswered = false
            do {
                try self.call(on: thread) {
                    actions.find(module, action)
                } _: { route, module in
                    isAnswered = try route.perform(module, parameters, call, &reply)
                }
            } catch let failure as HandlerError {
                throw failure.error
            } catch is ModuleIsUnmade {
                // Made by the longer way.
            } catch is ModuleHasFailed {
                // An error by the longer way.
            }
            if isAnswered { return reply }
        }
        return try perform(
            module, action, parameters, for: Caller(origin: call.origin, userInfo: userInfo),
            on: thread)
    }

    /// Notifies modules of a call that no route answers, and returns the error for the caller.
    private func noAction(
        _ module: String, _ action: String, _ parameters: RouteParameters, for caller: Caller,
        on thread: LaneThread
    ) throws -> RouteError {
        let error = try asHost(on: thread) {
            if let error = table.leftOut?.error(for: module) { return error }
            if let error = absence(ofProgramNamed: module) { return error }
            let access = access(of: caller)
            // A module without a route that the caller can reach is to it as one that does not exist.
            let isKnown =
                caller.origin.isRemote
                ? table.hasRoute(of: module) { access.mayReachAll(of: $0) }
                : table.contents.position(of: ModuleID(checked: module)) != nil
            return isKnown
                ? RouteError.noAction(
                    action, of: module, nearest: nearest(to: action, of: module, for: caller))
                : .noModule(
                    module,
                    nearest: table.nearestModule(to: module) { access.mayReachAll(of: $0) }?.text)
        }
        notifyNotFound(
            InterceptedCall(
                .action(action, of: module), parameters, caller.origin, isDryRun: false),
            error, on: thread)
        return error
    }

    /// Returns the action with the most similar name that the caller can reach with any parameters.
    private func nearest(to action: String, of module: String, for caller: Caller) -> String? {
        guard let position = table.contents.position(of: ModuleID(checked: module)) else {
            return nil
        }
        let access = access(of: caller)
        let names = table.routes(at: position).lazy.filter { access.mayReachAll(of: $0) }
            .map(\.route.action).prefix(256)
        return nearestName(to: action, in: Array(names))
    }

    /// Runs host code in the middle of a call.
    func asHost<Result>(on thread: LaneThread, _ body: () -> Result) throws -> Result {
        guard let result = gate.lane.asHost(on: thread, body) else { throw LaneLost() }
        return result
    }
}
