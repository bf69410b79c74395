/// The server end of a JSON-RPC 2.0 connection, one message a line: the received bytes, the open requests,
/// their replies, and the bytes to send.
///
/// It makes no system call and reads no clock, so that it can serve sockets and pipes, and be tested with
/// every way of splitting a stream into pieces. Its driver respects ``wantsInput``: that keeps the memory of
/// the session within the limits, however much the other end sends and however little it reads. The memory of calls in
/// flight is limited by ``InFlightBudget``.
struct RPCSession {
    /// The limits of one session.
    struct Limits: Hashable, Sendable {
        /// The bytes of a line.
        var line = 1 << 20
        /// The number of calls and notifications that are not done; beyond that, lines wait.
        ///
        /// Also the largest number of messages in a batch.
        var calls = 1024
        /// The number of bytes waiting to be sent from which on lines wait, and followed events too.
        var outputMark = 1 << 18
        /// The number of bytes waiting to be sent at which the other end counts as one that does not read.
        ///
        /// All responses to one batch may have half of it.
        var output = 16 << 20
    }

    /// The place of a response in the session.
    struct Ticket: Hashable, Sendable {
        /// The id; nil for a notification, which has no response.
        let id: RPCID?
        /// The batch that it belongs to.
        fileprivate let batch: Int?
        /// The bytes of memory of its parameters; in a batch, its share.
        let footprint: Int

        /// Whether its response is a line of its own.
        var isAlone: Bool { id != nil && batch == nil }
    }

    fileprivate struct Batch {
        var open: Int
        var answers: [UInt8]
    }

    private enum Phase {
        case open
        /// The other end sends nothing more; its requests still receive responses.
        case inputEnded
        /// The input is not usable any more, as was reported; earlier requests still receive responses.
        case closing
    }

    let limits: Limits
    private(set) var output = OutputQueue()
    /// The number of calls and notifications that are not done.
    private(set) var openCalls = 0
    /// The end of the last response within all bytes that were ever queued; followed events stand after it.
    private(set) var answersEnd = 0
    /// The number of lines that were taken.
    private(set) var lines = 0
    /// The bytes of these lines.
    private(set) var bytes = 0
    /// Whether there may be lines that were not taken, since there was no room.
    private(set) var hasLinesWaiting = false
    private var input: LineBuffer
    private var phase = Phase.open
    private var batches: [Int: Batch] = [:]
    private var lastBatch = 0

    /// - Parameter limits: The limits of the session.
    init(limits: Limits = Limits()) {
        self.limits = limits
        input = LineBuffer(limit: limits.line)
    }

    // MARK: Input

    /// Whether another line may be taken: there is room for its request, and for the response.
    private var hasRoom: Bool {
        openCalls < limits.calls && output.count < limits.outputMark
    }

    /// Whether lines can be taken for which there was no room when lines were taken last.
    var canTakeWaitingLines: Bool { hasLinesWaiting && hasRoom }

    /// Whether the session ends after the responses to the requests that it has.
    var isEnding: Bool { phase != .open }

    /// Whether more bytes should be read.
    ///
    /// False while a line was read that could not be taken yet.
    var wantsInput: Bool { phase == .open && hasRoom }

    /// Whether a line has begun and is not complete.
    var isInsideLine: Bool { phase == .open && hasRoom && input.isInsideLine }

    /// Whether every request has its response, every response was sent, and no more input will arrive.
    var isOver: Bool {
        switch phase {
        case .open: false
        case .inputEnded, .closing: isInputDone && openCalls == 0 && output.isEmpty
        }
    }

    /// Whether the input has ended and all of it was taken, or it is no longer read.
    var isInputDone: Bool { phase != .open && !input.isInsideLine }

    /// Adds bytes that have arrived.
    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        if phase == .open { input.append(bytes) }
    }

    /// Notes that no more bytes will arrive.
    mutating func endInput() {
        if phase == .open { phase = .inputEnded }
    }

    /// Closes the session, with an error as the last message.
    mutating func refuse(_ error: RPCError) {
        guard phase != .closing else { return }
        phase = .closing
        input.clear()
        queue(error, id: .null)
    }

    /// Takes up to `count` lines, and passes their requests on.
    ///
    /// - Parameters:
    ///   - count: The maximum number, so that other connections have their turn.
    ///   - limit: The number of bytes after which no further line is taken.
    ///   - hasRoomElsewhere: Returns whether the code that handles requests has room for more; called before
    ///     each line.
    ///   - handle: Receives each request, in order, with a ticket for ``answer(_:with:)``, which must be
    ///     called once, at any time after this returns.
    /// - Returns: Whether there may be more to take at once.
    mutating func takeLines(
        upTo count: Int, bytes limit: Int = .max, while hasRoomElsewhere: () -> Bool = { true },
        _ handle: (RPCRequest, Ticket) -> Void
    ) -> Bool {
        let start = bytes
        hasLinesWaiting = false
        for _ in 0..<count where bytes - start < limit {
            guard phase != .closing else { return false }
            guard hasRoom, hasRoomElsewhere() else {
                hasLinesWaiting = true
                return false
            }
            switch input.next() {
            case .line(let line): take(line, handle)
            case .tooLong:
                refuse(.invalidRequest("a line has more than \(limits.line) bytes"))
                return false
            case .nothing:
                // The last line needs no newline.
                guard phase == .inputEnded, input.isInsideLine else { return false }
                take(input.rest(), handle)
                return false
            }
        }
        return true
    }

    private mutating func take(_ line: [UInt8], _ handle: (RPCRequest, Ticket) -> Void) {
        lines += 1
        bytes += line.count
        // An empty line is sent by the Return key in a terminal.
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        switch RPCFrame(line) {
        case .single(let message):
            switch message {
            case .request(let request, let id):
                openCalls += 1
                let footprint = request.parameters?.allocated ?? 0
                handle(request, Ticket(id: id, batch: nil, footprint: footprint))
            case .invalid(let error, let id): queue(error, id: id)
            // A response without a request: responding to it would never end.
            case .response: break
            }
        case .batch(let messages): take(messages, handle)
        }
    }

    private mutating func take(
        _ messages: [RPCMessage], _ handle: (RPCRequest, Ticket) -> Void
    ) {
        guard messages.count <= limits.calls else {
            let error = RPCError(
                .tooMany, "too many messages in a batch",
                detail: "\(messages.count); at most \(limits.calls), send them in parts")
            return queue(error, id: .null)
        }
        lastBatch += 1
        var batch = Batch(open: 0, answers: [])
        for message in messages {
            switch message {
            case .request: batch.open += 1
            case .invalid(let error, let id):
                var json = JSONWriter()
                json.rpcError(error, id: id)
                batch.append(json.bytes)
            case .response: break
            }
        }
        openCalls += batch.open
        if batch.open > 0 { batches[lastBatch] = batch } else { queue(batch) }
        for case .request(let request, let id) in messages {
            // The requests of a batch share one text.
            let footprint = (request.parameters?.allocated ?? 0) / batch.open
            handle(request, Ticket(id: id, batch: lastBatch, footprint: footprint))
        }
    }

    // MARK: Output

    /// Queues a response; that to a notification is only counted.
    ///
    /// The responses to a batch are sent together: where they would be too long, an error takes the place of this one.
    ///
    /// - Parameters:
    ///   - ticket: The ticket of the request, which is valid for one response.
    ///   - response: The response, without a newline.
    mutating func answer(_ ticket: Ticket, with response: [UInt8]) {
        openCalls -= 1
        guard let number = ticket.batch else {
            if ticket.id != nil { queueAnswer(response) }
            return
        }
        batches[number]?.open -= 1
        if let id = ticket.id, let answers = batches[number]?.answers {
            let isTooLong = answers.count + response.count > limits.output / 2
            batches[number]?.append(isTooLong ? Self.tooLong(id: id) : response)
        }
        guard let batch = batches[number], batch.open == 0 else { return }
        batches[number] = nil
        queue(batch)
    }

    private static func tooLong(id: RPCID) -> [UInt8] {
        var json = JSONWriter()
        let error = RPCError(
            .tooMany, "the responses of the batch are too long",
            detail:
                "this call was made, and its response is left out; send fewer messages in a batch")
        json.rpcError(error, id: id)
        return json.bytes
    }

    /// Notes that the response to a request was sent past ``output``.
    mutating func noteAnswer() { openCalls -= 1 }

    /// Queues a notification, given without its newline.
    mutating func notify(_ notification: [UInt8]) {
        if phase != .closing { output.appendLine(notification) }
    }

    /// Notes that this many bytes of ``output`` were sent.
    mutating func sent(_ count: Int) { output.removeFirst(count) }

    private mutating func queue(_ error: RPCError, id: RPCID) {
        var json = JSONWriter()
        json.rpcError(error, id: id)
        queueAnswer(json.bytes)
    }

    private mutating func queue(_ batch: Batch) {
        // A batch of notifications has no response, not even an empty array.
        if !batch.answers.isEmpty { queueAnswer(batch.answers + [UInt8(ascii: "]")]) }
    }

    private mutating func queueAnswer(_ line: [UInt8]) {
        output.appendLine(line)
        answersEnd = output.totalQueued
    }
}

extension RPCSession.Batch {
    fileprivate mutating func append(_ answer: [UInt8]) {
        answers.append(answers.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        answers += answer
    }
}
