/// The app to which the inbox delivers its events.
///
/// On any thread.
protocol InboxHost: AnyObject, Sendable {
    /// The lane that delivers them.
    var lane: Lane { get }

    /// The modules that are to receive events, in order.
    var enabledModules: [ModuleID] { get }

    /// Delivers events, in order, after everything accepted before.
    ///
    /// - Returns: The jobs that deliver them.
    func enqueue(_ events: [LifecycleEvent]) -> [any LaneJob]
}

extension InboxHost {
    /// The slots of modules that are behind at the start.
    func slots(
        of places: [ModuleID: EventPosition]
    ) -> [(id: ModuleID, slot: ModuleSlot, place: EventPosition)] {
        lane.allSlots.compactMap { slot in
            guard let id = slot.id, let place = places[id] else { return nil }
            return (id, slot, place)
        }
    }
}
