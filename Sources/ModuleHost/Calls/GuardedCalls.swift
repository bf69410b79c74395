/// The calls that an interceptor guards: those that are refused while it cannot be asked.
struct GuardedCalls {
    /// The patterns; nil for every call.
    private let patterns: Grant?
    /// The errors in the patterns.
    private(set) var errors: [String] = []

    /// - Parameters:
    ///   - interceptor: The class of the interceptor.
    ///   - schemes: The schemes of the app, each of which stands for all of them.
    init(of interceptor: any CallInterceptor.Type, schemes: [String]) {
        guard let texts = interceptor.guardedCalls else {
            patterns = nil
            return
        }
        var scopes: [Grant.Scope] = []
        for text in texts {
            do throws(RoutePatternError) {
                let pattern = try RoutePattern(text)
                if pattern.isAbsolute, pattern.queryNames.isEmpty {
                    scopes.append(Grant.Scope(pattern, appSchemes: schemes))
                } else {
                    errors.append(
                        "guarded call \(quoted(text)): "
                            + (pattern.isAbsolute
                                ? "a query is never matched; leave it out"
                                : "it has no scheme; begin it with one of the app's, such as slate://")
                    )
                }
            } catch {
                errors.append("guarded call: \(error)")
            }
        }
        // A guard that cannot say what it guards, guards all.
        patterns = errors.isEmpty ? Grant(name: "", scopes: scopes) : nil
    }

    /// Returns whether a call of a route is guarded; also where that cannot be decided.
    func cover(_ entry: RouteTable.Entry, _ parameters: RouteParameters) -> Bool {
        patterns.map { $0.covers(entry, parameters, undecided: true) } ?? true
    }
}

extension CallDispatcher {
    /// Returns whether an interceptor that cannot be asked guards a call.
    ///
    /// Host code. Predicates are code of modules and not called: a route that may answer counts.
    ///
    /// - Returns: Whether the call is to be refused.
    func isGuarded(_ call: InterceptedCall, by slot: ModuleSlot, for caller: Caller) -> Bool {
        let guards = interceptors.entries.filter { $0.slot === slot }
            .map { GuardedCalls(of: type(of: $0.responder), schemes: table.schemes) }
        let access = access(of: caller)
        var isGuarded = false
        func note(_ entry: RouteTable.Entry, _ parameters: RouteParameters) {
            if !isGuarded { isGuarded = guards.contains { $0.cover(entry, parameters) } }
        }
        switch call.target {
        case .action(let action, let module):
            guard let entry = actions.find(module, action)?.entry else { return false }
            if access.mayReach(entry, call.parameters) { note(entry, call.parameters) }
        case .url(let url):
            // A URL whose rewrites do not end is an error in any case.
            _ = try? table.match(
                url, reachable: { access.mayReachAll(of: $0) },
                where: { entry, parameters in
                    guard access.mayReach(entry, parameters) else { return false }
                    note(entry, parameters)
                    if isGuarded { return true }
                    return !entry.route.hasPredicate && route(of: entry)?.mayPassOn != true
                })
        }
        return isGuarded
    }
}
