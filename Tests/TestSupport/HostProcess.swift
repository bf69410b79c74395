import AppService
import Glibc
package import ModuleHostCore

/// A real `hostd`, or another program, run by a test as a user would run it.
///
/// It has its own process group, no signal ignored, none blocked unless the test says so, and pipes for
/// stdout and stderr. Every wait is for something that happens; a wait for what never happens ends with an error after
/// ``patience``, so that a broken host fails a test and does not hang it. What still runs when the
/// test releases this is killed, with its group.
package final class HostProcess {
    package enum Stream: Int, Hashable, Sendable, CaseIterable {
        case output
        case error
    }

    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// How a process came to its end, and all it said.
    package struct Outcome: Hashable, Sendable {
        package let exit: Exit
        package let output: String
        package let error: String

        /// The output, with the lines joined that were wrapped at 80 columns.
        package var unwrapped: String { output.replacing(/\n +/, with: " ") }
    }

    /// How a standard stream of the process begins.
    package enum Standard: Hashable, Sendable {
        /// A pipe that the test reads.
        case pipe
        /// No descriptor at all, as after `>&-`.
        case closed
        /// A file, opened for writing.
        case file(String)
    }

    /// How long a wait goes on: far beyond what any machine needs.
    package static let patience: Duration = .seconds(60)

    package let processID: Int32
    private var pipes: [TestPipe]
    private var said = [StreamText(), StreamText()]
    /// Of both streams, and last of the pipe that only the life of the process keeps open.
    private var isAtEnd = [false, false, false]
    private var exit: Exit?

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments, without the program's name.
    ///   - program: The path of the program; nil for the `hostd` of this build.
    ///   - folder: Its working directory; nil for that of the tests.
    ///   - environment: What is set beside `PATH`, `HOME` and what the tests need themselves.
    ///   - output: What its stdout is.
    ///   - error: What its stderr is.
    ///   - userID: The user to run it as, where the tests run as root.
    ///   - blocked: The signals that it begins with as blocked.
    /// - Throws: Where it cannot be started.
    package init(
        _ arguments: [String], program: String? = nil, in folder: String? = nil,
        environment: [String: String] = [:], output: Standard = .pipe, error: Standard = .pipe,
        userID: UInt32? = nil, blocked: SignalSet = SignalSet()
    ) throws {
        var words = [program ?? Self.hostd] + arguments
        // Swift sees no spawn action for either; the shell and `chroot` (for its user) become the
        // program, so the process is the same.
        if let folder { words = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, folder] + words }
        if let userID {
            words =
                ["/usr/sbin/chroot", "--userspec=\(userID):\(userID)", "--skip-chdir", "/"] + words
        }
        (processID, pipes) = try spawning.withLock { _ throws in
            try Self.spawn(words, environment, [output, error], blocked)
        }
    }

    deinit {
        kill(-processID, SIGKILL)
        if exit == nil { waitpid(processID, nil, 0) }
    }

    /// Runs a process to its end.
    package static func run(
        _ arguments: [String], program: String? = nil, in folder: String? = nil,
        environment: [String: String] = [:], output: Standard = .pipe, error: Standard = .pipe,
        userID: UInt32? = nil
    ) throws -> Outcome {
        try HostProcess(
            arguments, program: program, in: folder, environment: environment, output: output,
            error: error, userID: userID
        ).waitForExit()
    }

    // MARK: What it says

    /// What the process has said so far, as far as it was read while waiting.
    package func textSoFar(_ stream: Stream) -> String {
        String(decoding: said[stream.rawValue].bytes, as: UTF8.self)
    }

    /// Waits for a whole line that `matches`, among all that the process has said and will say.
    ///
    /// - Parameters:
    ///   - stream: Where the line is to appear.
    ///   - count: Which of the lines that match, the first being 1.
    ///   - matches: Whether a line, given without its newline, is the one.
    /// - Returns: The line.
    /// - Throws: ``WaitFailed`` where the stream ends, or patience does, before.
    @discardableResult
    package func waitForLine(
        on stream: Stream = .error, count: Int = 1, matching matches: (String) -> Bool
    ) throws -> String {
        let deadline = ContinuousClock.now + Self.patience
        var looked = 0
        var found = 0
        while true {
            for line in said[stream.rawValue].lines[looked...] where matches(line) {
                found += 1
                if found == count { return line }
            }
            looked = said[stream.rawValue].lines.count
            guard !isAtEnd[stream.rawValue] else {
                throw failed("the stream ended before the line")
            }
            try pump(until: deadline)
        }
    }

    /// Waits for a line that contains `text`.
    @discardableResult
    package func waitForLine(
        containing text: String, on stream: Stream = .error, count: Int = 1
    ) throws -> String {
        try waitForLine(on: stream, count: count) { $0.contains(text) }
    }

    // MARK: What is done to it

    /// Sends a signal to the process.
    package func send(_ signal: Int32) { kill(processID, signal) }

    /// Stops all its threads, and waits until they are: a thread that runs goes on until the kernel meets it.
    package func suspend() {
        kill(processID, SIGSTOP)
        var info = siginfo_t()
        while waitid(P_PID, id_t(processID), &info, WSTOPPED | WEXITED | WNOWAIT) < 0,
            errno == EINTR
        {}
    }

    /// Sends a signal that carries a value.
    ///
    /// False where the queue is full.
    package func queue(_ signal: Int32, value: Int32) -> Bool {
        sigqueue(processID, signal, sigval(sival_int: value)) == 0
    }

    /// Stops reading a stream: what the process writes from now on breaks its pipe.
    package func closeReadEnd(of stream: Stream) {
        pipes[stream.rawValue].closeReadEnd()
        isAtEnd[stream.rawValue] = true
    }

    /// Waits for the end of the process.
    package func waitForExit() throws -> Outcome {
        let deadline = ContinuousClock.now + Self.patience
        while !isAtEnd.allSatisfy(\.self) { try pump(until: deadline) }
        return outcome()
    }

    /// Sends the process a signal again and again until it has ended.
    package func waitForExit(
        sending signal: Int32, every interval: Duration
    ) throws -> Outcome {
        let deadline = ContinuousClock.now + Self.patience
        while !isAtEnd.allSatisfy(\.self) {
            send(signal)
            let next = ContinuousClock.now + interval
            while !isAtEnd.allSatisfy(\.self), try take(until: next) {}
            guard ContinuousClock.now < deadline else { throw failed("it did not end") }
        }
        return outcome()
    }

    private func outcome() -> Outcome {
        if exit == nil {
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            let signal = status & 0x7F
            exit = signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
        }
        return Outcome(
            exit: exit ?? .code(-1), output: textSoFar(.output), error: textSoFar(.error))
    }

    /// A wait that came to nothing, with all that the process said.
    package struct WaitFailed: Error, CustomStringConvertible {
        package let description: String
    }

    private func failed(_ reason: String) -> WaitFailed {
        WaitFailed(
            description: "\(reason)\n--- stdout\n\(textSoFar(.output))"
                + "\n--- stderr\n\(textSoFar(.error))")
    }

    /// Waits until a pipe has something, and takes it.
    private func pump(until deadline: ContinuousClock.Instant) throws {
        guard try take(until: deadline) else {
            throw failed("nothing happened for \(Self.patience)")
        }
    }

    /// Waits until a pipe has something, and takes it; false on a timeout.
    private func take(until deadline: ContinuousClock.Instant) throws -> Bool {
        let open = isAtEnd.indices.filter { !isAtEnd[$0] }
        var entries = open.map {
            pollfd(fd: pipes[$0].readEnd, events: Int16(POLLIN), revents: 0)
        }
        let rest = max(.zero, deadline - ContinuousClock.now)
        let milliseconds = Int32(clamping: Int64(rest / .milliseconds(1)) + 1)
        guard poll(&entries, nfds_t(entries.count), milliseconds) != 0 else { return false }
        for (index, entry) in zip(open, entries) where entry.revents != 0 {
            let bytes = pipes[index].read()
            if bytes.isEmpty { isAtEnd[index] = true } else { said[index].append(bytes) }
        }
        return true
    }
}

/// What came out of a stream so far, each byte looked at once.
private struct StreamText {
    private(set) var bytes: [UInt8] = []
    /// The lines that have ended, without their ends.
    private(set) var lines: [String] = []
    private var lineStart = 0

    mutating func append(_ more: [UInt8]) {
        let start = bytes.count
        bytes += more
        for index in start..<bytes.count where bytes[index] == UInt8(ascii: "\n") {
            lines.append(String(decoding: bytes[lineStart..<index], as: UTF8.self))
            lineStart = index + 1
        }
    }
}

/// Held while descriptors are open that must not reach a child which another test starts at that
/// moment: Swift sees no call that opens a pipe and closes it on `exec` in one.
let spawning = Guarded(())

extension HostProcess {
    /// The `hostd` that was built with these tests.
    package static let hostd = program("hostd")

    /// A program that was built with these tests, which lies beside them.
    package static func program(_ name: String) -> String { builtProgram(name) }

    private static func spawn(
        _ words: [String], _ environment: [String: String], _ streams: [Standard],
        _ blocked: SignalSet
    ) throws -> (Int32, [TestPipe]) {
        let pipes = try (0..<3).map { _ in try TestPipe(unlocked: ()) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (index, stream) in streams.enumerated() {
            let number = Int32(index) + 1
            switch stream {
            case .pipe: posix_spawn_file_actions_adddup2(&actions, pipes[index].writeEnd, number)
            case .closed: posix_spawn_file_actions_addclose(&actions, number)
            case .file(let path):
                posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY, 0)
            }
        }
        // High, so that it is not in the way, and open as long as the process lives.
        posix_spawn_file_actions_adddup2(&actions, pipes[2].writeEnd, 250)

        var variables = ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp"]
        // What a sanitizer is set to leave aside holds for the hosts, too.
        for name in ["LD_LIBRARY_PATH", "LSAN_OPTIONS"] {
            if let value = getenv(name) { variables.append("\(name)=\(String(cString: value))") }
        }
        // The signals of a crash are the sanitizer's, whose report says more.
        if isSanitized { variables.append("SWIFT_BACKTRACE=enable=no") }
        variables += environment.map { "\($0)=\($1)" }
        let process = try spawnProcess(
            words[0], words, variables: variables, blocked: blocked, &actions)
        for pipe in pipes { pipe.closeWriteEnd() }
        return (process, pipes)
    }
}
