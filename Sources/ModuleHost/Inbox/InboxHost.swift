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
