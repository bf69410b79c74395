import AppService

/// The identity of a connection of a control server; never reused.
struct ConnectionID: Hashable, Sendable {
    let slot: Int
    let serial: Int
}

/// The requests of other threads to the thread of a control server.
final class ControlMailbox: Sendable {
    enum Letter: Sendable {
        /// The response to a call.
        case answer(ConnectionID, RPCSession.Ticket, [UInt8])
        /// The response to a call was sent by the thread that had it.
        case answered(ConnectionID)
        /// The connection has room again for its requests.
        case room(ConnectionID)
        /// Everything in flight is done, after a high load.
        case drained
        /// Work for the control thread, so that it does not delay the posting thread.
        case work(@Sendable () -> Void)
        /// An event occurred that the connection follows.
        case news(ConnectionID)
        /// The server is to end, with a limit for sending the remaining bytes.
        case end(within: Duration)
        /// An alarm rang: the clock shows which deadlines have passed.
        case alarm
    }

    private let letters = Guarded<[Letter]>([])
    /// The doorbell of the thread that takes the letters.
    let bell: Doorbell

    init() throws(SystemError) { bell = try Doorbell() }

    /// Adds a letter.
    ///
    /// Never waits for the thread; costs a system call only where the thread sleeps.
    ///
    /// - Parameters:
    ///   - rings: Whether the thread is woken; else it finds the letter when it wakes for another reason.
    func post(_ letter: Letter, rings: Bool = true) {
        letters.withLock { $0.append(letter) }
        if rings { bell.ring() }
    }

    /// Exchanges the waiting letters for `taken`, which is empty and provides its capacity.
    func take(_ taken: inout [Letter]) {
        letters.withLock { swap(&$0, &taken) }
    }
}
