/// The settings of modules, which a reload changes while the app runs.
extension App {
    /// Updates the settings in the contexts of the modules for which they changed.
    func take(_ reload: ConfigurationReload) {
        let changed = reload.changedModules.map { $0.compactMap(record(of:)) } ?? records
        for record in changed {
            if let change = reload.change(for: record.id) { take(change, for: record) }
        }
    }

    /// Updates the settings in the context of a module.
    func take(_ change: ConfigurationChange, for record: ModuleRecord) {
        guard !record.isFailed, let context = record.context else { return }
        let confined = LaneConfined(context)
        // The context of an overdue module belongs to its own thread.
        let isDeferred = gate.lane.defer(
            for: record.slot,
            DeferredWork { confined.openInModule().configurationChanged(change) })
        if !isDeferred { context.configurationChanged(change) }
    }
}
