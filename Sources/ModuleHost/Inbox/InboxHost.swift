/// The app to which the inbox delivers its events.
///
/// On any thread.
protocol InboxHost: AnyObject, Sendable {
    /// The lane that delivers them.
    var lane: Lane { get }

    /// The modules that are to receive events, in order.
    var enabledModules: [ModuleID] { get }

    /// Delivers events, in order, after everything that was accepted before.
    func enqueue(_ events: [LifecycleEvent])
}

extension InboxHost {
    /// The cells of modules that are behind at the start.
    func cells(
        of places: [ModuleID: EventPosition]
    ) -> [(id: ModuleID, cell: Cell, place: EventPosition)] {
        lane.allCells.compactMap { cell in
            guard let id = cell.id, let place = places[id] else { return nil }
            return (id, cell, place)
        }
    }
}
