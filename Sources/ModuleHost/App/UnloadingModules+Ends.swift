/// The ends of modules that the lane does not wait for.
extension UnloadingModules {
    /// The points in the end of a module that work waits for.
    enum EndPoint {
        /// It has received its shutdown events, and is released now.
        case leaves
        case released
    }

    /// Runs a closure, once, on the lane, when modules that are unloaded are released; at once where they are.
    func whenReleased(_ records: [ModuleRecord], _ body: @escaping (App) -> Void) {
        wait(for: .released, of: Set(records.map(\.slot).filter(holds).map(\.number)), body)
    }

    private func wait(
        for point: EndPoint, of slots: Set<UInt16>, _ body: @escaping (App) -> Void
    ) {
        guard !slots.isEmpty else { return body(app) }
        waiting.append((point, slots, body))
    }

    func reached(_ point: EndPoint, _ slot: ModuleSlot) {
        for index in waiting.indices where waiting[index].point == point {
            waiting[index].slots.remove(slot.number)
        }
        let ready = waiting.filter(\.slots.isEmpty)
        waiting.removeAll(where: \.slots.isEmpty)
        for next in ready { next.body(app) }
    }

    /// Whether work waits until modules are released.
    var hasWaiting: Bool { waiting.contains { $0.point == .released } }

    /// The modules whose processes have yet to answer the shutdown events.
    var endingProcesses: [ModuleRecord] {
        unloading.values.filter { $0.unloadingParts != nil && $0.slot.limits.hasProcess }
    }

    /// Returns whether the other modules go on while the process of a module answers its shutdown events: nothing takes its place
    /// and is to wait for them.
    func delaysNobody(_ record: ModuleRecord) -> Bool {
        record.slot.limits.hasProcess && app.record(of: record.id) == nil
    }

    private func isToLeave(_ slot: ModuleSlot) -> Bool {
        unloading[slot.number]?.unloadingParts != nil
    }

    /// Returns a closure that calls another when the processes of some modules have answered their shutdown events.
    func after(
        _ leaving: [ModuleRecord], _ last: @escaping @Sendable (App) -> Void
    ) -> @Sendable (App) -> Void {
        let processes = leaving.filter(delaysNobody).map(\.slot)
        return { app in
            let unloading = app.unloadingModules
            unloading.wait(
                for: .leaves, of: Set(processes.filter(unloading.isToLeave).map(\.number)), last)
        }
    }
}
