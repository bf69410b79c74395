import AppService

/// Which connection of a control server: the number is never used again.
struct ConnectionID: Hashable, Sendable {
    let slot: Int
    let serial: Int
}

/// What other threads have for the thread of a control server.
final class ControlMailbox: Sendable {
    enum Letter: Sendable {
        /// An answer to a call.
        case answer(ConnectionID, RPCSession.Ticket, [UInt8])
        /// Something happened that the connection follows.
        case news(ConnectionID)
        /// The server is to end, and may take so long to send what is owed.
        case end(within: Duration)
        /// An alarm rang: what is overdue is found by the clock.
        case alarm
    }

    private let letters = Guarded<[Letter]>([])
    private let bell: Doorbell

    init() throws(SystemError) { bell = try Doorbell() }

    /// The descriptor that can be read from when a letter came while the thread slept.
    var descriptor: Int32 { bell.descriptor }

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

    /// Whether the thread may sleep: false where a letter waits.
    func fallAsleep() -> Bool { bell.fallAsleep() }

    /// Notes that the thread no longer sleeps.
    ///
    /// - Parameter signalled: Whether it was woken by a letter.
    func wakeUp(signalled: Bool) { bell.wakeUp(signalled: signalled) }
}
