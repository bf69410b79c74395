import AppService
import Dispatch
import Synchronization

/// What a module's process has to its host: requests go up, and come down.
///
/// The thread that reads adds what comes to ``queue``. One thread at a time asks and answers: whoever is
/// in the module.
final class Uplink: Sendable {
    let queue: MessageQueue
    /// Whether the host has said that this process is to end: the end of its input means no more then.
    let isEnding = Atomic(false)
    private let streams: StandardStreams
    /// Held while a line is written.
    private let writing = Guarded(())
    private let lastNumber = Atomic(0)
    private let lines: Guarded<ChildLines>

    /// - Parameters:
    ///   - streams: What leads to the host.
    ///   - announce: Told that there is something to take, and nobody is about to.
    init(
        over streams: consuming StandardStreams, announce: @escaping @Sendable () -> Void
    ) {
        self.streams = streams
        lines = Guarded(ChildLines())
        // The host sends one thing at a time.
        queue = MessageQueue(MessageQueue.Limits(), announce: announce, resume: {})
    }

    /// Waits for a line to come down; nil at the end.
    ///
    /// On one thread.
    func nextLine() -> [UInt8]? {
        lines.withLock { lines in
            while true {
                if case .line(let line) = lines.buffer.next() { return line }
                let count = streams.read(into: &lines.chunk)
                guard count > 0 else { return nil }
                lines.buffer.append(lines.chunk[..<count])
            }
        }
    }

    /// Takes a line that came down.
    func receive(_ line: [UInt8]) {
        switch RPCFrame(line) {
        case .single(.request(let request, let id)):
            if request.method == "shutdown" { isEnding.store(true, ordering: .relaxed) }
            _ = queue.add(.request(request, id: id), bytes: line.count)
        case .single(.response(let response)):
            guard let number = Int(response.id.text) else { return }
            _ = queue.add(.answer(number, response.result), bytes: line.count)
        // The host does not do such things.
        case .single(.invalid), .batch: break
        }
    }

    /// Asks the host, and waits for the answer; serves its requests meanwhile.
    func ask(
        _ method: String, serving serve: (RPCRequest, RPCID?) -> Void,
        _ parameters: (inout JSONWriter) -> Void
    ) throws(RPCError) -> JSONValue {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        var json = JSONWriter(capacity: 256)
        json.rpcRequest(method, id: RPCID(number), parameters)
        queue.beginExchange(number)
        defer { queue.endExchange() }
        write(json.bytes)
        while true {
            switch queue.next(until: .distantFuture) {
            case .message(.answer(number, let result)): return try result.get()
            case .message(.answer), .nothing, .end: continue
            case .message(.request(let request, let id)): serve(request, id)
            }
        }
    }

    /// Tells the host something, from any thread.
    func tell(_ method: String, _ parameters: (inout JSONWriter) -> Void) {
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

    /// A host that reads no more is none: nobody hears of this process any more.
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

/// Lines that come down in pieces; the host keeps to its limits.
private struct ChildLines: Sendable {
    var buffer = LineBuffer(limit: 64 << 20)
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
}
