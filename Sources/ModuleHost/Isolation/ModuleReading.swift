import AppService

/// What the thread that reads a process does, from the start to the end.
struct ModuleReading {
    let process: ModuleProcess
    let observer: ModuleProcess.Observer
    let time: any TimeSource
    private var lines: LineBuffer
    private var errors: ErrorLines
    private var allowance: OutputAllowance
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var isOutputOpen = true
    private var isErrorOpen = true
    /// Whether what it says is no longer looked at.
    private var isDeaf = false
    private var wasFull = false

    init(
        _ process: ModuleProcess, _ observer: ModuleProcess.Observer, time: any TimeSource
    ) {
        self.process = process
        self.observer = observer
        self.time = time
        lines = LineBuffer(limit: process.limits.line)
        errors = ErrorLines(limit: process.limits.errorLine)
        allowance = OutputAllowance(process.limits.output, at: time.now())
    }

    mutating func run() {
        var closing: ContinuousClock.Instant?
        while !process.hasExited {
            var set = PollSet()
            set.insert(process.wake.descriptor, .reading)
            let isFull = process.queue.isFull
            note(isFull)
            if isOutputOpen, !isFull { set.insert(process.output, .reading) }
            if isErrorOpen { set.insert(process.error, .reading) }
            var patience: Int32 = -1
            if !isOutputOpen {
                let end = closing ?? time.now() + process.limits.closing
                closing = end
                patience = max(0, Int32(time.now().duration(to: end).wholeNanoseconds / 1_000_000))
            }
            if !set.wait(milliseconds: patience), !isOutputOpen {
                process.kill(because: .closedOutput)
                // It is waited for.
                isOutputOpen = true
                isDeaf = true
                continue
            }
            process.wake.take()
            if isErrorOpen { readErrors() }
            if isOutputOpen, !isFull { readOutput() }
        }
        // What it said before it ended.
        while isErrorOpen, readErrors() {}
        while isOutputOpen, readOutput() {}
        for line in errors.rest() { show(.info, line) }
        let dropped = allowance.takeDropped()
        if dropped > 0 { tellDropped(dropped) }
        process.finish(errors.last)
    }

    private mutating func note(_ isFull: Bool) {
        if isFull, !wasFull {
            observer.onLine(
                .warning,
                "it says more than the host carries out, and is read no further until that is done")
        }
        wasFull = isFull
    }

    /// - Returns: Whether there may be more.
    @discardableResult
    private mutating func readErrors() -> Bool {
        switch process.readError(into: &buffer) {
        case .bytes(let count):
            for line in errors.lines(in: buffer[..<count]) { show(.info, line) }
            return true
        case .nothing: return false
        case .end:
            isErrorOpen = false
            return false
        }
    }

    @discardableResult
    private mutating func readOutput() -> Bool {
        switch process.readOutput(into: &buffer) {
        case .bytes(let count):
            if !isDeaf {
                lines.append(buffer[..<count])
                takeLines()
            }
            return true
        case .nothing: return false
        case .end:
            isOutputOpen = false
            return false
        }
    }

    private mutating func takeLines() {
        while !isDeaf {
            switch lines.next() {
            case .line(let line): take(line)
            case .tooLong: violate("printed a line of more than \(process.limits.line) bytes")
            case .nothing: return
            }
        }
    }

    private mutating func take(_ line: [UInt8]) {
        switch RPCFrame(line) {
        case .single(.request(let request, let id)):
            if request.method == "log" { return log(request, id) }
            _ = process.queue.add(.request(request, id: id), bytes: line.count)
        case .single(.response(let response)):
            let number = Int(response.id.text)
            if number.map({
                process.queue.add(.answer($0, response.result), bytes: line.count)
            }) != true {
                violate("answered request \(excerpt(response.id.text)), which nobody waits for")
            }
        case .single(.invalid(let error, _)):
            violate("printed \"\(excerpt(String(decoding: line, as: UTF8.self)))\": \(error)")
        case .batch: violate("printed a batch; a line is one message")
        }
    }

    private mutating func violate(_ what: String) {
        isDeaf = true
        lines.clear()
        process.violate(what)
    }

    private mutating func log(_ request: RPCRequest, _ id: RPCID?) {
        let level = request.parameters?["level"]?.string.flatMap(LogLevel.init) ?? .info
        let message = request.parameters?["message"]
        show(level, message?.string ?? message?.text ?? "")
        // Whoever asks for an answer gets it in its turn.
        if id != nil { _ = process.queue.add(.request(request, id: id), bytes: 0) }
    }

    private mutating func show(_ level: LogLevel, _ text: String) {
        switch allowance.take(at: time.now()) {
        case .show(let dropped):
            if dropped > 0 { tellDropped(dropped) }
            observer.onLine(level, text)
        case .dropFirst:
            observer.onLine(
                .warning,
                "it logs more than \(process.limits.output.perSecond) lines a second: the rest is left out"
            )
        case .drop: break
        }
    }

    private func tellDropped(_ count: Int) {
        observer.onLine(.warning, "\(count) lines of its log were left out")
    }
}
