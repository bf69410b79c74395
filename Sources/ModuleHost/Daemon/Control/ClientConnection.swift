import AppService

/// A connection to a host, whose thread sends calls and takes responses and notifications.
///
/// Any number of calls may be outstanding, up to a limit; responses come in any order.
package final class ClientConnection: Sendable {
    /// The limits of what a connection keeps.
    enum Limits {
        /// The length of a line: a response may be a long document.
        static let line = JSONDocument.sizeLimit
        /// The number of calls that are not answered: as many as a host reads.
        static let calls = 1024
        /// The bytes of calls that are not sent, beside as many that are being sent.
        static let unsent = 16 << 20
        /// The number of notifications that are not taken; the connection is not read further meanwhile.
        static let notifications = 256
    }

    typealias Response = Completion<JSONValue, HostClientError>
    /// The number of a call on this connection.
    package typealias CallID = Int
    private typealias Waiter = @Sendable (RPCRequest?) -> Void

    private struct State {
        var lastID = 0
        /// The calls that are not answered, by their ids.
        var calls: [CallID: Response] = [:]
        var unsent: [UInt8] = []
        var notifications = Deque<RPCRequest>()
        var waiters = Deque<Waiter>()
        /// Called at the end of the connection.
        var endings: [@Sendable () -> Void] = []
        /// Whether the owner has released the connection.
        var isClosing = false
        /// The error without an id that came last, as from a host that turns the connection away, maybe
        /// before the first call; nil once another response has come.
        var refusal: HostClientError?
        /// The reason why the connection has ended; nil while it is open.
        var end: HostClientError?
    }

    private let directory: StateDirectory
    private let socket: Descriptor
    private let bell: Doorbell
    private let state = Guarded(State())

    /// Starts the thread of a connection.
    init(
        _ socket: consuming Descriptor, to directory: StateDirectory
    ) throws(SystemError) {
        self.directory = directory
        self.socket = socket
        bell = try Doorbell()
        try NativeThread.start(name: "host-client", stackSize: 512 << 10) { [self] in run() }
    }

    /// The listening process, where the system reports it.
    var hostProcessID: Int32? { (try? socket.peer())?.processID }

    // MARK: From any thread

    /// Returns the number of the next call.
    package func nextID() -> CallID {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Calls a method.
    ///
    /// - Parameters:
    ///   - method: The method's name.
    ///   - id: The number of the call, from ``nextID()``.
    ///   - time: The longest wait; nil for no limit.
    ///   - parameters: Writes an array or an object.
    ///   - completion: Called once, on any thread.
    package func call(
        _ method: String, as id: CallID, within time: Duration?,
        _ parameters: (inout JSONWriter) -> Void,
        completion: @escaping @Sendable (Result<JSONValue, HostClientError>) -> Void
    ) {
        let response = Response(orAbandoned: .ended(directory), completion)
        var json = JSONWriter()
        json.rpcRequest(method, id: RPCID(id), parameters)
        json.newline()
        let line = json.bytes
        let failure = state.withLock { state -> HostClientError? in
            if let end = state.end { return end }
            guard state.calls.count < Limits.calls,
                state.unsent.isEmpty || state.unsent.count + line.count <= Limits.unsent
            else { return .tooManyCalls(directory) }
            state.calls[id] = response
            state.unsent += line
            return nil
        }
        if let failure { return response.finish(.failure(failure)) }
        if let time {
            let error = HostClientError.noResponse(directory, to: method, within: time)
            response.set(
                SystemTimeSource.shared.schedule(after: time) { [weak self] in
                    self?.cancel(id, because: error)
                })
        }
        bell.ring()
    }

    /// Ends the wait for a response, and notifies the host of that.
    ///
    /// Has no effect on a call that has its response, or was not made.
    func cancel(_ id: CallID, because error: HostClientError) {
        let response = state.withLock { state -> Response? in
            guard let response = state.calls.removeValue(forKey: id) else { return nil }
            state.unsent += Self.cancellation(of: id)
            return response
        }
        guard let response else { return }
        bell.ring()
        response.finish(.failure(error))
    }

    /// Requests the end of a call from the host, whose response is still awaited.
    package func requestEnd(of id: CallID) {
        state.withLock { state in
            if state.calls[id] != nil { state.unsent += Self.cancellation(of: id) }
        }
        bell.ring()
    }

    private static func cancellation(of id: CallID) -> [UInt8] {
        var json = JSONWriter()
        json.rpcRequest("cancel", id: nil) { $0.object { $0.member("id", id) } }
        json.newline()
        return json.bytes
    }

    /// Passes the next notification to a closure, or nil at the end of the connection.
    func takeNotification(_ body: @escaping @Sendable (RPCRequest?) -> Void) {
        let (found, isOver) = state.withLock { state -> (RPCRequest?, Bool) in
            if let next = state.notifications.popFirst() { return (next, false) }
            if state.end == nil { state.waiters.append(body) }
            return (nil, state.end != nil)
        }
        guard found != nil || isOver else { return }
        // There may be room to read again.
        bell.ring()
        body(found)
    }

    /// Calls a closure at the end of the connection, on any thread.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.end == nil { state.endings.append(body) }
            return state.end != nil
        }
        if isOver { body() }
    }

    /// Ends the connection.
    func close() {
        state.withLock { $0.isClosing = true }
        bell.ring()
    }

    // MARK: The thread

    private func run() {
        var input = LineBuffer(limit: Limits.line)
        var buffer = [UInt8](readingUpTo: 1 << 16)
        var unsent: ArraySlice<UInt8> = []
        while true {
            let (isClosing, isFull) = state.withLock { state in
                // Not before the last ones are sent: calls that a host does not read count up to the limit.
                if unsent.isEmpty {
                    unsent = state.unsent[...]
                    state.unsent = []
                }
                return (state.isClosing, state.notifications.count >= Limits.notifications)
            }
            if isClosing { return end(.ended(directory)) }
            if !unsent.isEmpty {
                // What a host has sent before it closed the connection can still be read.
                unsent = unsent.dropFirst((try? socket.send(unsent)) ?? unsent.count)
                // What came meanwhile has rung the bell already.
                if unsent.isEmpty, state.withLock({ !$0.unsent.isEmpty }) { continue }
            }
            if !isFull, let end = read(&input, &buffer) { return self.end(end) }
            sleep(isFull: isFull, isSending: !unsent.isEmpty)
        }
    }

    private func sleep(isFull: Bool, isSending: Bool) {
        var poll = PollSet()
        let bellPlace = poll.insert(bell.descriptor, .reading)
        var interest: PollSet.Interest = isFull ? [] : .reading
        if isSending { interest.insert(.writing) }
        if !isFull || isSending { poll.insert(socket.number, interest) }
        if bell.fallAsleep() { poll.wait() } else { poll.wait(milliseconds: 0) }
        bell.wakeUp(signalled: poll.isReady(bellPlace))
    }

    /// Reads what is there.
    ///
    /// - Returns: The reason of the end; nil while the connection is open.
    private func read(_ input: inout LineBuffer, _ buffer: inout [UInt8]) -> HostClientError? {
        while true {
            // The host, and not this end, drops what is read too slowly.
            if state.withLock({ $0.notifications.count >= Limits.notifications }) { return nil }
            switch input.next() {
            case .line(let line):
                if let end = take(line) { return end }
                continue
            case .tooLong: return .malformed(directory)
            case .nothing: break
            }
            switch socket.receive(into: &buffer) {
            case .bytes(let count): input.append(buffer[..<count])
            case .nothing: return nil
            case .end: return state.withLock { $0.refusal } ?? .ended(directory)
            }
        }
    }

    private func take(_ line: [UInt8]) -> HostClientError? {
        switch RPCFrame(line) {
        case .single(.response(let response)):
            let result = response.result.mapError(HostClientError.refused)
            let call = state.withLock { state in
                guard response.id == .null else {
                    state.refusal = nil
                    return Int(response.id.text).flatMap { state.calls.removeValue(forKey: $0) }
                }
                // The host could not read the call, the first that is not answered, or accepts no connection.
                if case .failure(let error) = result { state.refusal = error }
                return state.calls.keys.min().flatMap { state.calls.removeValue(forKey: $0) }
            }
            // None for a response to a call that is not awaited any more.
            call?.finish(result)
        case .single(.request(let request, id: nil)):
            let waiter = state.withLock { state -> Waiter? in
                if let waiter = state.waiters.popFirst() { return waiter }
                state.notifications.append(request)
                return nil
            }
            waiter?(request)
        case .single, .batch: return .malformed(directory)
        }
        return nil
    }

    private func end(_ error: HostClientError) {
        let (calls, waiters, endings) = state.withLock { state in
            state.end = error
            defer { (state.calls, state.waiters, state.endings) = ([:], Deque(), []) }
            return (state.calls, state.waiters.removeAll(), state.endings)
        }
        for call in calls.values { call.finish(.failure(error)) }
        for waiter in waiters { waiter(nil) }
        for ending in endings { ending() }
        socket.endSending()
    }
}
