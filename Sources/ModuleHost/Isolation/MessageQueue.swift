import AppService
import Dispatch

/// The queue of the messages of a module's process, in order.
///
/// One thread reads the process and adds messages; one thread at a time takes them: the one that is in the
/// module. A process that sends more than is taken is not read any further.
final class MessageQueue: Sendable {
    /// The limits of the waiting messages.
    struct Limits: Hashable, Sendable {
        var messages = 1024
        var bytes = 1 << 20
        /// The number of requests whose responses no thread waits for.
        var requests = 1 << 14
    }

    /// A message of the process.
    enum Message: Sendable {
        case request(RPCRequest, id: RPCID?)
        /// The response to a request of the host.
        case answer(Int, Result<JSONValue, RPCError>)
    }

    /// Receives the response to a request that no thread waits for, or the end of the process.
    ///
    /// On the thread that reads all processes: it must not wait.
    typealias Recipient = @Sendable (Result<Result<JSONValue, RPCError>, ProcessExit>) -> Void

    /// The next element for the taker.
    enum Next: Sendable {
        case message(Message)
        /// The process has ended, and all its messages were taken.
        case end(ProcessExit)
        /// No message arrived in time.
        case nothing
    }

    fileprivate struct State {
        var messages = Deque<(message: Message, bytes: Int)>()
        var bytes = 0
        /// The host's requests that have no response yet, by number; with the recipient of the response
        /// where no thread waits for it.
        var unanswered: [Int: Recipient?] = [:]
        /// The number of those with a recipient.
        var recipients = 0
        /// The number of nested exchanges: they take the messages.
        var exchanges = 0
        /// Whether a thread sleeps until a message arrives.
        var isAwaited = false
        /// Whether waiting messages were announced.
        var isAnnounced = false
        /// Whether the process is not read, since too many messages wait.
        var isFull = false
        var end: ProcessExit?
        /// Whether messages are dropped, since the module takes none any more.
        var isDropping = false
        /// Called when the process has ended.
        var endHandlers: [@Sendable () -> Void] = []

        var isEmpty: Bool { messages.isEmpty }
    }

    private let limits: Limits
    private let state = Guarded(State())
    private let arrival = DispatchSemaphore(value: 0)
    /// Called when there is a message to take and no thread is about to; not again before it was taken.
    private let announce: @Sendable () -> Void
    /// Called when there is room again.
    private let resume: @Sendable () -> Void

    /// - Parameters:
    ///   - limits: The limits of the waiting messages.
    ///   - announce: Called, on any thread, when there is a message to take and no thread is about to. Not
    ///     again before all of them were taken.
    ///   - resume: Called when there is room again, after ``isFull`` was true.
    init(
        _ limits: Limits, announce: @escaping @Sendable () -> Void,
        resume: @escaping @Sendable () -> Void
    ) {
        self.limits = limits
        self.announce = announce
        self.resume = resume
    }

    // MARK: The thread that reads

    /// Whether nothing more is to be read for now; ``resume`` is called when there is room again.
    var isFull: Bool { state.withLock { $0.isFull } }

    /// Adds a message.
    ///
    /// - Returns: Whether it is valid; false for a response without a request.
    func add(_ message: Message, bytes: Int) -> Bool {
        var recipient: Recipient?
        let isValid = add { state in
            if case .answer(let number, _) = message {
                guard let waiting = state.unanswered.removeValue(forKey: number) else {
                    return false
                }
                recipient = waiting
                if waiting != nil {
                    state.recipients -= 1
                    return true
                }
            }
            if state.isDropping { return true }
            state.messages.append((message, bytes))
            state.bytes += bytes
            // The queue stays full until there is enough room: only then the reader is notified.
            state.isFull =
                state.isFull || state.messages.count >= limits.messages
                || state.bytes >= limits.bytes
            return true
        }
        if let recipient, case .answer(_, let result) = message { recipient(.success(result)) }
        return isValid
    }

    /// Notes that no further message will arrive.
    func end(_ end: ProcessExit) {
        var recipients: [Recipient] = []
        var handlers: [@Sendable () -> Void] = []
        _ = add { state in
            state.end = end
            (handlers, state.endHandlers) = (state.endHandlers, [])
            recipients = state.unanswered.values.compactMap(\.self)
            (state.unanswered, state.recipients) = ([:], 0)
            return true
        }
        for recipient in recipients { recipient(.failure(end)) }
        for handle in handlers { handle() }
    }

    /// Whether the process has ended.
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    /// Calls `body` when the process has ended, on any thread; at once if it has.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.end == nil { state.endHandlers.append(body) }
            return state.end != nil
        }
        if hasEnded { body() }
    }

    /// Drops the waiting messages and all further ones: the module takes none any more.
    ///
    /// - Parameter number: The number of a request whose response is valid, and is dropped, too.
    func drop(withAnswerTo number: Int) {
        let wasFull = state.withLock { state in
            state.isDropping = true
            state.unanswered[number] = .some(nil)
            state.messages = Deque()
            defer { (state.bytes, state.isFull) = (0, false) }
            return state.isFull
        }
        if wasFull { resume() }
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

    // MARK: The taking thread

    /// Notes that an exchange begins: until it ends its thread takes the messages.
    ///
    /// - Parameter number: The number of its request; nil for the wait for one that was sent before.
    func beginExchange(_ number: Int? = nil) {
        state.withLock { state in
            state.exchanges += 1
            if let number { state.unanswered[number] = .some(nil) }
        }
    }

    /// Returns whether a request has no response yet.
    func isOpen(_ number: Int) -> Bool { state.withLock { $0.unanswered[number] != nil } }

    /// Whether a thread takes the messages: it waits for a response.
    var isExchanging: Bool { state.withLock { $0.exchanges > 0 } }

    /// Notes that a request of this number is about to be sent, whose response no thread waits for.
    ///
    /// - Parameters:
    ///   - isLimited: Whether it counts as one of those that the process may have.
    ///   - recipient: Called once with the response, or the end of the process, on any thread.
    /// - Returns: False where too many requests have no response yet; ``Limits/requests``.
    func expect(_ number: Int, isLimited: Bool = true, for recipient: @escaping Recipient) -> Bool {
        let (isAllowed, end) = state.withLock { state -> (Bool, ProcessExit?) in
            if let end = state.end { return (true, end) }
            guard !isLimited || state.recipients < limits.requests else { return (false, nil) }
            state.recipients += 1
            state.unanswered[number] = .some(recipient)
            return (true, nil)
        }
        if let end { recipient(.failure(end)) }
        return isAllowed
    }

    /// Notes that the innermost exchange is over, with a response or without.
    func endExchange() {
        let isNews = state.withLock { state in
            state.exchanges -= 1
            return state.isToBeAnnounced()
        }
        if isNews { announce() }
    }

    /// Takes the next message.
    ///
    /// - Parameters:
    ///   - deadline: The end of the wait; nil not to wait.
    ///   - number: A request of which the response ends the wait, too.
    /// - Returns: The message; `nothing` where none arrived in time.
    func next(until deadline: DispatchTime?, unlessAnswered number: Int? = nil) -> Next {
        while true {
            let (next, resumes) = state.withLock { state -> (Next?, Bool) in
                if let message = state.takeFirst() {
                    let resumes = state.isFull && state.hasRoom(within: limits)
                    if resumes { state.isFull = false }
                    return (.message(message), resumes)
                }
                state.isAnnounced = false
                if let end = state.end { return (.end(end), false) }
                if let number, state.unanswered[number] == nil { return (.nothing, false) }
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
            // It arrived at this very moment.
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

    /// Returns whether less than half of the limits is used: reading would otherwise resume for one message
    /// at a time.
    fileprivate func hasRoom(within limits: MessageQueue.Limits) -> Bool {
        messages.count <= limits.messages / 2 && bytes <= limits.bytes / 2
    }

    fileprivate mutating func isToBeAnnounced() -> Bool {
        guard exchanges == 0, !isAnnounced, !isEmpty || end != nil else { return false }
        isAnnounced = true
        return true
    }
}
