/// The entries of the record that the app adds.
extension App {
    /// Whether the log, the record or the observer has how long deliveries take.
    var keepsTimes: Bool { log.isEnabled(.info) || ring != nil || observer != nil }

    /// Adds a delivery, if the record keeps it.
    func note(_ event: LifecycleEvent, _ tally: EventTally, after time: Duration) {
        guard let ring, ring.keeps(time, failed: tally.failed > 0, event.trace) else { return }
        for (slot, share) in tally.slow {
            guard let module = slot.id else { continue }
            ring.add(
                .handled(
                    HostRecord.Handling(
                        kind: event.kind, topic: event.topic, id: event.entry?.id,
                        position: event.entry?.position, duration: min(share, time),
                        trace: event.trace?.placeWithin)), of: module)
        }
        var delivery = HostRecord.Delivery(kind: event.kind, duration: time)
        delivery.topic = event.topic
        delivery.id = event.entry?.id
        delivery.position = event.entry?.position
        delivery.received = tally.delivered
        delivery.failed = tally.failed
        delivery.unresponsive = tally.overdue
        if case .local(let sender) = event.origin { delivery.sender = sender }
        delivery.trace = event.trace?.place
        ring.add(.delivered(delivery))
    }

    /// Shows an event to the observer, who may give what modules do with it a trace, and begins its part of the trace.
    func observe(_ event: inout LifecycleEvent) {
        let own = observer.flatMap { TraceContext($0.willDeliver(event), within: event.trace) }
        event = event.traced(by: ring == nil ? own : (own ?? event.trace)?.begun())
    }

    /// Shows the observer what became of an event.
    func observe(_ event: LifecycleEvent, _ tally: EventTally) {
        observer?.didDeliver(
            Delivery(
                event, EventOutcome(tally), in: timeInEvent, slowest: tally.slowest?.slot.id))
    }

    /// Adds the life of a module that has changed from another.
    func note(_ record: ModuleRecord, after former: ModuleLife) {
        // The end of the host says that its modules are released.
        guard let ring, !phase.isEnding || record.isFailed,
            let fact = record.life.fact(after: former)
        else { return }
        // A place for another attempt has the failure of the instance before it.
        if record.failedSince != nil, former == .waiting { return }
        ring.add(fact, of: record.id)
    }

    /// Notes that modules have become overdue.
    func noteOverdue(_ report: TakeoverReport, in place: String) {
        let topic = report.slots.first.flatMap { event(of: report, $0)?.topic }
        let place = place + (topic.map { " \($0)" } ?? "")
        for slot in report.slots {
            let record = record(of: slot)
            record?.note(isOverdue: true)
            // An unloaded instance gives the lane away until its process has ended: its module has another one, or none.
            guard record != nil || report.cause != .repeatedYield else { continue }
            if let id = slot.id { ring?.add(.unresponsive(in: place), of: id) }
        }
    }

    /// Returns the event in which a module is, also one that its process has yet to answer.
    func event(of report: TakeoverReport, _ slot: ModuleSlot) -> LifecycleEvent? {
        if let event = report.job?.event { return event }
        guard record(of: slot)?.life != .making else { return nil }
        // In a process it is the one that has no answer.
        return gate.lane.currentEvent(of: slot)
            ?? (slot.limits.hasProcess ? gate.lane.oldestOpenEvent(of: slot) : nil)
    }

    /// Notes that a module is not overdue any more.
    func noteRejoined(_ slot: ModuleSlot, missed: Int) {
        record(of: slot)?.note(isOverdue: false)
        if let id = slot.id { ring?.add(.responsive(missed: missed), of: id) }
    }
}

extension ModuleLife {
    /// The entry of the record about this life; nil if the former one had it.
    fileprivate func fact(after former: ModuleLife) -> HostRecord.Fact? {
        switch (self, former) {
        case (.made, .making): .created
        case (.running, .made), (.running, .catchingUp), (.running, .ready): .launched
        case (.failed(let failure), let former) where self != former:
            .failed(reason: failure.reason, need: failure.need)
        case (.done, let former) where former != .done: .done
        case (.leaving, .waiting), (.leaving, .making), (.leaving, .made), (.leaving, .ready),
            (.leaving, .catchingUp), (.leaving, .running), (.leaving, .done):
            .unloaded
        default: nil
        }
    }
}
