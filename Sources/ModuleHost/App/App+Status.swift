import AppService
import Synchronization

/// The status of the app, for callers from outside.
extension AppHost {
    /// Reads a value of the app on the lane.
    ///
    /// - Parameters:
    ///   - time: The longest wait for the lane: a module may keep it busy.
    ///   - first: Whether it is read before all jobs that wait for the lane.
    ///   - value: Returns the value.
    ///   - completion: Called once, on the lane or any other thread.
    func read<Value: Sendable>(
        within time: Duration, first: Bool = false,
        _ value: @escaping @Sendable (App) -> Value,
        _ completion: @escaping @Sendable (Result<Value, HostSilence>) -> Void
    ) {
        let pending = Completion(orAbandoned: HostSilence.ended, completion)
        pending.set(
            self.time.schedule(after: time) { [gate] in
                let slot = gate.lane.slot(gate.lane.ownership.slot)
                let isStaged = slot?.isStaged.load(ordering: .relaxed) == true
                pending.finish(
                    .failure(.busy(with: slot?.id, for: time, inReload: isStaged)))
            })
        let work = LaneWork { [app] thread in
            pending.finish(.success(value(app.open(on: thread))))
        } onAbandon: {
            pending.finish(.failure(.ended))
        }
        if first { gate.lane.enqueueFirst(work) } else { gate.lane.enqueue(work) }
    }
}

/// The reason why a host does not report its status.
enum HostSilence: Error, Hashable {
    /// The app has ended.
    case ended
    /// The lane was busy for the whole time; the module that it is in now, if it is in one, and whether a reload
    /// launches that.
    case busy(with: ModuleID?, for: Duration, inReload: Bool)
}

extension App {
    /// The status of each enabled module, in slatefile order.
    var moduleStatuses: [ModuleStatus] {
        let holds = Dictionary(grouping: holds.open, by: \.module)
        let leaving = Dictionary(grouping: unloadingModules.records, by: \.id)
        return slatefile.modules.lazy.filter(\.isEnabled).map { entry in
            var status = status(of: entry)
            status.holds = holds[entry.id] ?? []
            status.counts = counts(of: entry.id, leaving[entry.id] ?? [])
            return status
        }
    }

    func isOverdue(_ record: ModuleRecord) -> Bool { gate.lane.isOverdue(record.slot) }

    /// The status of one module without its holds; nil for one that is not enabled.
    func status(of module: ModuleID) -> ModuleStatus? {
        if let record = record(of: module) { return status(of: record) }
        return slatefile.modules.first { $0.id == module && $0.isEnabled }.map(status)
    }

    /// The status of an enabled module, without its holds.
    private func status(of entry: Slatefile.Module) -> ModuleStatus {
        if let record = record(of: entry.id) { return status(of: record) }
        // Before the launch has begun there are no records.
        return records.isEmpty
            ? ModuleStatus(entry, .waiting, since: startedAt)
            : ModuleStatus(entry, .onDemand, since: onDemand.unloadedAt[entry.id] ?? startedAt)
    }

    /// The status of a module that is made, without its holds.
    private func status(of record: ModuleRecord) -> ModuleStatus {
        let behind = gate.lane.behind(record.slot)
        var status = ModuleStatus(
            record.entry, record.life.state(isOverdue: behind != nil), since: record.since)
        if status.state == .overdue {
            status.behind = behind
            status.since = record.overdueSince ?? record.since
        }
        if let end = record.taker?.pauseEnd {
            let time = max(.zero, self.time.now().duration(to: end))
            status.pausedFor = time
            status.behind = gate.lane.waitingCount(of: record.slot)
            status.reason = "wants its events again in \(time.briefText)"
        }
        if let failure = record.failure {
            status.reason = failure.reason
            status.failedNeed = failure.need
            status.instead = calls?.table.instead?[record.id]?.text
            status.waiting = gate.lane.waiting(for: record.slot).map(WaitingEvents.init)
            status.retryAfter = attempts.start(of: record.id).map {
                time.now().duration(to: $0)
            }
        }
        let start = onDemand.starts[record.id]
        if start?.replaced != nil { status.state = .replacing }
        status.calls =
            (record.isolated?.process.calls.withLock(\.count) ?? 0) + (start?.jobs.count ?? 0)
        let starting = start?.process?[record.id]
        status.process =
            record.isolated?.metrics.withLock { $0 }
            ?? (record.entry.ends ? starting?.status ?? record.lastProcess : nil)
        if record.entry.ends, starting?.process != nil {
            status.state = .running
            status.since = status.process?.startedAt ?? record.since
        }
        if case .waiting = record.life,
            let need = record.entry.needs.first(where: { self.record(of: $0)?.isToEnd == true })
        {
            status.reason = "waits for \(need), which has not ended"
        }
        return status
    }
}

extension ModuleRecord {
    /// The time since when it is in its state, apart from being overdue.
    var since: WallTime { isFailed ? failedSince ?? changedAt : changedAt }
}

extension ModuleStatus {
    fileprivate init(_ entry: Slatefile.Module, _ state: State, since: WallTime) {
        self.init(id: entry.id, entry: entry.implementation.text, state: state, since: since)
        isMain = entry.isMain
        isRequired = entry.isRequired
        isLazy = entry.isLazy
        hostDeaths = entry.hostDeaths
    }
}

extension ModuleLife {
    /// Returns the state that users see.
    func state(isOverdue: Bool = false) -> ModuleStatus.State {
        switch self {
        case .failed: .failed
        case .done: .done
        case .leaving, .released: .released
        case _ where isOverdue: .overdue
        case .waiting, .making, .made, .ready: .waiting
        case .catchingUp, .running: .running
        }
    }
}
