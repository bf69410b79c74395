/// The error of a call to a module that has failed, or that fails when it is made for the call.
///
/// No caller receives it: a URL passes on to the next route, or the `instead` of the module is opened; else it becomes
/// ``callError``.
struct ModuleHasFailed: Error {
    let module: ModuleID
    let reason: String

    /// The error that the caller receives.
    var callError: RouteError { .unavailable(module, because: reason) }
}

/// The failed modules whose routes a URL has passed, on its way to the next one.
struct PassedModules {
    /// The failure of the first module.
    let first: ModuleHasFailed
    /// The id by which the URL names a module, in lower case; nil for a short URL.
    private let name: String?
    private var modules: Set<ModuleID> = []

    /// - Parameters:
    ///   - first: The failure of the first module.
    ///   - name: The id by which the URL names a module; nil for a short URL.
    init(_ first: ModuleHasFailed, of name: String?) {
        self.first = first
        self.name = name?.lowercased()
    }

    /// Returns whether the URL names a module: such a URL passes on to no other.
    func isNamed(_ module: ModuleID) -> Bool { name == module.text.lowercased() }

    func contains(_ module: ModuleID) -> Bool { modules.contains(module) }

    mutating func insert(_ module: ModuleID) { modules.insert(module) }
}

/// URLs of modules that have failed.
extension CallDispatcher {
    /// Calls a closure with the route that answers a URL; if the module of the route has failed, with the next one.
    ///
    /// The first search does not check whether modules have failed: their calls tell. So a URL costs no more as long as
    /// no module has failed.
    ///
    /// - Parameters:
    ///   - thread: The calling thread, which owns the lane.
    ///   - body: Calls the route.
    /// - Returns: The result of the closure; nil where no route answers the URL.
    /// - Throws: The error of `body`; ``ModuleHasFailed`` of the module that the URL names, or of the first one that it
    ///   has passed, where no other route answers it.
    @inline(__always)
    func passingOn<Result>(
        _ url: RouteURL, for caller: Caller, on thread: LaneThread,
        _ body: (RouteTable.Match) throws -> Result?
    ) throws -> Result? {
        var passed: PassedModules?
        while true {
            do {
                let result = try makingModule(on: thread) { () throws -> Result? in
                    guard let match = try match(url, for: caller, passing: passed, on: thread)
                    else { return nil }
                    return try body(match)
                }
                guard result == nil, let passed else { return result }
                throw passed.first
            } catch let failure as ModuleHasFailed {
                try pass(failure, of: url, &passed, on: thread)
            }
        }
    }

    /// Notes that a URL passes on from a module.
    ///
    /// - Throws: ``ModuleHasFailed`` where it does not.
    private func pass(
        _ failure: ModuleHasFailed, of url: RouteURL, _ passed: inout PassedModules?,
        on thread: LaneThread
    ) throws {
        var next = passed
        if next == nil {
            let table = try asHost(on: thread) { self.table }
            next = PassedModules(failure, of: try table.moduleName(in: url))
        }
        guard var next, !next.isNamed(failure.module), !next.contains(failure.module) else {
            throw failure
        }
        next.insert(failure.module)
        passed = next
    }

    /// Returns whether a route is passed: its module has failed, and the URL does not name it.
    ///
    /// - Returns: Nil where the lane was lost.
    func isPassed(
        _ entry: RouteTable.Entry, _ passed: PassedModules, on thread: LaneThread
    ) -> Bool? {
        if passed.contains(entry.module) { return true }
        if passed.isNamed(entry.module) { return false }
        return gate.lane.asHost(on: thread) { route(of: entry)?.hasFailed ?? false }
    }
}

/// URLs that are opened instead of failed modules.
extension CallDispatcher {
    /// The call to make instead of one of a failed module.
    struct InsteadCall {
        let url: RouteURL
        let caller: Caller
        let taken: TakenInstead
    }

    /// Returns the call to make instead of opening a URL of a failed module; nil where its entry has no `instead`, or
    /// this call is made instead of another one already.
    ///
    /// - Throws: ``RouteError/unavailable(_:because:)`` where the URL has no form in it.
    func instead(
        of failure: ModuleHasFailed, in url: RouteURL, for caller: Caller, on thread: LaneThread
    ) throws -> InsteadCall? {
        guard let (instead, table, access) = try insteadURL(of: failure, for: caller, on: thread)
        else { return nil }
        let url = try table.rewritten(url)
        // The route alone knows the names in the path. A module that was never made may have none yet.
        let match = try table.match(
            url, reachable: { access.mayReachAll(of: $0) },
            where: { $0.module == failure.module && access.mayReach($0, $1) })
        let isNamed = try table.moduleName(in: url) != nil
        let query = RouteParameters(list: url.query.map { ($0.name, [$0.value]) })
        return try call(
            failure, instead,
            InsteadURL.Call(
                parameters: match?.parameters ?? query,
                boundNames: match?.parameters.boundNames ?? [],
                path: Array(url.segments.dropFirst(isNamed ? 1 : 0)), fragment: url.fragment),
            for: caller)
    }

    /// Returns the call to make instead of calling an action of a failed module; nil as for a URL.
    ///
    /// - Throws: ``RouteError/unavailable(_:because:)`` where the parameters have no form in it.
    func instead(
        of failure: ModuleHasFailed, calling action: String, _ parameters: RouteParameters,
        for caller: Caller, on thread: LaneThread
    ) throws -> InsteadCall? {
        guard let (instead, _, _) = try insteadURL(of: failure, for: caller, on: thread) else {
            return nil
        }
        let pattern = try asHost(on: thread) {
            actions.find(failure.module.text, action)?.entry.route.pattern
        }
        let path = pattern?.path(of: failure.module, parameters)
        return try call(
            failure, instead,
            InsteadURL.Call(
                parameters: parameters, boundNames: pattern?.names ?? [],
                restNames: Set(pattern?.variants.compactMap { $0.binding.rest?.name } ?? []),
                path: path),
            for: caller)
    }

    private func insteadURL(
        of failure: ModuleHasFailed, for caller: Caller, on thread: LaneThread
    ) throws -> (InsteadURL, RouteTable, CallerAccess)? {
        guard caller.insteadOf == nil else { return nil }
        return try asHost(on: thread) {
            table.instead?[failure.module].map { ($0, table, access(of: caller)) }
        }
    }

    private func call(
        _ failure: ModuleHasFailed, _ instead: InsteadURL, _ call: InsteadURL.Call,
        for caller: Caller
    ) throws -> InsteadCall {
        var caller = caller
        caller.insteadOf = failure.module
        do throws(InsteadError) {
            return InsteadCall(
                url: try instead.url(for: call), caller: caller,
                taken: TakenInstead(module: failure.module, url: instead.text))
        } catch {
            throw RouteError.unavailable(
                failure.module,
                because:
                    "\(failure.reason); and not by its \"instead\" \(quoted(instead.text)): \(error)"
            )
        }
    }

    /// Throws the failure of a module that a URL or a call names, if its entry has an `instead` and its routes are not
    /// known: a command that could not be made.
    func checkUnknownRoutes(of module: String?, on thread: LaneThread) throws {
        let failure = try asHost(on: thread) { () -> ModuleHasFailed? in
            guard let module, let instead = table.instead,
                let id = instead.module(named: module),
                let position = table.contents.position(of: id), let record = records[position],
                record.hasFailed,
                table.routes(at: position).isEmpty || onDemand?.unmadeCommand(module) != nil
            else { return nil }
            return ModuleHasFailed(module: id, reason: record.unavailability)
        }
        if let failure { throw failure }
    }
}

extension CallDispatcher {
    /// Returns the error of a call that names a program which ends, and has no routes now; nil for any other module.
    ///
    /// Host code.
    func absence(ofProgramNamed name: String?) -> RouteError? {
        guard let position = name.flatMap({ table.contents.position(of: ModuleID(checked: $0)) }),
            let record = records[position], let reason = record.absenceOfRoutes
        else { return nil }
        return .unavailable(table.contents.modules[position], because: reason)
    }
}

extension RoutePattern {
    /// Returns the segments of the path that the parameters of an action make; nil where they make none.
    fileprivate func path(of module: ModuleID, _ parameters: RouteParameters) -> [String]? {
        let bound = parameters.all.filter { given in names.contains { isSameText($0, given.name) } }
        let values = RouteParameters(list: bound)
        let text = isAbsolute ? try? url(values) : try? url(values, scheme: "app", module: module)
        guard let text, let url = try? RouteURL(text) else { return nil }
        return Array(url.segments.dropFirst(isAbsolute ? 0 : 1))
    }
}
