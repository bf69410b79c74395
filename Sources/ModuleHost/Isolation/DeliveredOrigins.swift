/// The origins from outside on whose behalf a module's process may make a call.
///
/// An origin names its sender, such as a process at the control socket, and other modules may rely on that.
/// So the process may name only senders that the host has sent to it. ``Origin/push`` and ``Origin/inbox``
/// name none.
struct DeliveredOrigins {
    private let limit: Int
    /// The origins with a sender: the latest ones, and as many before them.
    private var latest: Set<Origin> = []
    private var earlier: Set<Origin> = []

    /// - Parameter limit: The number of the latest senders that are remembered at least.
    init(limit: Int = 1024) { self.limit = limit }

    /// Notes that the host sends an origin to the process.
    mutating func note(_ origin: Origin) {
        guard origin.isRemote, origin != .push, origin != .inbox else { return }
        if latest.count == limit { (earlier, latest) = (latest, []) }
        latest.insert(origin)
    }

    /// Returns whether the process may act on behalf of an origin: its module may always act for itself.
    func contains(_ origin: Origin, for module: ModuleID) -> Bool {
        [.push, .inbox, .local(module)].contains(origin) || latest.contains(origin)
            || earlier.contains(origin)
    }
}
