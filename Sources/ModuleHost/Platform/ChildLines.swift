import AppService

/// A run of a program from its start to its end, while its output is read line by line.
package enum ChildLines {
    /// The stream of a line.
    package enum Stream {
        case output
        case error
    }

    /// The end of a run.
    package enum End: Hashable {
        case exited(ChildProcess.Exit)
        /// A signal that requests the end of this process came first; the program and its group were ended.
        case interrupted(Int32)
    }

    /// The bytes of a line that are kept; the rest of a longer one is dropped.
    package static let lineLimit = 64 << 10
    /// The time that a program has to end before it is killed.
    private static let grace: Duration = .seconds(5)
    /// The longest time until a signal is noticed.
    private static let interval: Int32 = 100

    /// Runs a program with an empty standard input, and waits for its end for as long as that takes.
    ///
    /// - Parameters:
    ///   - environment: All of its variables.
    ///   - line: Called with each line, without its end (a line feed or a carriage return), in the order of
    ///     each stream, on this thread.
    /// - Throws: ``SystemError`` where it cannot be started.
    package static func run(
        _ command: [String], environment: [String: String],
        _ line: (Stream, ArraySlice<UInt8>) -> Void
    ) throws(SystemError) -> End {
        let child = try ChildProcess.start(command, environment: environment)
        child.closeInput()
        var output = LineCutter()
        var error = LineCutter()
        var buffer = [UInt8](readingUpTo: 64 << 10)
        var poll = PollSet()
        var interruption: (signal: Int32, until: ContinuousClock.Instant)?
        while true {
            poll.removeAll()
            if !output.isAtEnd { poll.insert(child.output.number, .reading) }
            if !error.isAtEnd { poll.insert(child.error.number, .reading) }
            poll.insert(child.end.number, .reading)
            poll.wait(milliseconds: interval)
            if interruption == nil, let signal = Interruption.taken {
                interruption = (signal, ContinuousClock.now + grace)
                // With SIGTERM, SwiftPM would leave its compilers running, each in a group of its own.
                child.interrupt()
            }
            if let interruption, ContinuousClock.now > interruption.until { child.kill() }
            // Asked first: what the program wrote before its end is in the pipes by then.
            let exit = child.exit()
            output.read(child.output, &buffer) { line(.output, $0) }
            error.read(child.error, &buffer) { line(.error, $0) }
            guard let exit else { continue }
            output.end { line(.output, $0) }
            error.end { line(.error, $0) }
            return interruption.map { .interrupted($0.signal) } ?? .exited(exit)
        }
    }

    /// The lines of one stream.
    private struct LineCutter {
        private var rest: [UInt8] = []
        private(set) var isAtEnd = false

        /// Reads what there is.
        mutating func read(
            _ stream: borrowing Descriptor, _ buffer: inout [UInt8],
            _ line: (ArraySlice<UInt8>) -> Void
        ) {
            while !isAtEnd {
                switch ChildProcess.read(stream, into: &buffer) {
                case .bytes(let count): cut(buffer[..<count], line)
                case .nothing: return
                case .end: isAtEnd = true
                }
            }
        }

        private mutating func cut(_ bytes: ArraySlice<UInt8>, _ line: (ArraySlice<UInt8>) -> Void) {
            var bytes = bytes
            while let end = bytes.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
                keep(bytes[..<end])
                self.end(line)
                bytes = bytes[(end + 1)...]
            }
            keep(bytes)
        }

        private mutating func keep(_ bytes: ArraySlice<UInt8>) {
            rest += bytes.prefix(lineLimit - rest.count)
        }

        /// Ends the line that has begun.
        mutating func end(_ line: (ArraySlice<UInt8>) -> Void) {
            if !rest.isEmpty { line(rest[...]) }
            rest.removeAll(keepingCapacity: true)
        }
    }
}

/// The signals by which a person or a service manager ends a command that has children to end first.
///
/// Only for the main thread of a process without other threads.
package enum Interruption {
    /// Blocks the signals from now on: they wait until they are taken.
    ///
    /// - Returns: The signals that were blocked before.
    package static func begin() -> SignalSet {
        let before = Signals.blocked
        Signals.block(SignalSet(Signals.requestsEnd))
        return before
    }

    /// The signal that has come since the last call; nil for none.
    package static var taken: Int32? {
        Signals.wait(for: SignalSet(Signals.requestsEnd), until: ContinuousClock.now)?.number
    }

    /// Ends this process by a signal that was taken, so that a shell sees by what it ended.
    ///
    /// Returns where the process ignores the signal.
    package static func end(by signal: Int32, _ before: SignalSet) {
        Signals.blockExactly(before)
        try? Signals.send(signal, to: CurrentProcess.id)
    }
}
