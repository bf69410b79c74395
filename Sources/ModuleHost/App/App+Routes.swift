/// The dispatchers of calls for the modules of a slatefile.
extension App {
    /// Creates the dispatcher for the modules of a reload, with the routes that each of them has now or, where it is yet
    /// to be created, lists.
    ///
    /// - Parameter stagedCalls: The dispatcher with the routes of the modules that are created; nil where none is yet.
    func dispatcher(
        for request: ReloadRequest, _ plan: ReloadPlan, _ difference: SlatefileDifference,
        _ records: [ModuleRecord], _ staged: [ModuleRecord], from calls: CallDispatcher,
        _ stagedCalls: CallDispatcher? = nil
    ) throws -> CallDispatcher {
        let known = Dictionary(
            staged.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        func stagedRoutes(of id: ModuleID) -> [AnyRoute]? {
            guard let table = stagedCalls?.table, known[id] != nil else { return nil }
            return table.contents.position(of: id).map { table.routes(at: $0).map(\.route) }
        }
        // In the same places the routes of most modules stay.
        if difference.keepsRoutes {
            var table = calls.table
            let changed = plan.onDemand + staged.map(\.id)
            try table.replaceRoutes(
                of: changed.compactMap { id in
                    difference.entry(of: id).map { ($0, known[id] == nil, stagedRoutes(of: id)) }
                }, instead: difference.instead, leftOut: difference.leftOut)
            var targets: [Int: (any CallableModule)?] = [:]
            for id in changed {
                if let place = difference.places[id] {
                    targets.updateValue(known[id], forKey: place)
                }
            }
            return try CallDispatcher(
                copying: calls, table, targets: targets, tokens: request.tokens)
        }
        var routes: [ModuleID: [AnyRoute]] = [:]
        for record in records { routes[record.id] = known[record.id] == nil ? [] : nil }
        for entry in calls.table.routes { routes[entry.module]?.append(entry.route) }
        for id in known.keys { routes[id] = stagedRoutes(of: id) }
        return try dispatcher(
            for: request.slatefile, records, tokens: request.tokens, routes: routes)
    }

    /// Creates a dispatcher.
    ///
    /// - Parameters:
    ///   - slatefile: The slatefile.
    ///   - records: The modules that are made, or about to be, in order.
    ///   - tokens: The tokens.
    ///   - routes: The routes of modules that are not those that their classes list.
    /// - Returns: The dispatcher.
    /// - Throws: ``RouteTableError``, ``RouteError``.
    func dispatcher(
        for slatefile: Slatefile, _ records: [ModuleRecord], tokens: TokenStore,
        routes: [ModuleID: [AnyRoute]]
    ) throws -> CallDispatcher {
        var targets: [Int: any CallableModule] = [:]
        var next = records[...]
        var position = 0
        for module in slatefile.modules where module.isEnabled {
            if next.first?.id == module.id, let record = next.popFirst() {
                targets[position] = record
            }
            position += 1
        }
        let table = try RouteTable(of: slatefile) {
            targets[$0] == nil
        } having: {
            routes[$0]
        }
        return try CallDispatcher(
            table, records: targets, unmade: onDemand.unmade, onDemand: onDemand, tokens: tokens,
            gate: gate, center: center)
    }
}
