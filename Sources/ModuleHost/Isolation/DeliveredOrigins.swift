/// The origins from outside on whose behalf a module's process may make a call.
///
/// An origin names its sender, such as a process at the control socket, and other modules may rely on that.
/// So the process may name only senders that the host has sent to it. ``Origin/push`` and ``Origin/inbox``
/// name none.
struct DeliveredOrigins {
    private let limit: Int
    /// The origins with a sender, by their description: the latest ones, and as many before them.
    private var latest: [String: Origin] = [:]
    private var earlier: [String: Origin] = [:]

    /// - Parameter limit: The number of the latest senders that are remembered at least.
    init(limit: Int = 1024) { self.limit = limit }

    /// Notes that the host sends an origin to the process.
    mutating func note(_ origin: Origin) {
        guard origin.isRemote, origin != .push, origin != .inbox else { return }
        if latest.count == limit { (earlier, latest) = (latest, [:]) }
        latest[origin.description] = origin
    }

    /// Returns the origin that a request names, if the process may act on its behalf.
    ///
    /// - Parameters:
    ///   - text: Its description, as a program of protocol version 1 gives it.
    ///   - module: The module of the process, which may always act for itself.
    /// - Returns: The origin; nil for any other text.
    func find(_ text: String, for module: ModuleID) -> Origin? {
        [.push, .inbox, .local(module)].first { $0.description == text } ?? latest[text]
            ?? earlier[text]
    }

    /// Returns whether the process may act on behalf of an origin.
    func contains(_ origin: Origin, for module: ModuleID) -> Bool {
        find(origin.description, for: module) == origin
    }
}
