import AppService
import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// Whether the handler of a signal has run.
private let isInterrupted = Atomic(false)

@Suite("Writing files")
struct FileWritingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func content(_ name: String) throws -> String {
        String(decoding: try readFile(at: folder.path(name), limit: 1 << 20), as: UTF8.self)
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func names() throws -> [String] {
        guard let listing = opendir(folder.path) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    names.append(String(cString: $0))
                }
            }
        }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    @Test("a file is replaced, with exactly the mode asked for")
    func replaces() throws {
        try writeFile("old and longer".utf8, to: folder.path("a"))
        #expect(mode(folder.path("a")) == 0o644)
        try writeFile("new".utf8, to: folder.path("a"), mode: 0o666, synchronized: true)
        #expect(try content("a") == "new")
        #expect(mode(folder.path("a")) == 0o666)
        #expect(try names() == ["a"])
    }

    @Test("a pipe is not replaced, and a link is, whatever it leads to")
    func notRegular() throws {
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        try #require(symlink("pipe", folder.path("link")) == 0)
        let error = FileError(
            "write", folder.path("pipe"), SystemError(code: EINVAL),
            explanation: "it is not a regular file")
        #expect(throws: error) { try writeFile("x".utf8, to: folder.path("pipe")) }
        #expect(try names() == ["link", "pipe"])
        try writeFile("x".utf8, to: folder.path("link"))
        #expect(try content("link") == "x")
        var status = stat()
        #expect(lstat(folder.path("pipe"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test("what cannot be put in place leaves nothing behind")
    func failure() throws {
        try makeFolders(folder.path("taken"))
        #expect(throws: FileError("write", folder.path("taken"), .isDirectory)) {
            try writeFile("x".utf8, to: folder.path("taken"))
        }
        #expect(throws: FileError("write", folder.path("none/a"), .notFound)) {
            try writeFile("x".utf8, to: folder.path("none/a"))
        }
        #expect(try names() == ["taken"])
        #expect(
            "\(FileError("write", "none/a", .notFound))"
                == "cannot write 'none/a': No such file or directory")
    }

    @Test("folders are made with those above them, for this user alone, and once")
    func folders() throws {
        let path = folder.path("a/b/c")
        try makeFolders(path)
        try makeFolders(path)
        try makeFolders(path + "/")
        #expect(mode(path) == 0o700)
        #expect(mode(folder.path("a")) == 0o700)
    }

    @Test("a folder cannot be made below a file, in the place of one, or where the kernel says no")
    func noFolder() throws {
        try writeFile("x".utf8, to: folder.path("file"))
        let below = folder.path("file/a")
        #expect(throws: FileError("create folder", below, .notDirectory)) {
            try makeFolders(below)
        }
        #expect(throws: FileError("create folder", folder.path("file"), .notDirectory)) {
            try makeFolders(folder.path("file"))
        }
        #expect(throws: FileError("create folder", "/proc/none", .notFound)) {
            try makeFolders("/proc/none/a")
        }
        #expect(throws: FileError.self) { try makeFolders("") }
    }

    @Test(
        "the folder above",
        arguments: [
            ("a", "."), ("a/b", "a"), ("a/b/", "a"), ("/a", "/"), ("/a//b", "/a"), ("//a", "/"),
            ("./a", "."), ("../a", ".."),
        ])
    func parent(path: String, expected: String) { #expect(parentFolder(of: path) == expected) }

    @Test("nothing is above the root", arguments: ["/", "//", ""])
    func noParent(path: String) { #expect(parentFolder(of: path) == nil) }

    @Test("an appended file grows, and follows its name when reopened")
    func appends() throws {
        let path = folder.path("log")
        let file = try AppendFile(path: path)
        #expect(mode(path) & 0o077 == 0)
        try file.append(Array("one\n".utf8))
        try #require(rename(path, folder.path("log.1")) == 0)
        try file.append(Array("two\n".utf8))
        try file.reopen()
        try file.append(Array("three\n".utf8))
        try file.synchronize()
        #expect(try content("log.1") == "one\ntwo\n")
        #expect(try content("log") == "three\n")
    }

    @Test("a file that cannot be reopened stays the one it was")
    func failedReopen() throws {
        try makeFolders(folder.path("logs"))
        let path = folder.path("logs/log")
        let file = try AppendFile(path: path)
        try #require(rename(folder.path("logs"), folder.path("old")) == 0)
        #expect(throws: FileError("open", path, .notFound)) { try file.reopen() }
        try file.append(Array("kept".utf8))
        #expect(try content("old/log") == "kept")
    }

    @Test("a part of a line that a full disk took is removed")
    func shortAppend() async throws {
        let path = folder.path("log")
        // A limit of the process stands for the disk: the system writes what there is room for.
        await #expect(processExitsWith: .success) { [path = path as String] in
            _ = signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 10, rlim_max: 10)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let file = try AppendFile(path: path)
            // A line of another descriptor, which does not move the position of `file`.
            try AppendFile(path: path).append(Array("one\n".utf8))
            #expect(throws: FileError("write", path, SystemError(code: EFBIG))) {
                try file.append(Array("two two\n".utf8))
            }
            try file.append(Array("three\n".utf8))
            #expect(throws: FileError.self) { try file.append([1]) }
        }
        #expect(try content("log") == "one\nthree\n")
    }

    @Test("an append that the system interrupts goes on where it was")
    func interrupted() async throws {
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        await #expect(processExitsWith: .success) { [path = path as String] in
            var action = sigaction()
            // Without SA_RESTART: the write returns what the pipe has taken.
            action.__sigaction_handler.sa_handler = { _ in
                isInterrupted.store(true, ordering: .relaxed)
            }
            // Made here, since a handler of a signal may make nothing.
            isInterrupted.store(false, ordering: .relaxed)
            try #require(sigaction(SIGUSR1, &action, nil) == 0)
            let line = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
            let writer = BlockingFuture<UInt>()
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            // Ends this process where the rest never comes.
            alarm(60)
            try NativeThread.start(name: "writer") {
                // Dispatch's threads, from which this one inherits the mask, block signals.
                var mask = sigset_t()
                sigfillset(&mask)
                pthread_sigmask(SIG_UNBLOCK, &mask, nil)
                writer.keep(NativeThread.current)
                try? AppendFile(path: path).append(line)
            }
            let thread = try #require(writer.take())
            var waiting: Int32 = 0
            while waiting < 65_536 { _ = ioctl(reader, UInt(FIONREAD), &waiting) }
            while !isInterrupted.load(ordering: .relaxed) { pthread_kill(thread, SIGUSR1) }
            _ = fcntl(reader, F_SETFL, 0)
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while received.count < line.count {
                let count = read(reader, &buffer, buffer.count)
                try #require(count > 0)
                received += buffer[..<count]
            }
            #expect(received == line)
        }
    }

    @Test("a full disk is an error")
    func fullDisk() throws {
        let file = try AppendFile(path: "/dev/full")
        #expect(throws: FileError("write", "/dev/full", .noSpace)) { try file.append([1, 2, 3]) }
    }
}
