import Glibc
import SwiftOverlayShims

/// A program that a test starts; it is killed when its standard input closes, even if the test process has died.
struct TestProgram {
    private let process: pid_t
    private let input: Int32
    /// Its standard output, and that of all errors.
    private let output: Int32

    init(_ words: [String]) throws {
        // Another test's program must not keep this one's input open.
        var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &input) == 0, socketpair(AF_UNIX, kind, 0, &output) == 0
        else { throw ServerError(text: "no sockets") }
        defer {
            close(input[0])
            close(output[1])
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        posix_spawn_file_actions_adddup2(&actions, output[1], 2)
        // The threads of tests block all signals, also that of the end of a child.
        var (attributes, none) = (posix_spawnattr_t(), sigset_t())
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let script = "exec 3<&0; \"$@\" & it=$!; (read _; kill -9 $it) <&3 & wait $it"
        var arguments = (["/bin/sh", "-c", script, "sh"] + words).map { strdup($0) } + [nil]
        defer { for each in arguments { free(each) } }
        var process = pid_t()
        guard posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ) == 0
        else {
            throw ServerError(text: "cannot start \(words)")
        }
        (self.process, self.input, self.output) = (process, input[1], output[0])
    }

    /// Waits until the program has printed a text.
    ///
    /// - Throws: All that it has printed, if it ends before.
    func waitForOutput(_ text: String) throws {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !String(decoding: all, as: UTF8.self).contains(text) {
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw ServerError(text: String(decoding: all, as: UTF8.self)) }
            all += buffer.prefix(count)
        }
    }

    /// Ends the program as `kill -9` does.
    func kill() {
        shutdown(input, Int32(SHUT_WR))
        waitUntilExit()
    }

    /// Waits until the program has ended.
    @discardableResult
    func waitUntilExit() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        close(input)
        close(output)
        return status
    }

    /// Runs a program to its end.
    ///
    /// - Returns: Whether it ended with 0.
    static func run(_ words: String...) -> Bool {
        guard let program = try? TestProgram(words) else { return false }
        return program.waitUntilExit() == 0
    }
}
