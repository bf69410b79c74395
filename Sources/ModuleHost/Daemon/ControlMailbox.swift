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

    private struct State {
        var letters: [Letter] = []
        /// Whether the thread will look again before it sleeps.
        var isAwake = true
    }

    private let state = Guarded(State())
    private let wake: WakeSignal

    init() throws(SystemError) { wake = try WakeSignal() }

    /// The descriptor that can be read from when a letter came while the thread slept.
    var descriptor: Int32 { wake.descriptor }

    /// Adds a letter.
    ///
    /// Never waits for the thread; costs a system call only where that sleeps.
    func post(_ letter: Letter) {
        let mustWake = state.withLock { state in
            state.letters.append(letter)
            let mustWake = !state.isAwake
            state.isAwake = true
            return mustWake
        }
        if mustWake { wake.give() }
    }

    /// Exchanges the letters that wait for `letters`, which is empty and lends its room.
    func take(_ letters: inout [Letter]) {
        state.withLock { swap(&$0.letters, &letters) }
    }

    /// Whether the thread may sleep: false where a letter waits.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAwake = !state.letters.isEmpty
            return !state.isAwake
        }
    }

    /// Notes that the thread no longer sleeps.
    ///
    /// - Parameter signalled: Whether it was woken by a letter.
    func wakeUp(signalled: Bool) {
        if signalled { wake.take() }
        state.withLock { $0.isAwake = true }
    }
}
