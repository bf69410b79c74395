/// Calls by URL.
extension CallDispatcher {
    /// The number of times that a call may be redirected.
    private static let redirectLimit = 8

    /// Opens a URL: calls the route that answers it.
    ///
    /// - Parameters:
    ///   - text: The URL; a token in it is removed.
    ///   - caller: The caller. A token of its own takes precedence over one in the URL.
    ///   - redirects: How often the call was redirected already.
    ///   - thread: The calling thread, which owns the lane.
    /// - Returns: The reply.
    /// - Throws: ``RouteError``, or the error of the handler.
    func open(
        _ text: String, for caller: Caller, redirects: Int = 0, on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        // The host knows all modules, and calls this process again where the URL belongs to its module.
        if let parent { return try parent.open(text, for: caller, on: thread) }
        let (url, caller) = try read(text, caller, redirects)
        return try open(url, for: caller, redirects: redirects, on: thread)
    }

    /// Opens a URL that was parsed and has no token, in a host.
    func open(
        _ url: RouteURL, for caller: Caller, redirects: Int = 0, on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        if let resumption = takeResumption(on: thread) { return try resumption(self, thread) }
        let url = try redirected(url, caller, redirects, isDryRun: false, on: thread)
        return try reach(url, for: caller, redirects: redirects, on: thread)
    }

    /// Opens a URL behind the interceptors.
    private func reach(
        _ url: RouteURL, for caller: Caller, redirects: Int, on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        do {
            if let reply = try answer(url, for: caller, on: thread) { return reply }
            if try makeCommand(namedIn: url, for: caller, isDryRun: false, on: thread),
                let reply = try answer(url, for: caller, on: thread)
            {
                return reply
            }
        } catch let starting as ModuleIsStarting {
            resumption = { calls, thread in
                if starting.hasUnknownRoutes {
                    let call = InterceptedCall(
                        .url(url), RouteParameters(), caller.origin, isDryRun: false)
                    try calls.refuseIfGuarded(call, for: caller, on: thread)
                }
                return try calls.reach(url, for: caller, redirects: redirects, on: thread)
            }
            throw starting
        } catch let failure as ModuleHasFailed {
            guard let next = try instead(of: failure, in: url, for: caller, on: thread) else {
                throw failure.callError
            }
            return try open(next.url, for: next.caller, redirects: redirects + 1, on: thread)
        }
        throw try notFound(url, for: caller, on: thread)
    }

    /// Makes the command that a URL names, if that is not made.
    ///
    /// - Returns: Whether there is one.
    private func makeCommand(
        namedIn url: RouteURL, for caller: Caller, isDryRun: Bool, on thread: LaneThread
    ) throws -> Bool {
        guard let name = url.segments.first else { return false }
        let call = InterceptedCall(
            .url(url), RouteParameters(), caller.origin, isDryRun: isDryRun)
        return try makeCommand(name, for: call, of: caller, on: thread)
    }

    /// Calls the route that answers a URL.
    ///
    /// - Returns: The reply; nil where no route answers the URL.
    private func answer(
        _ url: RouteURL, for caller: Caller, on thread: LaneThread
    ) throws -> (any Encodable & Sendable)? {
        try passingOn(url, for: caller, on: thread) { match in
            var reply: any Encodable & Sendable = NoReply()
            var isAnswered = false
            try call(on: thread) {
                route(of: match.entry)
            } _: { route, module in
                isAnswered = try route.perform(
                    module, match.parameters, for: caller, url: match.url, &reply)
            }
            // A predicate has removed the route, or returned another result.
            return isAnswered ? reply : nil
        }
    }

    /// The result of asking whether a URL can be opened.
    struct Openness: Sendable {
        /// Whether a route would answer.
        var isOpen: Bool
        /// The route that would, or that cannot decode the request; nil for none.
        var entry: RouteTable.Entry?
        /// The failed module whose `instead` would be opened; nil for none.
        var instead: TakenInstead?
    }

    /// Returns whether ``open(_:for:redirects:on:)`` would reach a handler.
    ///
    /// As ``openness(of:for:on:)``.
    func canOpen(_ text: String, for caller: Caller, on thread: LaneThread) throws -> Bool {
        try openness(of: text, for: caller, on: thread).isOpen
    }

    /// Returns whether ``open(_:for:redirects:on:)`` would reach a handler.
    ///
    /// Runs the same search, the predicates and the decoding, and no handler.
    ///
    /// - Throws: ``RouteError/malformed(_:)`` for a text that is not a URL, and an error where the
    ///   rewrites do not end.
    func openness(
        of text: String, for caller: Caller, on thread: LaneThread
    ) throws -> Openness {
        if let parent {
            return Openness(isOpen: try parent.canOpen(text, for: caller, on: thread))
        }
        do {
            let (url, caller) = try read(text, caller, 0)
            return try openness(of: url, for: caller, redirects: 0, on: thread)
        } catch let error as RouteError {
            switch error {
            case .malformed, .rewriteLoop: throw error
            default: return Openness(isOpen: false)
            }
        }
    }

    private func openness(
        of url: RouteURL, for caller: Caller, redirects: Int, on thread: LaneThread
    ) throws -> Openness {
        let url = try redirected(url, caller, redirects, isDryRun: true, on: thread)
        do {
            if let openness = try openness(ofRequest: url, for: caller, on: thread) {
                return openness
            }
            guard try makeCommand(namedIn: url, for: caller, isDryRun: true, on: thread) else {
                return Openness(isOpen: false)
            }
            return try openness(ofRequest: url, for: caller, on: thread) ?? Openness(isOpen: false)
        } catch let failure as ModuleHasFailed {
            guard let next = try instead(of: failure, in: url, for: caller, on: thread) else {
                return Openness(isOpen: false)
            }
            var openness = try openness(
                of: next.url, for: next.caller, redirects: redirects + 1, on: thread)
            openness.instead = next.taken
            return openness
        }
    }

    /// Returns whether the route that answers a URL can decode the request; nil where no route answers it.
    private func openness(
        ofRequest url: RouteURL, for caller: Caller, on thread: LaneThread
    ) throws -> Openness? {
        try passingOn(url, for: caller, on: thread) { match in
            var isRequest = false
            try call(on: thread) {
                route(of: match.entry)
            } _: { route, _ in
                isRequest = route.check(match.parameters)
            }
            return Openness(isOpen: isRequest, entry: match.entry)
        }
    }

    /// Parses a URL, and moves its token to the caller, unless the caller has one.
    private func read(
        _ text: String, _ caller: Caller, _ redirects: Int
    ) throws -> (RouteURL, Caller) {
        do throws(RouteURLError) {
            let (url, token) = try RouteURL(text).separatingToken()
            var caller = caller
            // A token that an interceptor has put into its own URL is not the caller's.
            if caller.token == nil, redirects == 0 { caller.token = token }
            return (url, caller)
        } catch {
            throw RouteError.malformed(error.naming(table.schemes.first))
        }
    }

    /// Passes a URL to the interceptors.
    private func redirected(
        _ url: RouteURL, _ caller: Caller, _ redirects: Int, isDryRun: Bool,
        on thread: LaneThread
    ) throws -> RouteURL {
        var url = url
        var seen: [String] = []
        while !interceptors.isEmpty {
            let call = InterceptedCall(
                .url(url), RouteParameters(), caller.origin, isDryRun: isDryRun)
            guard let next = try redirection(of: call, for: caller, on: thread) else { return url }
            seen.append(url.withoutQuery)
            guard redirects + seen.count <= Self.redirectLimit else {
                throw RouteError.rewriteLoop(seen)
            }
            (url, _) = try read(next, caller, redirects + seen.count)
        }
        return url
    }

    /// Returns the route that answers a URL for a caller.
    ///
    /// A predicate is code of its module, and entered like all module code.
    ///
    /// - Parameters:
    ///   - passed: The failed modules from which the URL has passed on; nil for none.
    ///   - thread: The calling thread, which owns the lane.
    /// - Returns: The route; nil where there is none.
    /// - Throws: ``RouteError``, and ``ModuleHasFailed`` of a module that has a predicate or no known routes.
    func match(
        _ url: RouteURL, for caller: Caller, passing passed: PassedModules?, on thread: LaneThread
    ) throws -> RouteTable.Match? {
        let (table, access) = try asHost(on: thread) { (self.table, self.access(of: caller)) }
        if table.instead != nil {
            try checkUnknownRoutes(of: try table.moduleName(in: url), on: thread)
        }
        var failure: (any Error)?
        let match = try table.match(
            url, reachable: { access.mayReachAll(of: $0) },
            where: { entry, parameters in
                guard access.mayReach(entry, parameters) else { return false }
                if let passed, failure == nil {
                    guard let isPassed = isPassed(entry, passed, on: thread) else {
                        failure = LaneLost()
                        return true
                    }
                    if isPassed { return false }
                }
                guard entry.route.hasPredicate, failure == nil else { return true }
                do {
                    var isAccepted = false
                    try self.call(on: thread) {
                        self.route(of: entry)
                    } _: { route, _ in
                        isAccepted = route.accepts(parameters)
                    }
                    return isAccepted
                } catch {
                    failure = error
                    return true
                }
            })
        if let failure { throw failure }
        return match
    }

    /// Notifies modules of a URL that no route answers, and returns the error for the caller.
    private func notFound(
        _ url: RouteURL, for caller: Caller, on thread: LaneThread
    ) throws -> RouteError {
        let (table, access) = try asHost(on: thread) { (self.table, self.access(of: caller)) }
        let name = try table.moduleName(in: url)
        let absence = try asHost(on: thread) { self.absence(ofProgramNamed: name) }
        let error = absence ?? table.notFound(url) { access.mayReachAll(of: $0) }
        notifyNotFound(
            InterceptedCall(.url(url), RouteParameters(), caller.origin, isDryRun: false), error,
            on: thread)
        return error
    }
}
