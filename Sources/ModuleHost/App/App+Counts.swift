/// The failures of modules in events, and the counts of what they did with events.
extension App {
    /// Counts a handler that threw.
    func countFailure(of slot: ModuleSlot) {
        metrics.withLock { $0.failures += 1 }
        gate.lane.counts.address.countFailure(of: slot.number)
    }

    /// Notes and logs an error that a module threw in an event.
    func failed(_ record: ModuleRecord, in event: LifecycleEvent, _ error: any Error) {
        countFailure(of: record.slot)
        logFailed(record, in: event, error)
    }

    func logFailed(_ record: ModuleRecord, in event: LifecycleEvent, _ error: any Error) {
        ring?.add(.threw(in: event.kind, error: "\(error)"), of: record.id)
        log.of(module: record.id.text).write(
            .error, "failed: \(error)", event: event.kind.rawValue)
    }

    /// Notes an error that a responder threw.
    ///
    /// - Returns: Whether the others are to be notified.
    func failed(_ slot: ModuleSlot, in event: LifecycleEvent, _ error: any Error) -> FanStep {
        countFailure(of: slot)
        return role.responderFailed(slot, in: event, error, of: self)
    }

    /// The counts of a module since the host started; nil before a handler of it has returned or thrown.
    ///
    /// - Parameter leaving: Its instances that are being unloaded.
    func counts(of module: ModuleID, _ leaving: [ModuleRecord]) -> DeliveryCounts.Counts? {
        let instances = leaving + [record(of: module)].compactMap(\.self)
        return gate.lane.counts[module, instances.map(\.slot.number)]
    }

    /// Keeps the counts of an instance that is gone, if the slatefile still has the module.
    func keepCounts(of record: ModuleRecord) {
        guard calls?.table.contents.position(of: record.id) != nil else { return }
        gate.lane.counts.keep(record.slot.number, of: record.id)
    }
}

extension AppHost {
    /// Has a module handle an event on its own thread, and counts that.
    ///
    /// - Parameters:
    ///   - slot: The slot of the module.
    ///   - notify: Notifies it.
    ///   - failed: Called with the error that it threw, which counts it.
    func counting(
        of slot: ModuleSlot, _ notify: () throws -> EventReply, failed: (any Error) -> Void
    ) {
        let (counts, began) = (gate.lane.counts.address, time.coarseNanoseconds())
        func taken() -> Int { time.coarseNanoseconds() - began }
        do {
            let reply = try notify()
            // Its answer adds the time.
            if !reply.isOpen { counts.add(taken(), of: slot.number) }
            counts.count(reply, of: slot.number, after: taken())
        } catch {
            failed(error)
            counts.add(taken(), of: slot.number)
            counts.noteLength(taken(), of: slot.number)
        }
    }
}
