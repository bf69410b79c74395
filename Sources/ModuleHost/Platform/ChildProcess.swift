import AppService
import Glibc

/// A program that this process has started, with a process group of its own, and pipes for its three standard
/// streams.
///
/// It begins with no signal blocked or ignored, no descriptor but the three, and no variable but those it is
/// given. When it has ended, the rest of its group is killed: nothing that it has started outlives it, except
/// processes that left the group. When this process ends, for whatever reason, the child reads the end of its
/// input: a program that is to end with this one has to react to that.
///
/// From the first start on, this process ignores SIGPIPE.
package final class ChildProcess: Sendable {
    /// The most bytes that a pipe holds, unless root has raised it (`/proc/sys/fs/pipe-max-size`).
    static let pipeLimit = 1 << 20

    /// The end of a process.
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
        /// Other code of this process waited for all children, and took how this one ended.
        case unknown
    }

    package let processID: Int32
    /// The child's standard output; does not block.
    package let output: Descriptor
    /// The child's standard error; does not block.
    package let error: Descriptor
    /// The writing end of the child's standard input.
    private let input: Guarded<InputEnd?>
    /// Readable when the child has ended: wait for this descriptor, then call ``exit()``.
    package let end: Descriptor
    private let reaped = Guarded<Exit?>(nil)

    private init(
        processID: Int32, end: consuming Descriptor, input: consuming Descriptor,
        output: consuming Descriptor, error: consuming Descriptor
    ) {
        self.processID = processID
        self.end = end
        self.input = Guarded(InputEnd(input))
        self.output = output
        self.error = error
    }

    deinit {
        guard reaped.withLock({ $0 == nil }) else { return }
        _ = Self.killGroup(of: processID)
    }

    /// Starts a program.
    ///
    /// Call ``exit()`` when ``end`` is readable: until then the process stays a zombie, which code that waits
    /// for any child of this process would reap. If it has not been reaped when the last reference goes, it
    /// is killed.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments. A name without a slash is searched in the `PATH` of
    ///     `environment`; a relative path begins in `folder`.
    ///   - environment: All of its variables.
    ///   - folder: Its working directory; nil for the folder of this process.
    /// - Returns: The process.
    /// - Throws: ``SystemError`` where it cannot be started.
    package static func start(
        _ command: [String], environment: [String: String], in folder: String? = nil
    ) throws(SystemError) -> ChildProcess {
        guard let name = command.first, !command.contains(where: { $0.utf8.contains(0) }) else {
            throw .invalid
        }
        guard let program = name.contains("/") ? name : findProgram(name, path: environment["PATH"])
        else { throw .notFound }
        // Otherwise writing to a child that has ended would end this process.
        Signals.turnIntoErrors()
        let input = try Pipe()
        let output = try Pipe()
        let error = try Pipe()
        for end in [input.writing.number, output.reading.number, error.reading.number] {
            // Before the child has the descriptor: its own ends block, as every program expects.
            guard fcntl(end, F_SETFL, O_NONBLOCK) == 0 else { throw .last }
        }
        let processID = try spawn(
            program, command, in: folder, environment.map { "\($0)=\($1)" }.sorted(),
            [input.reading.number, output.writing.number, error.writing.number])
        do throws(SystemError) {
            return ChildProcess(
                processID: processID, end: try openProcessEnd(of: processID),
                input: input.takeWriting(), output: output.takeReading(),
                error: error.takeReading())
        } catch {
            _ = killGroup(of: processID)
            throw error
        }
    }

    /// The result of reading one of the child's streams.
    package enum Reception {
        case bytes(Int)
        case nothing
        case end
    }

    /// Reads the available output of the child, without waiting, into the front of `buffer`.
    ///
    /// - Parameters:
    ///   - stream: ``output`` or ``error``.
    ///   - buffer: Receives the bytes.
    ///   - limit: The most bytes that are read.
    /// - Returns: The number of bytes, or the state of the stream.
    package static func read(
        _ stream: borrowing Descriptor, into buffer: inout [UInt8], atMost limit: Int = .max
    ) -> Reception {
        while true {
            let count = buffer.withUnsafeMutableBytes {
                Glibc.read(stream.number, $0.baseAddress, min($0.count, limit))
            }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .nothing }
            if errno != EINTR { return .end }
        }
    }

    /// Writes as many bytes into the child's input as fit without waiting.
    ///
    /// - Returns: The number of bytes that were written.
    /// - Throws: ``SystemError/brokenPipe`` if the input is not read any more.
    package func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        guard let input = input.withLock(\.self) else { throw .brokenPipe }
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.write(input.descriptor.number, $0.baseAddress, $0.count)
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw .last }
        }
    }

    /// Calls `body` with the number of the child's input, which stays open meanwhile; not where it is closed.
    func withInput(_ body: (Int32) -> Void) {
        guard let input = input.withLock(\.self) else { return }
        body(input.descriptor.number)
    }

    /// Ends the child's input: a well-behaved child ends with it.
    package func closeInput() { input.withLock { $0 = nil } }

    /// Sends a signal to the process and its group.
    ///
    /// Has no effect once the process has ended: the number may belong to another process.
    package func signal(_ number: Int32) {
        reaped.withLock { if $0 == nil { _ = Glibc.kill(-processID, number) } }
    }

    /// Asks the process and its group to end (SIGTERM).
    package func terminate() { signal(SIGTERM) }

    /// Asks the process and its group to end, as a terminal does (SIGINT).
    package func interrupt() { signal(SIGINT) }

    /// Kills the process and its group (SIGKILL).
    package func kill() { signal(SIGKILL) }

    /// Returns how the process ended, or nil while it runs.
    ///
    /// Does not wait. The first call after the end kills what is left of the group and reaps the process,
    /// before the number can be given to another one.
    package func exit() -> Exit? {
        reaped.withLock { reaped in
            if let reaped { return reaped }
            // Until it is reaped it keeps its number, and so does its group, until that is killed.
            var info = siginfo_t()
            let options = WEXITED | WNOWAIT | WNOHANG
            if waitid(P_PID, id_t(processID), &info, options) == 0 {
                guard info.si_signo == SIGCHLD else { return nil }
                reaped = Self.killGroup(of: processID)
            } else if errno == ECHILD {
                // The number may belong to another process by now, and so may the group's.
                reaped = .unknown
            }
            return reaped
        }
    }

    /// Waits until the process has ended, and returns how it ended.
    package func waitForExit() -> Exit {
        while true {
            if let exit = exit() { return exit }
            _ = RawOutput.wait(until: POLLIN, on: end.number, milliseconds: -1)
        }
    }

    /// Kills a process that is not reaped, and all of its group, and reaps it.
    private static func killGroup(of processID: Int32) -> Exit {
        _ = Glibc.kill(-processID, SIGKILL)
        var status: Int32 = 0
        _ = retryingInterrupted { waitpid(processID, &status, 0) }
        return Exit(status: status)
    }

    /// Reaps the ended children of this process until one of them is `child`; all of them where `child` is
    /// nil.
    ///
    /// Only for a process that has started no other than `child`: the others are orphans that were reparented
    /// to it.
    ///
    /// - Returns: How the child ended; nil where it has not.
    static func reap(until child: Int32?) -> Exit? {
        while true {
            var status: Int32 = 0
            let processID = waitpid(-1, &status, WNOHANG)
            if processID == child { return Exit(status: status) }
            guard processID > 0 || processID < 0 && errno == EINTR else { return nil }
        }
    }

    /// A descriptor that is closed when nothing writes to it any more.
    private final class InputEnd: Sendable {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    // MARK: Starting

    /// Both ends of a pipe.
    ///
    /// The call that opens a pipe and sets close-on-exec in one step is not visible to Swift, so the pipe is
    /// created under the lock under which this process starts others.
    private struct Pipe: ~Copyable {
        let reading: Descriptor
        let writing: Descriptor

        init() throws(SystemError) {
            var ends: [Int32] = [-1, -1]
            let error = spawning.withLock { _ -> SystemError? in
                guard pipe(&ends) == 0 else { return .last }
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                return nil
            }
            if let error { throw error }
            reading = Descriptor(owning: ends[0])
            writing = Descriptor(owning: ends[1])
        }

        consuming func takeReading() -> Descriptor { reading }
        consuming func takeWriting() -> Descriptor { writing }
    }

    private static let spawning = Guarded(())

    private static func spawn(
        _ program: String, _ words: [String], in folder: String?, _ variables: [String],
        _ streams: [Int32]
    ) throws(SystemError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The pipes have numbers above 2: no descriptor that is still to be moved is overwritten.
        for (number, stream) in streams.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        for number in inheritedDescriptors() {
            posix_spawn_file_actions_addclose(&actions, number)
        }
        if let folder {
            let code = addChangeOfFolder(&actions, folder)
            guard code == 0 else { throw SystemError(code: code) }
        }
        return try spawning.withLock { _ in
            Result { () throws(SystemError) in
                try spawnProcess(program, words, variables: variables, &actions)
            }
        }.get()
    }

    /// Returns the descriptors that this process was started with and would pass on; those that it opens
    /// itself are closed on `exec`.
    private static func inheritedDescriptors() -> [Int32] {
        let names = (try? namesInFolder("/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { number in
            let flags = fcntl(number, F_GETFD)
            return number > 2 && flags >= 0 && flags & FD_CLOEXEC == 0
        }
    }
}

// In every C library that Swift supports, but not visible to Swift.
@_silgen_name("posix_spawn_file_actions_addchdir_np")
private func addChangeOfFolder(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ folder: UnsafePointer<CChar>
) -> Int32

extension ChildProcess.Exit {
    /// Creates the end of a process from the status of `waitpid`.
    init(status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
    }
}

extension ChildProcess.Exit: CustomStringConvertible {
    /// The end in words: `ended with code 3`, `was killed by SIGSEGV`.
    package var description: String {
        switch self {
        case .code(let code): "ended with code \(code)"
        case .signal(let number): "was killed by \(Self.name(of: number))"
        case .unknown: "ended, and other code of the host's process took its exit status"
        }
    }

    private static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL",
            SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
            SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM",
            SIGTERM: "SIGTERM", SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2", SIGSYS: "SIGSYS",
            SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
