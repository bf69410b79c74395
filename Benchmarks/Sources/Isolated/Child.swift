import Glibc

/// Why a figure cannot be had.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A system call that failed just now.
    static func system(_ call: String) -> Self {
        Self("\(call): \(String(cString: strerror(errno)))")
    }
}

/// The time of a clock that is never set, and that all processes share.
func nanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Says what is wrong on standard error.
func printError(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// A process at the other end of two pipes, as bare as can be.
final class Child {
    let id: pid_t
    private let input: Int32
    private let output: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - path: The executable.
    ///   - arguments: What it is given.
    /// - Throws: ``Failure`` where it cannot be started.
    init(_ path: String, _ arguments: [String]) throws {
        let (down, up) = (try Self.pipe(), try Self.pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, down.reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, up.writing, STDOUT_FILENO)
        // The lane blocks signals that a process has to have.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var id: pid_t = 0
        let code = posix_spawn(&id, path, &actions, &attributes, words, environ)
        close(down.reading)
        close(up.writing)
        guard code == 0 else {
            close(down.writing)
            close(up.reading)
            throw Failure("\(path): \(String(cString: strerror(code)))")
        }
        (self.id, input, output) = (id, down.writing, up.reading)
    }

    /// Closes its input, and waits for its end.
    deinit {
        close(input)
        close(output)
        while waitpid(id, nil, 0) < 0, errno == EINTR {}
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw Failure.system("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Writes a line, and reads until the end of one.
    ///
    /// - Returns: The length of the answer.
    @discardableResult
    func exchange(_ line: [UInt8]) throws -> Int {
        guard write(input, line, line.count) == line.count else { throw Failure.system("write") }
        var length = 0
        repeat {
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw Failure.system("read") }
            length += count
            if buffer[count - 1] == UInt8(ascii: "\n") { return length }
        } while true
    }

    /// All that it says until it ends.
    func text() throws -> String {
        var text: [UInt8] = []
        while true {
            let count = read(output, &buffer, buffer.count)
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            guard count > 0 || errno == EINTR else { throw Failure.system("read") }
            text += buffer[..<max(0, count)]
        }
    }
}

/// Sends back what it reads, until there is no more: the least that a child can do.
func echo() {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0, write(STDOUT_FILENO, buffer, count) == count else { return }
    }
}
