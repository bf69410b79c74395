import AppService

/// Waiting, in a stop, for modules that hold one of its steps open.
extension RunningApp {
    /// Puts a stop's job aside before `terminate` while somebody holds `background`.
    ///
    /// - Returns: Whether it was: then it will be run again, once.
    func keeps(_ job: EventJob, before event: LifecycleEvent) -> Bool {
        event.kind == .terminate && isKept(job)
    }

    /// Lets the modules go once nobody holds, be it `terminate` or, heard late, `background`.
    ///
    /// From now on every module that is not late has heard of the end.
    func releaseWhenNobodyHolds(in host: Host) {
        isReleasing = true
        let again = LaneWork(limit: .stop) { [app = host.app] _ in
            app.value.releaseWhenNobodyHolds(in: host)
        }
        if !isKept(again) { release(in: host) }
    }

    private func isKept(_ job: some LaneJob) -> Bool {
        let open = holds.open
        guard holds.keep(job) else { return false }
        let names = open.map { "\($0.module) holds '\($0.step.rawValue)': \($0.reason)" }
        log.notice("the stop waits: \(names.joined(separator: "; "))")
        return true
    }
}

extension Host {
    /// The modules whose end an overdue stop did not wait for: those that are overdue, and those that hold, of
    /// which the log says what for.
    ///
    /// Not the one in hand, which has time left: to blame is what stands before it.
    func leftBehind() -> [ModuleID] {
        var modules = gate.lane.overdueCells.compactMap(\.id)
        for hold in holds.open {
            log.of(module: hold.module.text).error(
                "held '\(hold.step.rawValue)' until the stop was out of time: \(hold.reason)")
            modules.append(hold.module)
        }
        var named: Set<ModuleID> = []
        return modules.filter { named.insert($0).inserted }
    }
}
