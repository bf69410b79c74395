/// Makes calls: finds who answers a URL or an action, and enters it through the gate.
///
/// Belongs to the lane. What it calls may change the routes, and the lane be lost in it: so it looks
/// things up while the host is at work, and goes on with what it found.
final class CallDispatcher {
    let gate: Gate
    /// The modules, by their position in the table.
    private let records: [ModuleRecord]
    private(set) var table: RouteTable
    private(set) var actions = ActionTable()
    private var tokens: TokenStore
    let interceptors: ResponderList<any CallInterceptor>
    let notFoundResponders: ResponderList<any NotFoundResponder>

    /// Makes a dispatcher.
    ///
    /// - Parameters:
    ///   - table: The routes; its modules are `records`, in the same order.
    ///   - records: The modules, made or to be made.
    ///   - tokens: What lets remote callers reach more than what is public.
    ///   - gate: The way into modules.
    ///   - center: Where interceptors are found.
    /// - Throws: ``RouteError/repeatedAction(_:of:)``.
    init(
        _ table: RouteTable, records: [ModuleRecord], tokens: TokenStore, gate: Gate,
        center: CommunicationCenter
    ) throws(RouteError) {
        self.table = table
        self.records = records
        self.tokens = tokens
        self.gate = gate
        interceptors = center.list(of: (any CallInterceptor).self)
        notFoundResponders = center.list(of: (any NotFoundResponder).self)
        for entry in table.routes { try actions.add(entry) }
    }

    // MARK: Changes

    /// Adds a route; nothing is added where that throws.
    func add(_ route: AnyRoute, of module: ModuleID) throws(RouteError) {
        let index = try table.add(route, of: module)
        guard let entry = table[index] else { return }
        do throws(RouteError) {
            try actions.add(entry)
        } catch {
            table.remove(index)
            throw error
        }
    }

    /// Removes exactly one route.
    ///
    /// - Returns: False where the module has none of this pattern.
    func remove(_ pattern: String, of module: ModuleID) -> Bool {
        guard let entry = table.remove(pattern, of: module) else { return false }
        actions.remove(entry)
        return true
    }

    func replace(_ tokens: TokenStore) { self.tokens = tokens }

    // MARK: Who is called

    /// What a caller may reach.
    func access(of caller: Caller) -> CallerAccess {
        CallerAccess(origin: caller.origin, token: caller.token, tokens: tokens)
    }

    /// The module that a route is of, if it can be called now.
    func target(of entry: RouteTable.Entry) throws(RouteError) -> CallTarget {
        let record = records[entry.position]
        switch gate.lane.admit(record.cell, at: nil) {
        case .late: throw .late(entry.module)
        case .skip: throw .unavailable(entry.module)
        case .go: break
        }
        guard let module = record.module else { throw .unavailable(entry.module) }
        return CallTarget(cell: record.cell, module: module, route: entry.route)
    }

    /// Calls what `find` finds, in one stay.
    ///
    /// - Parameters:
    ///   - find: Host code: the target, or nil.
    ///   - body: Code of the target's module; nil where it does not answer such a request.
    /// - Returns: What `body` returns; nil where `find` found nothing.
    /// - Throws: What `body` throws, and ``RouteError`` where the call could not be made or its answer
    ///   comes too late to be taken.
    func call<Reply>(
        on thread: LaneThread, find: () throws(RouteError) -> CallTarget?,
        _ body: (CallTarget) throws -> Reply?
    ) throws -> Reply? {
        var fault: RouteError?
        var called: Cell?
        let outcome = gate.call(on: thread) { () -> (Cell, CallTarget)? in
            do throws(RouteError) {
                guard let target = try find() else { return nil }
                called = target.cell
                return (target.cell, target)
            } catch {
                fault = error
                return nil
            }
        } body: { target in
            try body(target)
        }
        if let fault { throw fault }
        switch outcome {
        case .returned(let reply): return reply
        case .threw(let error): throw error
        case .tooDeep: throw RouteError.tooDeep(chain(on: thread))
        case .lost, .threwLate:
            guard let id = called?.id else { throw LaneLost() }
            throw RouteError.tookTooLong(id)
        }
    }

    /// Who stands on the stack, outermost first.
    func chain(on thread: LaneThread) -> [ModuleID] {
        thread.stack(at: thread.mine).compactMap { gate.lane.cell($0)?.id }
    }
}
