/// A reference to an object of a module that other modules may keep and pass on, such as a delegate.
///
/// ```swift
/// protocol PickerDelegate { func didPick(_ item: String) }
///
/// // In the module that is called back:
/// let delegate = context.reference(to: self) { $0 as any PickerDelegate }
/// try context.mediator.perform("com.mm.picker", "open", userInfo: ["delegate": delegate])
///
/// // In the module that calls back:
/// try delegate.call { $0.didPick(item) }
/// ```
///
/// The reference is weak, and has the place of its module with it: the object is used only inside that module.
///
/// - Thread: The lane, as code of a module; also a synchronous call from an asynchronous handler. An overdue
///   module's call waits until the lane serves it.
/// - Overdue: A module that is overdue is not entered, since its thread may be in the midst of the object: the
///   call is ``RouteError/overdue(_:)``.
/// - Nesting: As for calls, 64 deep.
public struct ModuleReference<Role>: Sendable {
    /// The module of the object.
    public let module: ModuleID
    private let gate: Gate
    private let slot: ModuleSlot
    private let role: LaneConfined<() -> Role?>

    fileprivate init(
        of module: ModuleID, at slot: ModuleSlot, _ gate: Gate, _ role: @escaping () -> Role?
    ) {
        self.module = module
        self.slot = slot
        self.gate = gate
        self.role = LaneConfined(role)
    }

    /// Calls the object inside its module.
    ///
    /// - Parameter body: Uses the object, as code of its module. It captures values and returns values.
    /// - Returns: The result of `body`.
    /// - Throws: ``RouteError/overdue(_:)`` and ``RouteError/tookTooLong(_:)``,
    ///   ``RouteError/unavailable(_:because:)`` where the object was released or its module unloaded,
    ///   ``RouteError/offLane`` for a caller that is not a module; else the error of `body`.
    @discardableResult
    public func call<Result: Sendable>(
        _ body: @Sendable (Role) throws -> Result
    ) throws -> Result {
        let lane = gate.lane
        if let thread = lane.hold {
            guard thread.ownership.slot != 0 else { throw RouteError.offLane }
            do { return try call(body, on: thread) } catch is LaneLost {}
        }
        guard let caller = lane.overdueSlot else { throw RouteError.offLane }
        // The thread of an overdue module is inside that module.
        if caller === slot { return try use(body) }
        let served = lane.serve { thread in Swift.Result { try call(body, on: thread) } }
        guard let served else { throw RouteError.stopped }
        return try served.get()
    }

    private func call<Result>(
        _ body: (Role) throws -> Result, on thread: LaneThread
    ) throws -> Result {
        var admission = Lane.Admission.skip
        var result: Result?
        let outcome = gate.call(on: thread) {
            admission = gate.lane.admit(slot, at: nil)
            return admission == .go ? (slot.number, ()) : nil
        } body: { _ in
            result = try use(body)
        }
        switch (outcome, admission) {
        case (.threw(let error), _): throw error
        case (.tooDeep, _):
            throw RouteError.tooDeep(
                thread.stack(at: thread.ownership).compactMap { gate.lane.slot($0)?.id })
        case (.lost, .go), (.threwOverdue, .go): throw RouteError.tookTooLong(module)
        // The object was not used.
        case (.lost, _), (.threwOverdue, _): throw LaneLost()
        case (.returned, .overdue): throw RouteError.overdue(module)
        case (.returned, _):
            guard let result else {
                throw RouteError.unavailable(module, because: "it has failed, or was unloaded")
            }
            return result
        }
    }

    /// Uses the object; in its module, where a last reference to it is released, too.
    private func use<Result>(_ body: (Role) throws -> Result) throws -> Result {
        guard let role = role.openInModule()() else {
            throw RouteError.unavailable(module, because: "the object was released")
        }
        return try body(role)
    }
}

extension ModuleContext {
    /// Returns a reference to an object of this module, for other modules.
    ///
    /// - Parameter object: The module itself, or an object that belongs to it.
    /// - Returns: The reference, which does not keep the object alive.
    public func reference<Object: AnyObject>(to object: Object) -> ModuleReference<Object> {
        reference(to: object) { $0 }
    }

    /// Returns a reference to an object of this module in a role, for modules that do not know its class.
    ///
    /// - Parameters:
    ///   - object: The module itself, or an object that belongs to it.
    ///   - role: Returns the object as the protocol that other modules use, as `{ $0 as any PickerDelegate }`.
    /// - Returns: The reference, which does not keep the object alive.
    public func reference<Object: AnyObject, Role>(
        to object: Object, as role: @escaping @Sendable (Object) -> Role
    ) -> ModuleReference<Role> {
        ModuleReference(of: id, at: slot, services.gate) { [weak object] in object.map(role) }
    }
}
