import AppService
import Dispatch

/// The standard input of a module's process: lines of any thread, in order.
///
/// No thread waits until the process reads them.
/// Lines that do not fit into the pipe wait in memory; the thread that reads all processes writes them when there is room.
/// A process that reads nothing for as long as a waiting line may take is killed, and so is one for which more than
/// ``Limits/bytes`` wait.
final class ModuleInput: Sendable {
    struct Limits: Hashable, Sendable {
        /// The number of waiting bytes above which the process gets no calls of others.
        var callBytes = 8 << 20
        /// The number of waiting bytes above which it is killed.
        ///
        /// Most of them are answers to its own requests, which it has to read: each may have ``ModuleProcess/Limits/line``.
        var bytes = 64 << 20
    }

    private struct State {
        var waiting = OutputQueue()
        /// The last time at which the process read something, or had nothing to read.
        var progress = DispatchTime.now()
        /// The longest time that one of the waiting lines may take.
        var patience = Duration.zero
        /// Whether lines wait since others follow at once, and not for room.
        var isGathering = false
        /// Whether the input is closed behind the waiting lines.
        var isEnding = false
    }

    private let child: ChildProcess
    private let limits: Limits
    /// Has the reading thread visit the process; called with a lock held.
    private let wake: @Sendable () -> Void
    private let state = Guarded(State())

    init(of child: ChildProcess, _ limits: Limits, _ wake: @escaping @Sendable () -> Void) {
        self.child = child
        self.limits = limits
        self.wake = wake
    }

    /// Writes a line, or has it written when there is room.
    ///
    /// From any thread. Does nothing where the process has closed its input, or has ended: the reading thread finds out
    /// which.
    ///
    /// - Parameters:
    ///   - line: The line without its newline.
    ///   - time: The time after which a process that reads nothing is killed.
    ///   - followed: Whether others follow at once, or ``endGathering()``: then a page of them is written at a time.
    /// - Returns: Whether fewer bytes wait than are allowed; else the process is to be killed.
    func write(_ line: [UInt8], within time: Duration, followed: Bool = false) -> Bool {
        state.withLock { state in
            guard !state.isEnding else { return true }
            let wasEmpty = state.waiting.isEmpty
            let hadRoom = wasEmpty || state.isGathering
            if wasEmpty { (state.progress, state.patience) = (DispatchTime.now(), .zero) }
            state.waiting.appendLine(line)
            state.patience = max(state.patience, time)
            state.isGathering = followed && hadRoom && state.waiting.count < Self.page
            if state.isGathering { return true }
            if hadRoom { flush(&state) }
            // Also where others wait: its time may be longer.
            if !state.waiting.isEmpty { wake() }
            return state.waiting.count <= limits.bytes
        }
    }

    private static let page = 1 << 12

    /// Writes a last line, and closes the input behind it.
    func end(with line: [UInt8]) {
        state.withLock { state in
            guard !state.isEnding else { return }
            state.waiting.appendLine(line)
            state.isEnding = true
            flush(&state)
            if !state.waiting.isEmpty { wake() }
        }
    }

    /// Drops the waiting lines, and closes the input: the process has ended.
    func close() {
        state.withLock { state in
            (state.waiting, state.isEnding) = (OutputQueue(), true)
            child.closeInput()
        }
    }

    /// Whether so little waits that the process may get calls of others.
    var takesCalls: Bool { state.withLock { $0.waiting.count <= limits.callBytes } }

    /// Whether there are lines that the process has not read.
    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    // MARK: The reading thread

    /// Writes what there is room for.
    func flush() { state.withLock { flush(&$0) } }

    /// Writes the lines that others were to follow; the reading thread writes what there is no room for.
    func endGathering() {
        state.withLock { state in
            guard state.isGathering else { return }
            flush(&state)
            if !state.waiting.isEmpty { wake() }
        }
    }

    private func flush(_ state: inout State) {
        state.isGathering = false
        while !state.waiting.isEmpty {
            do throws(SystemError) {
                let count = try child.write(state.waiting.rest)
                guard count > 0 else { return }
                state.waiting.removeFirst(count)
                state.progress = DispatchTime.now()
            } catch {
                state.waiting = OutputQueue()
            }
        }
        if state.isEnding { child.closeInput() }
    }

    /// Returns the milliseconds until a process that reads nothing is killed; nil where nothing waits.
    ///
    /// A process that ends has other limits.
    ///
    /// - Parameter answer: The time of its last response: it may read much at a time, and answer one after the other.
    func millisecondsLeft(since answer: DispatchTime) -> Int32? {
        state.withLock { state in
            guard !state.waiting.isEmpty, !state.isEnding else { return nil }
            return max(state.progress, answer).later(by: state.patience).millisecondsLeft
        }
    }

    /// Ends the input of a process that has read nothing for as long as that may take.
    ///
    /// - Parameter answer: The time of its last response.
    /// - Returns: That time; nil where it has read something.
    func endIfStalled(since answer: DispatchTime) -> Duration? {
        state.withLock { state in
            // There may be room that was not reported.
            flush(&state)
            guard !state.waiting.isEmpty, !state.isEnding,
                max(state.progress, answer).later(by: state.patience).millisecondsLeft == 0
            else { return nil }
            (state.waiting, state.isEnding) = (OutputQueue(), true)
            return state.patience
        }
    }

    /// Has a set report when there is room.
    func watch(in descriptors: borrowing Epoll, token: UInt64) {
        child.withInput { descriptors.watch($0, token: token, .writing) }
    }
}
