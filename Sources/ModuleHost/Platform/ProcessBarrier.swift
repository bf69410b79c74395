import Glibc

/// A memory barrier that all threads of the process pass when one of them asks for it (`membarrier(2)`): what the
/// others do often costs them nothing, and the one whose part is rare pays for both.
///
/// Each thread passes it between two of its instructions, also a thread that is not running at the moment: its stores
/// before that are seen by the caller afterwards, and it sees the caller's earlier ones from then on.
enum ProcessBarrier {
    /// Whether the kernel has such a barrier, since Linux 4.14; a sandbox may forbid it.
    static let isAvailable = isOffered(by: call(.query))

    /// Returns whether the barrier is among those that a query has answered; -1 where the query fails.
    static func isOffered(by answer: Int) -> Bool {
        answer > 0 && answer & Command.expedited.rawValue != 0
    }

    /// Registers the process, once, where the barrier is available: this can take some 10 ms in a process of several
    /// threads.
    ///
    /// - Throws: ``SystemError`` where the kernel refuses it.
    static func prepare() throws(SystemError) {
        if isAvailable, let refusal { throw refusal }
    }

    private static let refusal: SystemError? = call(.register) < 0 ? .last : nil

    /// Has all threads of the process pass a barrier, after ``prepare()``: takes some microseconds.
    ///
    /// - Returns: False where the kernel has no memory for it at the moment.
    static func pass() -> Bool { call(.expedited) == 0 }

    private enum Command: Int {
        case query = 0
        case expedited = 8
        case register = 16
    }

    private static func call(_ command: Command) -> Int {
        #if arch(x86_64)
            systemCall(324, command.rawValue, 0)
        #elseif arch(arm64)
            systemCall(283, command.rawValue, 0)
        #else
            -1
        #endif
    }
}
