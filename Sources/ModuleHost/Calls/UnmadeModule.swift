import Synchronization

/// The target of the routes of a module that is not made.
final class UnmadeModule: CallableModule {
    let slot: ModuleSlot
    var place: ModulePlace? { nil }
    var instance: AnyObject? { nil }
    var hasFailed: Bool { false }
    var unavailability: String { "it is made when it is needed" }

    /// One for all modules of an app.
    init() {
        slot = ModuleSlot(number: 0, id: nil)
        slot.status.store(.unlisted, ordering: .relaxed)
    }

    func callDeadline(_ own: Duration?) -> Duration { own ?? Slatefile.Defaults.call }

    func absence(of module: ModuleID) -> any Error { ModuleIsUnmade(module: module) }
}

/// The error of a call to a module that is to be made for it.
///
/// No caller receives it.
struct ModuleIsUnmade: Error {
    let module: ModuleID
}

/// The error of a use of a module whose process has yet to declare itself: the job that uses it waits.
///
/// No caller receives it.
struct ModuleIsStarting: Error {
    /// The module that is awaited: the used one, or one that it needs.
    let module: ModuleID
    /// Whether the routes of the used one are known only when it is made.
    var hasUnknownRoutes = false
}

extension CallDispatcher {
    /// Runs a part of a call; where its module is not made, makes it and runs the part again.
    @inline(__always)
    func makingModule<Result>(on thread: LaneThread, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ModuleIsUnmade {
            try make(error.module, on: thread)
            do { return try body() } catch let error as ModuleIsUnmade {
                throw RouteError.unavailable(error.module, because: "it was unloaded")
            }
        }
    }

    private func make(_ module: ModuleID, on thread: LaneThread) throws {
        guard let onDemand else { throw RouteError.stopped }
        try onDemand.makeForCall(module, on: thread)
    }

    /// Makes a command that is not made and that a call names; its routes are known then.
    ///
    /// - Parameter thread: The calling thread, which owns the lane.
    /// - Returns: Whether there is one: the call is to be tried again.
    /// - Throws: ``RouteError``, also where an interceptor that does not respond guards the call.
    func makeCommand(
        _ id: some StringProtocol, for call: InterceptedCall, of caller: Caller,
        on thread: LaneThread
    ) throws -> Bool {
        guard let onDemand else { return false }
        guard let module = try asHost(on: thread, { onDemand.unmadeCommand(id) }) else {
            return false
        }
        do {
            try onDemand.makeForCall(module, on: thread)
        } catch var starting as ModuleIsStarting {
            starting.hasUnknownRoutes = true
            throw starting
        }
        try refuseIfGuarded(call, for: caller, on: thread)
        return true
    }

    // MARK: The routes of a module

    /// Makes the routes of a module lead to it from now on.
    ///
    /// - Parameter areReplaced: Whether its routes were placeholders: it adds its own.
    func bind(_ target: any CallableModule, as module: ModuleID, replacingRoutes areReplaced: Bool)
    {
        guard let position = table.contents.position(of: module) else { return }
        setTarget(target, at: position)
        for route in boundRoutes(at: position).reversed() {
            unbind(route, removing: areReplaced)
            if !areReplaced { try? bind(route.entry) }
        }
    }

    /// Returns the routes of a module, in the order in which they were added.
    func routes(of module: ModuleID) -> [AnyRoute] {
        guard let position = table.contents.position(of: module) else { return [] }
        return table.routes(at: position).map(\.route)
    }

    /// Gives a module that could not be made the routes that are known without it.
    func addPlaceholders(_ routes: [AnyRoute], of module: ModuleID) {
        for route in routes { try? add(route, of: module) }
    }

    /// Gives a module that is unloaded, and may be made again, the routes that are known without it.
    func unbind(_ module: ModuleID, leaving routes: [AnyRoute]) -> [BoundRoute] {
        guard let position = table.contents.position(of: module) else { return [] }
        setTarget(nil, at: position)
        let old = boundRoutes(at: position)
        // The last first, so that no other moves up in the list of the module's routes.
        for route in old.reversed() { unbind(route, removing: true) }
        // A module may have added a route meanwhile that answers the same URLs: that one stays.
        addPlaceholders(routes, of: module)
        return old
    }
}
