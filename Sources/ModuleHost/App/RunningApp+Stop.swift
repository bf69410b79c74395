import AppService

/// The job by which a stop begins, when what was accepted before it is done or dropped.
struct StopJob: LaneJob {
    let begin: @Sendable () -> Void

    var limit: DeliveryLimit { .stop }

    func run(on thread: LaneThread, after cell: UInt16) { begin() }
}

/// From the wish to stop to the end.
extension RunningApp {
    /// Tells every module that was launched of the end, then lets them go.
    func stop(_ end: Host.End, because reason: String, origin: Origin, in host: Host) {
        guard ending == nil else { return }
        ending = end
        host.startup.stop()
        inbox?.close()
        for id in retries.keys { endRetry(of: id) }
        if !held.isEmpty {
            log.warning("\(held.count) events came before READY and are not delivered")
            figures.withLock { $0.ignored += held.count }
            held = []
        }
        for record in records {
            if case .launched = record.status { continue }
            gate.lane.unlist(record.cell)
        }
        if let reload { rollBack(reload, because: "the host stops") }
        guard host.parent == nil else {
            // The host that leads this one has told its module of the end, if it is to hear of it.
            _ = state.apply(.terminate)
            return releaseWhenNobodyHolds(in: host)
        }
        deliverNow(.ownChange(.terminate, origin: origin), limit: .stop)
    }

    /// Lets the modules go, the last one first; those that are late when they return.
    func release(in host: Host) {
        let left = unreleased ?? records
        unreleased = left.filter { isLate($0) }
        for record in left.reversed() where !isLate(record) {
            let confined = LaneConfined(record)
            host.onLane(limit: .stop) { app, thread in app.release(confined.value, on: thread) }
        }
        host.onLane { app, _ in app.endUnlessLate() }
    }

    private func release(_ record: ModuleRecord, on thread: LaneThread) {
        guard record.module != nil else { return }
        if isLate(record) {
            unreleased?.append(record)
            return
        }
        takeOut(record)
        letGo(of: record, on: thread)
    }

    /// Ends the app, unless there are modules to wait for as long as the stop may take.
    private func endUnlessLate() {
        guard let ending, let host else { return }
        let late = gate.lane.lateCells
        let awaited = late.filter { cell in !hangingInInit.contains { $0 === cell } }
        guard awaited.isEmpty else {
            let names = awaited.compactMap(\.id?.text).joined(separator: ", ")
            return log.warning("waiting for \(names)")
        }
        // It has yet to say how late it was, and comes back here then.
        guard !gate.lane.hasLateThreads(besides: late) else { return }
        // One that was late may have taken a hold when it heard of the end.
        guard holds.open.isEmpty else { return releaseWhenNobodyHolds(in: host) }
        _ = state.apply(.ended)
        figures.withLock { $0.state = state }
        host.end(ending)
    }

    /// The lane has ended.
    ///
    /// What modules are left are held by their stuck threads alone from now on, and not by each
    /// other.
    func leaveBehind() {
        starts?.cancel()
        reload?.starts?.cancel()
        for record in records + departing.values + (reload?.drafts ?? []) {
            record.module = nil
            record.context = nil
            record.departure = nil
            _ = center.takeAll(of: record.cell)
            _ = services.takeAll(of: record.cell)
        }
        holds.clear()
        // Whoever waits for them is told that the host has stopped.
        (reload, waitingReloads) = (nil, [])
    }

    /// A thread that was stuck has returned.
    func returned() {
        hangingInInit.removeAll { !gate.lane.isLate($0) }
        tellHealth()
        bidFarewell()
        remakeOutdated()
        guard isReleasing, let host, state == .terminating else { return }
        releaseWhenNobodyHolds(in: host)
    }
}
