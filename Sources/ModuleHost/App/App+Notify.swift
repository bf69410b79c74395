extension App {
    /// Notifies the members of one module of an event, and no other module.
    ///
    /// - Parameters:
    ///   - record: The record of the module.
    ///   - members: Its members, in order.
    ///   - event: The event.
    ///   - thread: The calling thread, which owns the lane.
    ///   - failed: Called with an error that a member threw.
    /// - Returns: False where the lane was lost: its state must not be accessed any more.
    func notify(
        _ record: ModuleRecord, _ members: [Member], _ event: LifecycleEvent,
        on thread: LaneThread, failed: (any Error) -> Void
    ) -> Bool {
        let isLeaving = record.unloadingParts != nil
        var isLost = false
        event.kind.definition.send(event, to: members) { member, notify in
            // Members that were taken out of the center receive this event all the same; and none does after another
            // one with which the module has failed.
            guard isLeaving || !member.isRemoved && !record.isFailed else { return }
            // The remaining members of a module that kept the lane are notified on its own thread.
            guard !isLost else {
                do { _ = try describing(notify) } catch { gate.reportOverdue(record.slot, error) }
                return
            }
            let counts = gate.lane.counts.address
            var began = keepsTimes ? time.coarseNanoseconds() : nil
            func taken() -> Int { began.map { time.coarseNanoseconds() - $0 } ?? 0 }
            let outcome = gate.call(record.slot, on: thread) {
                let reply = try describing(notify)
                counts.count(reply, of: record.slot.number, after: taken())
                // Its answer adds the time, also that until now.
                if reply.isOpen { began = nil }
            }
            switch outcome {
            case .returned, .tooDeep: break
            case .threw(let error):
                failed(error)
                counts.noteLength(taken(), of: record.slot.number)
            // It did not have the lane all the time.
            case .lost, .threwOverdue: (isLost, began) = (true, nil)
            }
            counts.add(taken(), of: record.slot.number)
        }
        return !isLost
    }
}
