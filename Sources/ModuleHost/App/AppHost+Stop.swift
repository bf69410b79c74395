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

    /// The longest time of the stop: of the requested one, or else `deadlines.stopAll`.
    var stopLimit: Duration { stopping.current?.limit ?? deadlines.stopAll }

    /// The name of ``stopLimit`` in messages.
    var stopLimitName: String { stopping.current?.limitName ?? "deadlines.stopAll" }

    /// Stops the app.
    ///
    /// - Parameters:
    ///   - end: The intended end.
    ///   - reason: The reason, for the log.
    ///   - origin: The origin of the request.
    ///   - requested: The longest time of the stop; nil for `deadlines.stopAll`. A stop that has begun keeps its limit.
    func stop(
        _ end: End, because reason: String, origin: Origin, within requested: Duration? = nil
    ) {
        let request = stopping.ask {
            HostStop.Request(
                ends: time.now() + (requested ?? deadlines.stopAll),
                limit: requested ?? deadlines.stopAll,
                limitName: requested?.briefText ?? "deadlines.stopAll",
                unresponsive: gate.lane.overdueSlots)
        }
        guard let limit = request?.limit else { return }
        // What the inbox's thread lists from now on stands behind the stop, and is handed back there.
        inbox?.close()
        holds.stopBegins(within: limit)
        gate.lane.watchdog.stopBegins(until: time.now() + limit, within: limit)
        let backlog = time.schedule(after: limit / 3) { [self] in dropBacklog(after: limit / 3) }
        let alarm = time.schedule(after: limit) { [self] in overdue() }
        let slow = time.schedule(after: Self.slowStop) { [self] in saySlowStop() }
        stopping.keep([alarm, slow] + waitsForUnresponsive())
        // Before the lane handles it, since a module may keep the lane busy. Readers of the log line may rely
        // on the order: a parent that restarts hosts knows by then that this one is the last.
        observer.onStop(end, reason)
        launchTimes.atStop.withLock { $0 = launchReport }
        ring?.add(.stopping(reason: reason))
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
        for id in lane.openSlots.sortedByNumber({ Int($0.rank) }).compactMap(\.id) {
            waits.append("\(id) has events to answer")
        }
        for id in moduleProcesses.ending { waits.append("the process of \(id) has not ended") }
        for hold in holds.open { waits.append("\(hold.module) holds '\(hold.step.rawValue)' open") }
        let shown = waits.isEmpty ? "the host is busy" : waits.shortList()
        log.notice(
            "the stop has taken \(Self.slowStop.briefText) so far: \(shown); "
                + "it takes \(stopLimit.briefText) at most")
    }

    /// The time for which a stop waits for the modules that were unresponsive when it was requested: `deadlines.stop`, and
    /// less in a short stop, which they do not keep from ending in order.
    var patienceInStop: Duration { min(deadlines.stop, stopLimit / 2) }

    /// Starts the clock of the processes that were asked to end.
    ///
    /// - Returns: Whether all have ended; else the end of the app is tried again when they have.
    func endProcesses() -> Bool {
        let left = max(
            .zero, stopping.current.map { time.now().duration(to: $0.ends) } ?? stopLimit)
        return moduleProcesses.finish(
            ProcessEndState.Times(
                asked: min(deadlines.stop, left / 2),
                terminating: min(processes.limits.terminating, left / 4))
        ) { [self] in
            onLane(limit: .stop) { app, _ in app.shutdown.endUnlessOverdue() }
        }
    }

    /// Schedules the end of the wait for the modules that were unresponsive when the stop was requested.
    private func waitsForUnresponsive() -> [any Alarm] {
        guard stopping.current?.unresponsive.isEmpty == false else { return [] }
        let alarm = time.schedule(after: patienceInStop) { [self] in
            onLane(limit: .stop) { app, _ in app.shutdown.stopWaiting() }
        }
        return [alarm]
    }

    /// Drops jobs that were accepted before the stop and are not delivered yet, where the stop has not
    /// reached the modules because of them.
    private func dropBacklog(after limit: Duration) {
        let dropped = gate.lane.dropBacklog(
            before: { $0 is StopJob },
            noting: { job in
                if let entry = job.listedEntry { inbox?.handBack(entry) }
            })
        guard !dropped.isEmpty else { return }
        let durable = dropped.count { $0.listedEntry != nil }
        for job in dropped { job.abandon() }
        stopping.keep(dropped: dropped)
        log.warning(
            "what was accepted before the stop took the modules longer than \(limit.briefText), a third "
                + "of \(stopLimitName): \(dropped.count - durable) events and calls are dropped, "
                + "\(durable) of the inbox left to the next host")
    }

    private func overdue() { end(.overdue(leftBehind())) }

    func end(_ end: End) {
        guard stopping.end() else { return }
        let left = gate.lane.close()
        holds.close()
        observer.onEnd(end)
        moduleProcesses.killAll()
        // Last of all: a process exits sooner than it has released very many jobs.
        withExtendedLifetime((left, stopping.takeDropped())) {}
    }

    /// Ends the app for a process that is about to exit: no module is entered any more, or receives the shutdown events.
    func endAtOnce() {
        guard stopping.endAtOnce() else { return }
        stopping.keep(dropped: gate.lane.close())
        holds.close()
    }

    /// Returns the modules whose end an overdue stop did not wait for: those that are overdue, those with holds, whose
    /// reasons are logged, and the current one.
    private func leftBehind() -> [ModuleID] {
        let lane = gate.lane
        let current = lane.slot(lane.ownership.slot)
        var modules = (lane.unresponsiveSlots + lane.openSlots + [current].compactMap(\.self))
            .compactMap(\.id)
        modules += moduleProcesses.ending
        for hold in holds.open {
            log.of(module: hold.module.text).error(
                "held '\(hold.step.rawValue)' until the stop was out of time: \(hold.reason)")
            modules.append(hold.module)
        }
        var named: Set<ModuleID> = []
        return modules.filter { named.insert($0).inserted }
    }
}

extension LaneJob {
    /// The entry of the inbox that a listed job delivers, or whose URL it opens; nil for other jobs.
    fileprivate var listedEntry: InboxEntry? {
        (self as? EventJob)?.entry ?? (self as? CallJob)?.durableEvent
    }
}
