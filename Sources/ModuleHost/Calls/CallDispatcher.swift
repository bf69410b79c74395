import Synchronization

/// The dispatcher of calls: it finds the route of a URL or an action, and enters its module through the gate.
///
/// Belongs to the lane. The code it calls may change the routes, and the lane may be lost in it: so lookups
/// are made while the host is current, and their results are used afterwards.
final class CallDispatcher {
    let gate: Gate
    /// The modules that are made, or about to be, by their position in the table.
    private(set) var records: [Int: any CallableModule]
    /// The target of the routes of all others.
    private let unmade: UnmadeModule
    /// The lazy modules of the app.
    private(set) weak var onDemand: (any OnDemandModules)?
    private(set) var table: RouteTable
    let actions: ActionTable
    private var routes: [RouteTable.Index: BoundRoute] = [:]
    private(set) var tokens: TokenStore
    /// The dispatcher that is used instead once this one, which was created for a reload, is over.
    ///
    /// Written once, before `isOver`, which a thread that has lost the lane may read, too.
    private var successor: CallDispatcher?
    private let isOver = Atomic(false)
    /// The host that calls other modules, if this process has only one module.
    var parent: (any UpstreamCalls)?
    let interceptors: ResponderList<any CallInterceptor>
    let notFoundResponders: ResponderList<any NotFoundResponder>

    /// Creates a dispatcher.
    ///
    /// - Parameters:
    ///   - table: The routes; its modules are `records`, in the same order.
    ///   - unmade: The target of the routes of all others.
    ///   - onDemand: The lazy modules of the app.
    ///   - tokens: The tokens with which remote callers reach more than public routes.
    ///   - center: The center that contains the interceptors.
    init(
        _ table: RouteTable, records: [Int: any CallableModule],
        unmade: UnmadeModule, onDemand: any OnDemandModules, tokens: TokenStore, gate: Gate,
        center: CommunicationCenter
    ) throws(RouteError) {
        self.table = table
        self.records = records
        self.unmade = unmade
        self.onDemand = onDemand
        self.tokens = tokens
        self.gate = gate
        actions = ActionTable()
        interceptors = center.list(of: (any CallInterceptor).self)
        notFoundResponders = center.list(of: (any NotFoundResponder).self)
        for entry in table.routes { try bind(entry) }
    }

    /// Creates a dispatcher with the routes of another one, apart from those of some modules.
    ///
    /// - Parameters:
    ///   - other: The other one.
    ///   - table: Its table, with other routes of these modules.
    ///   - targets: The modules by their positions in the table; nil for one that is not made.
    ///   - tokens: The tokens with which remote callers reach more than public routes.
    init(
        copying other: CallDispatcher, _ table: RouteTable, targets: [Int: (any CallableModule)?],
        tokens: TokenStore
    ) throws(RouteError) {
        (self.table, self.tokens) = (table, tokens)
        (records, routes) = (other.records, other.routes)
        (unmade, onDemand, gate) = (other.unmade, other.onDemand, other.gate)
        actions = ActionTable(copying: other.actions)
        (interceptors, notFoundResponders) = (other.interceptors, other.notFoundResponders)
        for (position, target) in targets {
            records[position] = target
            for route in other.boundRoutes(at: position) { unbind(route, removing: false) }
        }
        for position in targets.keys.sorted() {
            for entry in table.routes(at: position) { try bind(entry) }
        }
    }

    /// The dispatcher to use in place of this one: its successor, which does not end before the app, or itself.
    var current: CallDispatcher { uncountedCurrent.takeUnretainedValue() }

    /// As ``current``, without counting a reference: valid as long as this one, which keeps its successor.
    @inline(__always)
    var uncountedCurrent: Unmanaged<CallDispatcher> {
        guard isOver.load(ordering: .acquiring), let successor else { return .passUnretained(self) }
        return .passUnretained(successor)
    }

    func bind(_ entry: RouteTable.Entry) throws(RouteError) {
        let route = BoundRoute(entry, of: records[entry.position] ?? unmade)
        try actions.add(route)
        routes[entry.index] = route
    }

    /// Goes on with a call that has waited for a module, behind the interceptors.
    typealias Resumption = (CallDispatcher, LaneThread) throws -> any Encodable & Sendable

    /// The rest of a call that waits, from the error ``ModuleIsStarting`` until the job that calls takes it, and from
    /// there until the call goes on.
    var resumption: Resumption?

    /// Returns the rest of a call that has waited, once; nil for any other call.
    func takeResumption(on thread: LaneThread) -> Resumption? {
        // A call in the middle of a module's never waits, and may lose the lane at any moment.
        guard thread.ownership.slot == 0, resumption != nil else { return nil }
        return resumption.take()
    }

    // MARK: Changes

    /// Sets the target of a module's routes; nil where it is not made.
    func setTarget(_ target: (any CallableModule)?, at position: Int) { records[position] = target }

    /// Returns the routes of a module, in the order in which they were added.
    func boundRoutes(at position: Int) -> [BoundRoute] {
        table.routes(at: position).compactMap { route(of: $0) }
    }

    /// Takes a route from the calls, and from the table where it is removed.
    func unbind(_ route: BoundRoute, removing isRemoved: Bool) {
        routes[route.entry.index] = nil
        actions.remove(route)
        if isRemoved { table.remove(route.entry.index) }
    }

    /// Adds a route; if this throws, nothing is added.
    func add(_ route: AnyRoute, of module: ModuleID) throws(RouteError) {
        let index = try table.add(route, of: module)
        guard let entry = table[index] else { return }
        do throws(RouteError) {
            try bind(entry)
        } catch {
            table.remove(index)
            throw error
        }
    }

    /// Removes exactly one route.
    ///
    /// - Returns: The route, for the caller to release: its handler may release objects whose `deinit` is
    ///   code of a module. Nil where the module has no route with this pattern.
    func remove(_ pattern: String, of module: ModuleID) -> BoundRoute? {
        guard let entry = table.remove(pattern, of: module) else { return nil }
        guard let route = routes.removeValue(forKey: entry.index) else { return nil }
        actions.remove(route)
        return route
    }

    /// Exchanges the routes and the tokens with another dispatcher.
    ///
    /// - Parameter other: Receives those of this one, so that its owner releases them.
    func swapContents(with other: CallDispatcher) {
        swap(&records, &other.records)
        swap(&table, &other.table)
        swap(&routes, &other.routes)
        swap(&tokens, &other.tokens)
        actions.swapContents(with: other.actions)
    }

    /// Ends this dispatcher: its users use another one from now on.
    ///
    /// - Parameter successor: The other one. It has the routes, or the code that unloads the modules has
    ///   them.
    func end(for successor: CallDispatcher) {
        (table, routes, records) = (RouteTable(), [:], [:])
        actions.swapContents(with: ActionTable())
        self.successor = successor
        isOver.store(true, ordering: .releasing)
    }

    /// Returns the routes of some modules, by the numbers of their slots.
    func routes(of modules: [any CallableModule]) -> [UInt16: [BoundRoute]] {
        var routes: [UInt16: [BoundRoute]] = [:]
        for slot in modules.lazy.map(\.slot) {
            guard let position = slot.id.flatMap(table.contents.position) else { continue }
            routes[slot.number] = boundRoutes(at: position).filter { $0.slot === slot }
        }
        return routes
    }

    func replace(_ tokens: TokenStore) { self.tokens = tokens }

    // MARK: Calling

    /// Returns the access of a caller.
    func access(of caller: Caller) -> CallerAccess {
        guard caller.origin.isRemote else { return CallerAccess(origin: caller.origin) }
        return CallerAccess(origin: caller.origin, token: caller.token, tokens: tokens)
    }

    /// Returns the route of an entry of the table, or nil where it was removed.
    func route(of entry: RouteTable.Entry) -> BoundRoute? {
        routes[entry.index]
    }

    /// Calls the route that `find` finds, in one entry of the gate.
    ///
    /// - Parameters:
    ///   - thread: The calling thread, which owns the lane.
    ///   - find: Host code: returns the route, or nil; then nothing is called.
    /// - Throws: The error of `body`, and ``RouteError`` where the call could not be made or its reply
    ///   arrived too late.
    @inline(__always)
    func call(
        on thread: LaneThread, find: () -> BoundRoute?,
        _ body: (BoundRoute, AnyObject) throws -> Void
    ) throws {
        var failure: (any Error)?
        var called: UInt16 = 0
        let outcome = gate.call(on: thread) { () -> (UInt16, (BoundRoute, AnyObject))? in
            guard let route = find() else { return nil }
            guard let module = route.module(on: gate.lane, orFailure: &failure) else { return nil }
            called = route.slot.number
            return (called, (route, module))
        } body: { found in
            try body(found.0, found.1)
        }
        switch outcome {
        case .returned: if let failure { throw failure }
        case .threw(let error): throw error
        case .tooDeep: throw RouteError.tooDeep(chain(on: thread))
        case .lost, .threwOverdue:
            guard let id = gate.lane.slot(called)?.id else { throw LaneLost() }
            throw RouteError.tookTooLong(id)
        }
    }

    /// Returns the modules on the stack, outermost first.
    func chain(on thread: LaneThread) -> [ModuleID] {
        thread.stack(at: thread.ownership).compactMap { gate.lane.slot($0)?.id }
    }
}
