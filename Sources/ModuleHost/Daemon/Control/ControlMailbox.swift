import AppService

/// The identity of a connection of a control server; never used again.
struct ConnectionID: Hashable, Sendable {
    let slot: Int
    let serial: Int
}

/// The requests of other threads to the thread of a control server.
final class ControlMailbox: Sendable {
    enum Letter: Sendable {
        /// An answer to a call.
        case answer(ConnectionID, RPCSession.Ticket, [UInt8])
        /// The connection has room again for what it asks.
        case room(ConnectionID)
        /// All that was in flight is done, and it was much.
        case drained
        /// Work that does not delay the thread that brings it.
        case work(@Sendable () -> Void)
        /// Something happened that the connection follows.
        case news(ConnectionID)
        /// The server is to end, and may take so long to send what is owed.
        case end(within: Duration)
        /// An alarm rang: what is overdue is found by the clock.
        case alarm
    }

    private let letters = Guarded<[Letter]>([])
    /// The doorbell of the thread that takes them.
    let bell: Doorbell

    init() throws(SystemError) { bell = try Doorbell() }

    /// Adds a letter.
    ///
    /// Never waits for the thread; costs a system call only where that sleeps.
    func post(_ letter: Letter) {
        letters.withLock { $0.append(letter) }
        bell.ring()
    }

    /// Exchanges the letters that wait for `taken`, which is empty and lends its room.
    func take(_ taken: inout [Letter]) {
        letters.withLock { swap(&$0, &taken) }
    }
}
