/// The health of the app, for a service manager.
extension RunningApp {
    var health: HostHealth {
        var health = HostHealth(
            state: state, isReady: isReady && ending == nil,
            modules: records.isEmpty ? slatefile.modules.count(where: \.isEnabled) : records.count)
        // Those that were taken out concern nobody but the host.
        health.late = gate.lane.lateCells.filter { departing[$0.number] == nil }.compactMap(\.id)
        health.failed = records.filter(\.isFailed).map(\.id)
        return health
    }

    /// Says that something may have changed in ``health``.
    func tellHealth() {
        let health = health
        figures.withLock { $0.late = health.late }
        host?.observer.onHealth(health)
    }
}
