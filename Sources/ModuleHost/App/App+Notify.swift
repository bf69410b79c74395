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
            let (counts, began) = (gate.lane.counts.address, time.coarseNanoseconds())
            let outcome = gate.call(record.slot, on: thread) {
                counts.count(try describing(notify), of: record.slot.number)
            }
            counts.add(time.coarseNanoseconds() - began, of: record.slot.number)
            switch outcome {
            case .returned, .tooDeep: break
            case .threw(let error): failed(error)
            case .lost, .threwOverdue: isLost = true
            }
        }
        return !isLost
    }
}
