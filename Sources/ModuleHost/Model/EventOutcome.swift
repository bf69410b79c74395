/// The outcome of a durable event, for its sender.
package struct EventOutcome: Hashable, Sendable {
    /// The number of modules that were notified and returned.
    package var delivered: Int
    /// The number of modules that were notified and threw.
    package var failed: Int
    /// The number of overdue modules: they receive the event when they return.
    package var overdue: Int
    /// The number of modules that receive the event later, at their own wish.
    package var later: Int
    /// The joined replies of the modules to a push.
    package var fetch: FetchResult?
    /// The module that claimed the event.
    package var claimedBy: ModuleID?
    /// The reply of the route that answered a URL, as JSON.
    package var reply: [UInt8]?
    /// The reason why a URL was not opened.
    package var failure: String?
    /// The topic or event for which there was no module, in words; nil if there was one.
    package var undelivered: String?
    /// The modules that have failed or are not made yet and that the event waits for, in order of response; known where a
    /// sender waits.
    package var waitsFor: [ModuleID] = []
}
