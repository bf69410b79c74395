/// The origins from outside that a module's process may act for when it makes a call.
///
/// An origin names its sender, such as a process at the control socket, and other modules may go by that. So the
/// process may name only senders that the host has told it of. ``Origin/push`` and ``Origin/inbox`` name none.
struct DeliveredOrigins {
    private let limit: Int
    /// Those with a sender, by their description: the latest ones, and as many before them.
    private var latest: [String: Origin] = [:]
    private var earlier: [String: Origin] = [:]

    /// - Parameter limit: The number of senders that are remembered at least: the latest.
    init(limit: Int = 1024) { self.limit = limit }

    /// Notes that the host tells the process of an origin.
    mutating func note(_ origin: Origin) {
        guard origin.isRemote, origin != .push, origin != .inbox else { return }
        if latest.count == limit { (earlier, latest) = (latest, [:]) }
        latest[origin.description] = origin
    }

    /// The origin that a request names, if the process may act for it.
    ///
    /// - Parameters:
    ///   - text: Its description, as a program of protocol version 1 gives it.
    ///   - module: The module whose process asks: it may always act for itself.
    /// - Returns: The origin; nil for any other text.
    func find(_ text: String, for module: ModuleID) -> Origin? {
        [.push, .inbox, .local(module)].first { $0.description == text } ?? latest[text]
            ?? earlier[text]
    }

    /// Returns whether the process may act for an origin.
    func contains(_ origin: Origin, for module: ModuleID) -> Bool {
        find(origin.description, for: module) == origin
    }
}
