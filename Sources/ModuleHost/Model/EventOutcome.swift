/// What came of a durable event, for whoever sent it.
package struct EventOutcome: Hashable, Sendable {
    /// How many modules were told and returned.
    package var delivered: Int
    /// How many were told and threw.
    package var failed: Int
    /// How many are late: they hear it when they return.
    package var late: Int
    /// The modules' replies to a push, put together.
    package var fetch: FetchResult?
    /// The module that claimed it.
    package var claimedBy: ModuleID?
    /// What the route that answered a URL replied, as JSON.
    package var reply: [UInt8]?
    /// Why a URL was not opened.
    package var failure: String?
    /// Which topic or event no module was there to hear, in words; nil where one was.
    package var unheard: String?
}
