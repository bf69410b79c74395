import AppService

extension AppHost {
    /// Stops the app: `resign-active`, `background` and `terminate` as the state requires, then the modules
    /// are released, in reverse order.
    ///
    /// Everything accepted before is delivered before. Returns at once; ``run()`` returns at the end, after
    /// `deadlines.stopAll` at the latest. A host that was never run just ends.
    ///
    /// - Thread: Any, any number of times.
    /// - Parameter reason: The reason, for the log.
    public func stop(because reason: String) {
        if life?.endUnlessBegun() == true { return end(.stopped) }
        stop(.stopped, because: reason, origin: .host)
    }

    /// Stops the app because a required part failed.
    func fail(_ reason: String) { stop(.failed(reason), because: reason, origin: .host) }

    /// Whether the app has ended.
    var isOver: Bool { stopping.isOver }

    /// Whether a stop was requested.
    var isStopping: Bool { stopping.isAsked }

    func stop(_ end: End, because reason: String, origin: Origin) {
        guard stopping.ask() else { return }
        let limit = slatefile.deadlines.stopAll
        holds.stopBegins(within: limit)
        gate.lane.watchdog.stopBegins(until: time.now() + limit, within: limit)
        let backlog = time.schedule(after: limit / 3) { [self] in dropBacklog(after: limit / 3) }
        let alarm = time.schedule(after: limit) { [self] in overdue() }
        let slow = time.schedule(after: Self.slowStop) { [self] in saySlowStop() }
        stopping.keep([alarm, slow])
        // Before the lane handles it, since a module may keep the lane busy. Readers of the log line may rely
        // on the order: a parent that restarts hosts knows by then that this one is the last.
        observer.onStop(end, reason)
        log.notice("stopping: \(reason)")
        gate.lane.enqueue(
            StopJob { [app] thread in
                backlog.cancel()
                app.open(on: thread).shutdown.begin(end, origin: origin)
            })
    }

    /// The time after which a stop logs what it waits for.
    private static let slowStop: Duration = .seconds(1)

    /// Logs the modules that a stop waits for, once, on the thread of an alarm: the lane may be stuck.
    private func saySlowStop() {
        let lane = gate.lane
        var waits: [String] = []
        if let id = lane.slot(lane.ownership.slot)?.id { waits.append("\(id) is running") }
        for slot in lane.overdueSlots {
            if let id = slot.id { waits.append("\(id) is unresponsive") }
        }
        for hold in holds.open { waits.append("\(hold.module) holds '\(hold.step.rawValue)' open") }
        let shown = waits.isEmpty ? "the host is busy" : waits.shortList()
        log.notice(
            "the stop has taken \(Self.slowStop.briefText) so far: \(shown); "
                + "it takes \(slatefile.deadlines.stopAll.briefText) at most")
    }

    /// Drops jobs that were accepted before the stop and are not delivered yet, where the stop has not
    /// reached the modules because of them.
    private func dropBacklog(after limit: Duration) {
        let dropped = gate.lane.dropBacklog(
            before: { $0 is StopJob },
            noting: { job in
                if let entry = (job as? EventJob)?.entry { inbox?.handBack(entry) }
            })
        guard !dropped.isEmpty else { return }
        let durable = dropped.count { ($0 as? EventJob)?.entry != nil }
        for job in dropped { job.abandon() }
        log.warning(
            "what was accepted before the stop took the modules longer than \(limit.briefText), a third "
                + "of deadlines.stopAll: \(dropped.count - durable) events and calls are dropped, "
                + "\(durable) of the inbox left to the next host")
    }

    private func overdue() { end(.overdue(leftBehind())) }

    func end(_ end: End) {
        guard stopping.end() else { return }
        gate.lane.close()
        holds.close()
        observer.onEnd(end)
    }

    /// Returns the modules whose end an overdue stop did not wait for: those that are overdue, and those with
    /// holds, whose reasons are logged.
    ///
    /// Not the current one, which has time left: the delay was caused by those before it.
    private func leftBehind() -> [ModuleID] {
        var modules = gate.lane.unresponsiveSlots.compactMap(\.id)
        for hold in holds.open {
            log.of(module: hold.module.text).error(
                "held '\(hold.step.rawValue)' until the stop was out of time: \(hold.reason)")
            modules.append(hold.module)
        }
        var named: Set<ModuleID> = []
        return modules.filter { named.insert($0).inserted }
    }
}
