import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Descriptor")
struct DescriptorTests {
    @Test("what is opened is closed on exec, and when let go of")
    func lifetime() throws {
        let number: Int32
        do {
            let file = try Descriptor(opening: "/dev/null")
            number = file.number
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        }
        // Another thread may have taken the number since; only then is it open.
        let path = "/proc/self/fd/\(number)"
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink(path, &buffer, buffer.count)
        let target = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        #expect(String(decoding: target, as: UTF8.self) != "/dev/null")
    }

    @Test("a lock excludes another open file, shared ones only exclusive ones")
    func locks() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("lock")
        let first = try Descriptor(lockFile: path)
        let second = try Descriptor(lockFile: path)
        #expect(try first.tryLock(.exclusive))
        #expect(try !second.tryLock(.exclusive))
        #expect(try !second.tryLock(.shared))
        first.unlock()
        #expect(try second.tryLock(.shared))
        #expect(try first.tryLock(.shared))
        #expect(try !first.tryLock(.exclusive))
    }

    @Test("a lock ends with the file that held it")
    func lockEnds() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("lock")
        let second = try Descriptor(lockFile: path)
        do {
            let first = try Descriptor(lockFile: path)
            #expect(try first.tryLock(.exclusive))
            #expect(try !second.tryLock(.exclusive))
        }
        #expect(try second.tryLock(.exclusive))
    }

    @Test("a lock file that is a link is not followed")
    func link() throws {
        let folder = try TemporaryFolder()
        try #require(symlink("/dev/null", folder.path("lock")) == 0)
        let error = #expect(throws: FileError.self) {
            _ = try Descriptor(lockFile: folder.path("lock"))
        }
        #expect(
            error?.description
                == "cannot open '\(folder.path("lock"))': it is a symbolic link, which is "
                + "not followed here")
    }

    @Test("errors speak the system's words")
    func errors() {
        #expect("\(SystemError.notFound)" == "No such file or directory")
        #expect("\(SystemError(code: 12345))" == "error 12345")
    }
}
