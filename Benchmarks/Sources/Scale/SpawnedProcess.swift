import Foundation
import Glibc
import Served

/// A program that runs, started and ended without waiting longer than it takes.
struct SpawnedProcess {
    let id: pid_t
    /// When it was started.
    let began = nanoseconds()
    private let output: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: Its path, and what it is given.
    ///   - isQuiet: Whether what it says on stderr is expected, and goes nowhere.
    /// - Throws: Where it cannot be started.
    init(_ arguments: [String], isQuiet: Bool = false) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure.system("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        if isQuiet { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var id: pid_t = 0
        guard posix_spawn(&id, arguments[0], &actions, nil, words, environ) == 0 else {
            throw Failure("\(arguments[0]) cannot be started")
        }
        close(ends[1])
        self.id = id
        output = ends[0]
    }

    /// Waits for its first line of output.
    ///
    /// - Returns: How long it took since the start, in nanoseconds.
    func waitUntilReady() throws -> Int {
        var byte: UInt8 = 0
        while byte != UInt8(ascii: "\n") {
            guard read(output, &byte, 1) == 1 else { throw Failure("the host did not get ready") }
        }
        return nanoseconds() - began
    }

    /// The pages that it has written, in KB.
    func anonymousMemory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        guard let number = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Failure("/proc does not say how much memory the host takes")
        }
        return number
    }

    /// Waits for its end.
    ///
    /// - Returns: Its exit code, or the signal that ended it, negative.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        close(output)
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }
}
