import AppService
import Dispatch
import Synchronization

/// The connection of a module's process to its host: requests go both ways.
///
/// The lane's thread reads the input: while it has nothing to do, and while it waits for a response. One
/// thread at a time sends requests and responses: the one that is in the module.
final class ParentConnection: Sendable {
    let queue: MessageQueue
    /// Whether the host has announced that this process is to end: the end of its input has no other meaning
    /// then.
    let isEnding = Atomic(false)
    private let streams: StandardStreams
    /// Locked while a line is written.
    private let writing = Guarded(())
    private let lastNumber = Atomic(0)
    private let input = Guarded(Input())
    private let wake: WakeSignal

    private struct Input {
        var lines = LineBuffer(limit: 64 << 20)
        var chunk = [UInt8](readingUpTo: 1 << 16)
        var isOver = false
    }

    /// - Parameters:
    ///   - streams: The streams to the host.
    ///   - announce: Called when there is a message to take, and no thread is about to.
    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init(
        over streams: consuming StandardStreams, announce: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        self.streams = streams
        wake = try WakeSignal()
        // The host sends one message at a time.
        queue = MessageQueue(MessageQueue.Limits(), announce: announce, resume: {})
    }

    // MARK: Messages of the host

    /// Waits for the first line; nil where there is none.
    ///
    /// Before the lane runs.
    func firstLine() -> [UInt8]? {
        while true {
            let line = input.withLock { input -> LineBuffer.Next in
                _ = readSome(&input)
                return input.lines.next()
            }
            if case .line(let line) = line { return line }
            guard waitForInput() else { return nil }
        }
    }

    /// Waits for the end of the input, and moves all of it to the queue.
    ///
    /// On a thread of its own: the lane's may be busy.
    func waitForEnd() {
        repeat {
            // The wait is for the end alone.
            RawOutput.wait(until: 0, on: streams.inputNumber, milliseconds: -1)
        } while takeInput()
    }

    /// - Returns: False at the end of the input.
    private func waitForInput() -> Bool {
        guard input.withLock({ !$0.isOver }) else { return false }
        var set = PollSet()
        set.insert(streams.inputNumber, .reading)
        set.wait()
        return true
    }

    /// Moves the available input to the queue.
    ///
    /// - Returns: False at the end of the input.
    @discardableResult
    private func takeInput() -> Bool {
        input.withLock { input in
            let isMore = readSome(&input)
            while case .line(let line) = input.lines.next() { receive(line) }
            return isMore
        }
    }

    private func readSome(_ input: inout Input) -> Bool {
        switch streams.read(into: &input.chunk) {
        case .bytes(let count): input.lines.append(input.chunk[..<count])
        case .nothing: break
        case .end: input.isOver = true
        }
        return !input.isOver
    }

    private func receive(_ line: [UInt8]) {
        switch RPCFrame(fromModuleHost: line) {
        case .single(.request(let request, let id)):
            if request.method == "shutdown" { isEnding.store(true, ordering: .relaxed) }
            _ = queue.add(.request(request, id: id), bytes: line.count)
        case .single(.response(let response)):
            guard let number = Int(response.id.text) else { return }
            _ = queue.add(.answer(number, response.result), bytes: line.count)
        // A host does not send such messages.
        case .single(.invalid), .batch: break
        }
    }

    // MARK: Messages to the host

    /// Sends a request to the host, and waits for the response; handles its requests meanwhile.
    func ask(
        _ method: String, serving serve: (RPCRequest, RPCID?) -> Void,
        _ parameters: (inout JSONWriter) -> Void
    ) throws(RPCError) -> JSONValue {
        let number = nextNumber()
        queue.beginExchange(number)
        defer { queue.endExchange() }
        request(method, number, parameters)
        while true {
            switch queue.next(until: nil) {
            case .message(.answer(number, let result)): return try result.get()
            case .message(.answer), .end: continue
            case .message(.request(let request, let id)): serve(request, id)
            case .nothing:
                guard waitForInput() else { throw RPCError(.notRunning, "the host is gone") }
                takeInput()
            }
        }
    }

    /// Sends a request to the host, whose response no thread waits for.
    ///
    /// - Parameter recipient: Called once with the response, on any thread.
    /// - Throws: An error where too many requests have no response yet.
    func ask(
        _ method: String, for recipient: @escaping @Sendable (Result<JSONValue, RPCError>) -> Void,
        _ parameters: (inout JSONWriter) -> Void
    ) throws(RPCError) {
        let number = nextNumber()
        let isAllowed = queue.expect(number) { response in
            // Without its host this process ends.
            if case .success(let result) = response { recipient(result) }
        }
        guard isAllowed else { throw RPCError(.tooMany, "too many calls wait for an answer") }
        request(method, number, parameters)
    }

    private func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    private func request(
        _ method: String, _ number: Int, _ parameters: (inout JSONWriter) -> Void
    ) {
        var json = JSONWriter(capacity: 256)
        json.rpcRequest(method, id: RPCID(number), parameters)
        write(json.bytes)
    }

    /// Sends a notification to the host, from any thread.
    func notify(_ method: String, _ parameters: (inout JSONWriter) -> Void) {
        var json = JSONWriter(capacity: 256)
        json.rpcRequest(method, id: nil, parameters)
        write(json.bytes)
    }

    func succeed(_ id: RPCID?, _ result: (inout JSONWriter) -> Void) {
        guard let id else { return }
        var json = JSONWriter(capacity: 128)
        json.rpcResult(id: id, result)
        write(json.bytes)
    }

    func fail(_ id: RPCID?, _ error: RPCError) {
        guard let id else { return }
        var json = JSONWriter(capacity: 128)
        json.rpcError(error, id: id)
        write(json.bytes)
    }

    /// Writes a line.
    ///
    /// A host that no longer reads has died: nothing reads from this process any more.
    private func write(_ line: [UInt8]) {
        writing.withLock { _ in
            do throws(SystemError) {
                try streams.writeAll(line + [UInt8(ascii: "\n")])
            } catch {
                CurrentProcess.exitNow(0)
            }
        }
    }
}

extension ParentConnection: LaneInput {
    func wait() -> Bool {
        var set = PollSet()
        let wakePlace = set.insert(wake.descriptor, .reading)
        let isOver = input.withLock(\.isOver)
        let inputPlace = isOver ? nil : set.insert(streams.inputNumber, .reading)
        set.wait()
        if set.isReady(wakePlace) { wake.take() }
        return inputPlace.map(set.isReady) ?? false
    }

    func rouse() { wake.give() }

    func take() { takeInput() }
}
