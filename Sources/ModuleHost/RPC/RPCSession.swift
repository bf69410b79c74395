/// The answering end of a conversation in JSON-RPC 2.0, one message a line: what came in, what was
/// asked, what is owed, what waits to go out.
///
/// It makes no system call and knows no time, so that it can serve sockets and pipes, and be tested
/// with every way of cutting a stream into pieces. Its driver keeps to ``wantsInput``: that is
/// what holds memory within the limits, however much the other end sends and however little it reads.
struct RPCSession {
    /// The limits of one session.
    struct Limits: Hashable, Sendable {
        /// Bytes of a line.
        var line = 1 << 20
        /// Calls and notifications that are not done; beyond that, lines wait.
        ///
        /// Also how many messages a batch may have.
        var calls = 1024
        /// Bytes that wait to be sent at which lines wait, and followed events too.
        var outputMark = 1 << 18
        /// Bytes that wait to be sent at which the other end counts as one that reads nothing.
        var output = 16 << 20
    }

    /// The place of an answer in the session.
    struct Ticket: Hashable, Sendable {
        /// Nil for a notification: its answer is only the end of it.
        let id: RPCID?
        /// The batch that it belongs to.
        fileprivate let batch: Int?
        /// The bytes of memory of its parameters; of those of a batch, its share.
        let footprint: Int
    }

    fileprivate struct Batch {
        var open: Int
        var answers: [UInt8]
    }

    private enum Phase {
        case open
        /// The other end sends nothing more; what it asked is still answered.
        case inputEnded
        /// It cannot be understood any more, as it was reported; what it asked before is answered.
        case closing
    }

    let limits: Limits
    private(set) var output = OutputQueue()
    /// The number of calls and notifications that are not done.
    private(set) var openCalls = 0
    /// The end of the last answer in everything that was ever queued; followed events come after it.
    private(set) var answersEnd = 0
    /// The number of lines that were taken.
    private(set) var lines = 0
    /// The bytes of these lines.
    private(set) var bytes = 0
    private let hasRoomElsewhere: () -> Bool
    private var input: LineBuffer
    private var phase = Phase.open
    private var batches: [Int: Batch] = [:]
    private var lastBatch = 0

    /// - Parameters:
    ///   - limits: How much it may take.
    ///   - hasRoomElsewhere: Whether those who carry out what is asked have room for more; asked before each line.
    init(limits: Limits = Limits(), hasRoomElsewhere: @escaping () -> Bool = { true }) {
        self.limits = limits
        self.hasRoomElsewhere = hasRoomElsewhere
        input = LineBuffer(limit: limits.line)
    }

    // MARK: Input

    /// Whether another line may be taken: there is room for what it asks, and for the answer.
    private var hasRoom: Bool {
        openCalls < limits.calls && output.count < limits.outputMark && hasRoomElsewhere()
    }

    /// Whether more bytes should be read.
    ///
    /// Not while a line waits that was read and could not be taken yet.
    var wantsInput: Bool { phase == .open && hasRoom }

    /// Whether a line has begun and not ended.
    var isInsideLine: Bool { phase == .open && hasRoom && input.isInsideLine }

    /// Whether everything asked was answered, and everything answered sent, and no more will come.
    var isOver: Bool {
        switch phase {
        case .open: false
        case .inputEnded, .closing: isInputDone && openCalls == 0 && output.isEmpty
        }
    }

    /// Whether the input has ended and all of it was taken, or it is not looked at any more.
    var isInputDone: Bool { phase != .open && !input.isInsideLine }

    /// Takes bytes that have arrived.
    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        if phase == .open { input.append(bytes) }
    }

    /// Takes the news that no more bytes will arrive.
    mutating func endInput() {
        if phase == .open { phase = .inputEnded }
    }

    /// Gives up on the other end, with a last word.
    mutating func refuse(_ error: RPCError) {
        guard phase != .closing else { return }
        phase = .closing
        input.clear()
        queue(error, id: .null)
    }

    /// Takes up to `count` lines, and hands on what they ask for.
    ///
    /// - Parameters:
    ///   - count: How many, so that others have their turn.
    ///   - limit: After how many bytes no further line is taken.
    ///   - handle: Is given each request, in order, with a ticket for ``answer(_:with:)``, which is
    ///     owed once, at any time after this returns.
    /// - Returns: Whether there may be more to take at once.
    mutating func takeLines(
        upTo count: Int, bytes limit: Int = .max, _ handle: (RPCRequest, Ticket) -> Void
    ) -> Bool {
        let start = bytes
        for _ in 0..<count where bytes - start < limit {
            guard phase != .closing, hasRoom else { return false }
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
        // An empty line is what a person's Return key sends.
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        switch RPCFrame(line) {
        case .single(let message):
            switch message {
            case .request(let request, let id):
                openCalls += 1
                let footprint = request.parameters?.allocated ?? 0
                handle(request, Ticket(id: id, batch: nil, footprint: footprint))
            case .invalid(let error, let id): queue(error, id: id)
            // An answer to nothing: to answer that would never end.
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
            // They share one text.
            let footprint = (request.parameters?.allocated ?? 0) / batch.open
            handle(request, Ticket(id: id, batch: lastBatch, footprint: footprint))
        }
    }

    // MARK: Output

    /// Queues an answer; that to a notification is only noted.
    ///
    /// - Parameters:
    ///   - ticket: What the request was handed on with; each is good for one answer.
    ///   - response: The response, without a newline.
    mutating func answer(_ ticket: Ticket, with response: [UInt8]) {
        openCalls -= 1
        guard let number = ticket.batch else {
            if ticket.id != nil { queueAnswer(response) }
            return
        }
        batches[number]?.open -= 1
        if ticket.id != nil { batches[number]?.append(response) }
        guard let batch = batches[number], batch.open == 0 else { return }
        batches[number] = nil
        queue(batch)
    }

    /// Queues a notification, given without its newline.
    mutating func notify(_ notification: [UInt8]) {
        if phase != .closing { output.appendLine(notification) }
    }

    /// Notes that this many bytes of ``output`` went out.
    mutating func sent(_ count: Int) { output.removeFirst(count) }

    private mutating func queue(_ error: RPCError, id: RPCID) {
        var json = JSONWriter()
        json.rpcError(error, id: id)
        queueAnswer(json.bytes)
    }

    private mutating func queue(_ batch: Batch) {
        // Nothing is said to a batch of notifications, not even an empty array.
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
