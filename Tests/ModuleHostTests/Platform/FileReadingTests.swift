import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Reading a file", .timeLimit(.minutes(10)))
struct FileReadingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func error(at path: String, limit: Int = 100) -> FileReadError? {
        do throws(FileReadError) {
            _ = try readFile(at: path, limit: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test("gives all bytes, up to the limit", arguments: [0, 1, 99, 100])
    func whole(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        try writeFile(bytes, to: folder.path("a"))
        #expect(try readFile(at: folder.path("a"), limit: 100) == bytes)
    }

    @Test("a large file, and one whose size the system does not report")
    func sizes() throws {
        let bytes = [UInt8](repeating: 42, count: 3_000_000)
        try writeFile(bytes, to: folder.path("a"))
        #expect(try readFile(at: folder.path("a"), limit: 1 << 24) == bytes)
        #expect(try !readFile(at: "/proc/self/status", limit: 1 << 20).isEmpty)
    }

    @Test("one byte too many")
    func tooLarge() throws {
        try writeFile([UInt8](repeating: 0, count: 101), to: folder.path("a"))
        #expect(error(at: folder.path("a"))?.reason == .tooLarge(limit: 100))
        #expect(error(at: "/proc/self/status", limit: 10)?.reason == .tooLarge(limit: 10))
        #expect(
            "\(FileReadError(path: "a", reason: .tooLarge(limit: 100)))"
                == "a: is larger than 100 bytes")
        #expect(
            "\(FileReadError(path: "a", reason: .tooLarge(limit: 16 << 20)))"
                == "a: is larger than 16 MiB")
    }

    @Test("no file")
    func missing() throws {
        try writeFile([], to: folder.path("file"))
        for path in [folder.path("none"), folder.path("none/none"), folder.path("file/none"), ""] {
            #expect(error(at: path)?.reason == .missing)
        }
        #expect("\(FileReadError(path: "a", reason: .missing))" == "a: no such file")
    }

    @Test("a folder")
    func directory() {
        #expect(error(at: folder.path)?.reason == .isDirectory)
        #expect(
            "\(FileReadError(path: "a", reason: .isDirectory))" == "a: is a folder, not a file")
    }

    @Test("a named pipe, a device, a socket: none keeps a reader waiting")
    func notRegular() throws {
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        let socket = try bindSocket(folder.path("socket"))
        defer { close(socket) }
        for path in [folder.path("pipe"), folder.path("socket"), "/dev/zero"] {
            #expect(error(at: path)?.reason == .notRegular)
        }
        #expect(
            "\(FileReadError(path: "a", reason: .notRegular))" == "a: is not a regular file")
    }

    /// Root may read everything, so there is no such file for it; ``HostdTests`` try it as another
    /// user.
    @Test("unreadable", .enabled(if: geteuid() != 0))
    func unreadable() throws {
        try writeFile([], to: folder.path("a"), mode: 0o000)
        #expect(error(at: folder.path("a"))?.reason == .notReadable)
    }

    @Test("links that lead in a circle")
    func circle() throws {
        try #require(symlink("b", folder.path("a")) == 0)
        try #require(symlink("a", folder.path("b")) == 0)
        #expect(
            error(at: folder.path("a")).map { "\($0.reason)" }
                == "cannot be read: Too many levels of symbolic links")
    }

    private func bindSocket(_ path: String) throws -> Int32 {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        return number
    }
}
