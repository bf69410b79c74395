import AppService
import Dispatch

/// The messages of a module's process that were not taken yet, in order.
///
/// One thread reads the process and adds; one at a time takes: the one that is in the module. A process that
/// says more than is taken is read no further.
final class MessageQueue: Sendable {
    /// The limits of what may wait.
    struct Limits: Hashable, Sendable {
        var messages = 1024
        var bytes = 1 << 20
    }

    /// One thing that the process said.
    enum Message: Sendable {
        case request(RPCRequest, id: RPCID?)
        /// The answer to one of ours.
        case answer(Int, Result<JSONValue, RPCError>)
    }

    /// The next element for the taker.
    enum Next: Sendable {
        case message(Message)
        /// The process has ended, and all that it said was taken.
        case end(ProcessExit)
        /// Nothing came in time.
        case nothing
    }

    fileprivate struct State {
        var messages = Deque<(message: Message, bytes: Int)>()
        var bytes = 0
        /// The numbers of our requests that have no answer yet.
        var unanswered: Set<Int> = []
        /// The number of nested exchanges under way: they take what comes.
        var exchanges = 0
        /// Whether a thread sleeps until something comes.
        var isAwaited = false
        /// Whether it was announced that there is something.
        var isAnnounced = false
        /// Whether the process is not read, since too much waits.
        var isFull = false
        var end: ProcessExit?

        var isEmpty: Bool { messages.isEmpty }
    }

    private let limits: Limits
    private let state = Guarded(State())
    private let arrival = DispatchSemaphore(value: 0)
    /// Called when there is something to take and no thread is about to; not again before it was taken.
    private let announce: @Sendable () -> Void
    /// Told that there is room again.
    private let resume: @Sendable () -> Void

    /// - Parameters:
    ///   - limits: How much may wait.
    ///   - announce: Called, on any thread, when there is something to take and no thread is about to. Not again
    ///     before all of it was taken.
    ///   - resume: Told that there is room again, where ``isFull`` said that there is none.
    init(
        _ limits: Limits, announce: @escaping @Sendable () -> Void,
        resume: @escaping @Sendable () -> Void
    ) {
        self.limits = limits
        self.announce = announce
        self.resume = resume
    }

    // MARK: The thread that reads

    /// Whether nothing more is to be read for now; ``resume`` is called when that is over.
    var isFull: Bool { state.withLock { $0.isFull } }

    /// Adds a message.
    ///
    /// - Parameters:
    ///   - message: What the process said.
    ///   - bytes: How long it is.
    /// - Returns: Whether it may be; false if that answer was not asked for.
    func add(_ message: Message, bytes: Int) -> Bool {
        add { state in
            if case .answer(let number, _) = message {
                guard state.unanswered.remove(number) != nil else { return false }
            }
            state.messages.append((message, bytes))
            state.bytes += bytes
            // Full stays full until there is room: the reader learns of that, and of nothing less.
            state.isFull =
                state.isFull || state.messages.count >= limits.messages
                || state.bytes >= limits.bytes
            return true
        }
    }

    /// Notes that nothing more will come.
    func end(_ end: ProcessExit) {
        _ = add { state in
            state.end = end
            return true
        }
    }

    private func add(_ change: (inout State) -> Bool) -> Bool {
        let (isAllowed, isAwaited, isNews) = state.withLock { state -> (Bool, Bool, Bool) in
            guard change(&state) else { return (false, false, false) }
            let isAwaited = state.isAwaited
            state.isAwaited = false
            return (true, isAwaited, state.isToBeAnnounced())
        }
        if isAwaited { arrival.signal() }
        if isNews { announce() }
        return isAllowed
    }

    // MARK: Who takes

    /// Notes that an exchange begins with a request of this number: until it ends its thread takes what
    /// comes.
    func beginExchange(_ number: Int) {
        state.withLock { state in
            state.exchanges += 1
            state.unanswered.insert(number)
        }
    }

    /// Notes that the innermost exchange is over, with an answer or without.
    func endExchange() {
        let isNews = state.withLock { state in
            state.exchanges -= 1
            return state.isToBeAnnounced()
        }
        if isNews { announce() }
    }

    /// Takes the next message.
    ///
    /// - Parameter deadline: How long to wait for one; nil not to wait.
    /// - Returns: The message; nothing where none came in time.
    func next(until deadline: DispatchTime?) -> Next {
        while true {
            let (next, resumes) = state.withLock { state -> (Next?, Bool) in
                if let message = state.takeFirst() {
                    let resumes = state.isFull && state.hasRoom(within: limits)
                    if resumes { state.isFull = false }
                    return (.message(message), resumes)
                }
                state.isAnnounced = false
                if let end = state.end { return (.end(end), false) }
                state.isAwaited = deadline != nil
                return (nil, false)
            }
            if resumes { resume() }
            if let next { return next }
            guard let deadline else { return .nothing }
            if arrival.wait(timeout: deadline) == .success { continue }
            let hasCome = state.withLock { state in
                defer { state.isAwaited = false }
                return !state.isAwaited
            }
            guard hasCome else { return .nothing }
            // It came in this very moment.
            arrival.wait()
        }
    }
}

extension MessageQueue.State {
    fileprivate mutating func takeFirst() -> MessageQueue.Message? {
        guard let (message, count) = messages.popFirst() else { return nil }
        bytes -= count
        return message
    }

    /// Below half: not to be read for one message at a time.
    fileprivate func hasRoom(within limits: MessageQueue.Limits) -> Bool {
        messages.count <= limits.messages / 2 && bytes <= limits.bytes / 2
    }

    fileprivate mutating func isToBeAnnounced() -> Bool {
        guard exchanges == 0, !isAnnounced, !isEmpty || end != nil else { return false }
        isAnnounced = true
        return true
    }
}
