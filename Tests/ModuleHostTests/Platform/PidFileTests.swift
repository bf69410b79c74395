import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Pid file")
struct PidFileTests {
    private let folder: TemporaryFolder
    private let directory: StateDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = StateDirectory(path: folder.path("state"))
    }

    private var pidFile: String { directory.path(of: "hostd.pid") }

    private func content() throws -> String {
        String(decoding: try readFile(at: pidFile, limit: 100), as: UTF8.self)
    }

    private func failure(_ directory: StateDirectory) -> StateDirectoryError? {
        do throws(StateDirectoryError) {
            _ = try PidFile(claiming: directory)
            return nil
        } catch {
            return error
        }
    }

    @Test("holds the process number as long as the claim lasts, and is then empty")
    func claims() throws {
        #expect(PidFile.holder(of: directory) == .nobody)
        do {
            let file = try PidFile(claiming: directory)
            #expect(try content() == "\(CurrentProcess.id)\n")
            #expect(PidFile.holder(of: directory) == .host(processID: CurrentProcess.id))
            #expect(!PidFile.isLetGo(in: directory))
            #expect(!file.isAfterDeath)
            withExtendedLifetime(file) {}
        }
        #expect(PidFile.isLetGo(in: directory))
        #expect(try content() == "")
        #expect(PidFile.holder(of: directory) == .nobody)
        #expect(try !PidFile(claiming: directory).isAfterDeath)
    }

    @Test("copies of the descriptors, as a forked process has them, do not keep the claim")
    func copies() throws {
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        do {
            let file = try PidFile(claiming: directory)
            for name in try namesInFolder("/proc/self/fd") {
                guard let number = Int32(name), let target = linkTarget("/proc/self/fd/\(name)"),
                    target == directory.path || target == pidFile
                else { continue }
                copies.append(fcntl(number, F_DUPFD_CLOEXEC, 0))
            }
            withExtendedLifetime(file) {}
        }
        #expect(copies.count >= 2)
        #expect(PidFile.holder(of: directory) == .nobody)
        #expect(try !PidFile(claiming: directory).isAfterDeath)
    }

    @Test("a second host is refused with the first one's number")
    func second() throws {
        let file = try PidFile(claiming: directory)
        let error = failure(directory)
        #expect(error == .busy(path: directory.path, processID: CurrentProcess.id))
        #expect(error?.exitCode == .busy)
        #expect(try content() == "\(CurrentProcess.id)\n")
        withExtendedLifetime(file) {}
    }

    @Test("a stale one is taken over, whatever it holds", arguments: ["1\n", "99999999\n", "junk"])
    func stale(content stale: String) throws {
        try makeFolders(directory.path)
        try writeFile((stale + String(repeating: "x", count: 40)).utf8, to: pidFile)
        let file = try PidFile(claiming: directory)
        #expect(try content() == "\(CurrentProcess.id)\n")
        #expect(file.isAfterDeath)
        withExtendedLifetime(file) {}
    }

    @Test("a host keeps its directory when its pid file is removed, or another put in its place")
    func removedFile() throws {
        let file = try PidFile(claiming: directory)
        try removeFile(pidFile)
        #expect(failure(directory) == .busy(path: directory.path, processID: nil))
        #expect(PidFile.holder(of: directory) == .host(processID: nil))
        // The refused process has made no other file.
        #expect(folder.names == ["state"])
        #expect(try namesInFolder(directory.path) == [])
        try writeFile("\(CurrentProcess.id)\n".utf8, to: pidFile)
        #expect(failure(directory) == .busy(path: directory.path, processID: CurrentProcess.id))
        withExtendedLifetime(file) {}
    }

    @Test("a claim goes with the directory where that is moved; what takes its place is free")
    func movedDirectory() throws {
        let file = try PidFile(claiming: directory)
        try folder.move("state", to: "moved")
        let moved = StateDirectory(path: folder.path("moved"))
        let other = try PidFile(claiming: directory)
        #expect(failure(moved) == .busy(path: moved.path, processID: CurrentProcess.id))
        #expect(other.identity != file.identity)
        withExtendedLifetime((file, other)) {}
    }

    @Test(
        "a host that locks only its pid file, as earlier versions did, is known by that and by its socket"
    )
    func earlierVersion() throws {
        try makeFolders(directory.path)
        do {
            let lock = try Descriptor(lockFile: pidFile)
            #expect(try lock.tryLock(.exclusive))
            #expect(failure(directory) == .busy(path: directory.path, processID: nil))
        }
        let socket = try LocalSocket.listen(at: directory.path(of: StateDirectory.socketName))
        #expect(failure(directory) == .busy(path: directory.path, processID: CurrentProcess.id))
        withExtendedLifetime(socket) {}
    }

    @Test("a wait for the release waits for the directory, whatever became of the pid file")
    func release() throws {
        let file = Guarded<PidFile?>(try PidFile(claiming: directory))
        try removeFile(pidFile)
        #expect(!PidFile.waitForRelease(of: directory, within: .zero))
        file.withLock { $0 = nil }
        #expect(PidFile.waitForRelease(of: directory, within: .seconds(60)))
    }

    @Test("a process that only looks is not in the way")
    func looking() throws {
        try makeFolders(directory.path)
        let look = try Descriptor(lockFile: pidFile)
        #expect(try look.tryLock(.shared))
        let other = try openFolder(directory.path)
        #expect(try other.tryLock(.shared))
        #expect(PidFile.holder(of: directory) == .nobody)
    }

    @Test(
        "a number that no process has is not named", arguments: ["", "2147483647\n", "-5\n", "x"])
    func notYetWritten(content: String) throws {
        try makeFolders(directory.path)
        let other = try Descriptor(lockFile: pidFile)
        #expect(try other.tryLock(.exclusive))
        try other.replaceContent(with: content.utf8)
        #expect(failure(directory) == .busy(path: directory.path, processID: nil))
        #expect(PidFile.holder(of: directory) == .host(processID: nil))
    }

    @Test("a state directory that cannot be written")
    func unusable() throws {
        try writeFile([], to: folder.path("file"))
        try makeFolders(folder.path("full/hostd.pid"))
        let rows: [(path: String, reason: FileError)] = [
            ("/proc/none", FileError("create folder", "/proc/none", .notFound)),
            (folder.path("file"), FileError("create folder", folder.path("file"), .notDirectory)),
            (
                folder.path("file/state"),
                FileError("create folder", folder.path("file/state"), .notDirectory)
            ),
            (folder.path("full"), FileError("open", folder.path("full/hostd.pid"), .isDirectory)),
        ]
        for (path, reason) in rows {
            let error = failure(StateDirectory(path: path))
            #expect(error == .unusable(path: path, reason))
            #expect(error?.exitCode == .cannotCreate)
        }
    }

    @Test("what is said")
    func texts() {
        let reason = FileError("create folder", "/proc/none", .notFound)
        #expect(
            "\(StateDirectoryError.unusable(path: "/proc/none", reason))"
                == "the state directory '/proc/none' cannot be used: cannot create folder "
                + "'/proc/none': No such file or directory; choose another with --state-dir")
        let full = FileError("write", "/x/hostd.pid", .noSpace)
        #expect(
            "\(StateDirectoryError.unusable(path: "/x", full))"
                == "the state directory '/x' cannot be used: cannot write '/x/hostd.pid': No space "
                + "left on device; free space on this disk")
        #expect(
            "\(StateDirectoryError.busy(path: ".hostd", processID: 42))"
                == "another host (process 42) runs on the state directory '.hostd'; "
                + "stop it, or choose another with --state-dir")
        #expect(
            "\(StateDirectoryError.busy(path: ".hostd", processID: nil))"
                == "another host runs on the state directory '.hostd'; "
                + "stop it, or choose another with --state-dir")
    }
}
