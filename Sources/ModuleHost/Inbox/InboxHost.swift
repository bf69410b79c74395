/// The app to which the inbox delivers its events.
///
/// On any thread.
protocol InboxHost: AnyObject, Sendable {
    /// The lane that delivers them.
    var lane: Lane { get }

    /// The modules that are to receive events, in order.
    var enabledModules: [ModuleID] { get }

    /// Returns whether a module receives an event, as far as is known without it; yes where nothing is known.
    func mayReceive(_ event: LifecycleEvent, by module: ModuleID) -> Bool

    /// Delivers events, in order, after everything accepted before.
    ///
    /// - Returns: The jobs that deliver them.
    func enqueue(_ events: [LifecycleEvent]) -> [any LaneJob]
}
