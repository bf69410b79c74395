import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("InboxWriter")
struct InboxWriterTests {
    // MARK: The format

    @Test("one write is a newline and the lines, each with a newline")
    func format() throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder)
        #expect(try writer.append("{1}") == ["1:1"])
        #expect(try inbox.text() == "\n{1}\n")
        #expect(try writer.append("{22}", "{3}", "{444}") == ["1:6", "1:11", "1:15"])
        #expect(try inbox.text() == "\n{1}\n\n{22}\n{3}\n{444}\n")
        #expect(try writer.append([]) == [])
        #expect(
            try inbox.read().map(\.description) == [
                "1:1 {1} 1:5", "1:6 {22} 1:11", "1:11 {3} 1:15", "1:15 {444} 1:21",
            ])
    }

    @Test("the positions that it returns are those that a reader finds")
    func positions() throws {
        let inbox = try InboxUnderTest { $0.segment = 200 }
        let writer = try InboxWriter(inbox.folder)
        var random = SeededGenerator(seed: 1)
        var positions: [EventPosition] = []
        var lines: [String] = []
        for _ in 0..<60 {
            let batch = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                line(ofLength: Int.random(in: 1...40, using: &random))
            }
            positions += try writer.append(batch.map { Array($0.utf8) })
            lines += batch
        }
        let found = try inbox.read()
        #expect(found.map(\.position) == positions)
        #expect(found.map(\.line) == lines)
        #expect(positions == positions.sorted())
        #expect(try inbox.folder.segments().count > 5)
    }

    @Test("after a torn tail the next record is whole")
    func tornTail() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n{1}\n\n{to")
        let writer = try InboxWriter(inbox.folder)
        #expect(try writer.append("{2}") == ["1:10"])
        #expect(
            try inbox.read().map(\.description) == [
                "1:1 {1} 1:5", "1:6 {to 1:10", "1:10 {2} 1:14",
            ])
    }

    // MARK: Segments

    @Test("a full segment is appended to no longer; a batch stands in one segment")
    func roll() throws {
        let inbox = try InboxUnderTest { $0.segment = 20 }
        let writer = try InboxWriter(inbox.folder)
        #expect(try writer.append(line(ofLength: 17)) == ["1:1"])
        #expect(try writer.append(line(ofLength: 30), "{}") == ["1:20", "1:51"])
        #expect(try writer.append("{}") == ["2:1"])
        #expect(try inbox.state.mode(of: "inbox/00000002.ndjson") == 0o600)
        #expect(try inbox.text(2) == "\n{}\n")
    }

    @Test("a segment with exactly as many bytes as it may have is full")
    func exactlyFull() throws {
        let inbox = try InboxUnderTest { $0.segment = 20 }
        let writer = try InboxWriter(inbox.folder)
        #expect(try writer.append(line(ofLength: 18)) == ["1:1"])
        #expect(try inbox.bytes().count == 20)
        #expect(try writer.append("{}") == ["2:1"])
    }

    @Test("a full segment can be rolled without an append, for those who only append")
    func rollWhenFull() throws {
        let inbox = try InboxUnderTest { $0.segment = 20 }
        let writer = try InboxWriter(inbox.folder)
        try inbox.put("\n{\"a\":1}\n")
        #expect(try !writer.rollWhenFull())
        #expect(try inbox.folder.segments() == [1])
        try inbox.appendBare("\n{\"b\":222222}\n")
        #expect(try writer.rollWhenFull())
        #expect(try !writer.rollWhenFull())
        #expect(try inbox.folder.segments() == [1, 2])
        #expect(try writer.append("{}") == ["2:1"])
    }

    @Test("it goes on in the segment that another program began")
    func foreignRoll() throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder)
        _ = try writer.append("{}")
        try inbox.put("\n{\"b\":2}\n", in: 2)
        #expect(try writer.append("{}") == ["2:10"])
        #expect(try inbox.text() == "\n{}\n")
    }

    @Test("it goes on in the newest segment when those it knows are removed")
    func removed() throws {
        let inbox = try InboxUnderTest { $0.segment = 10 }
        let writer = try InboxWriter(inbox.folder)
        let other = try InboxWriter(inbox.folder)
        #expect(try writer.append(line(ofLength: 10)) == ["1:1"])
        #expect(try other.append(line(ofLength: 10)) == ["2:1"])
        #expect(try other.append("{}") == ["3:1"])
        try inbox.folder.removeSegments(below: "3:0")
        #expect(try writer.append("{}") == ["3:5"])
    }

    @Test("after the last number nothing is accepted, and the text says what to do")
    func numbersUsedUp() throws {
        let inbox = try InboxUnderTest { $0.segment = 10 }
        try inbox.put("\n{}\n", in: .max)
        let writer = try InboxWriter(inbox.folder)
        #expect(try writer.append(line(ofLength: 10)) == ["4294967295:5"])
        let error = #expect(throws: InboxError.self) { try writer.append("{}") }
        #expect(
            error?.description
                == "the inbox '\(inbox.folder.path)' has used all its segment numbers; not accepted: "
                + "let the host deliver what is pending, stop it, and move the folder away")
        // Other programs may go on, and that it is full is not an error.
        #expect(try !writer.rollWhenFull())
    }

    @Test("a removed lock file is made again, so that those who come later are excluded")
    func removedLock() throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder)
        try removeFile(inbox.folder.lockPath)
        _ = try writer.append("{}")
        let lock = try Descriptor(lockFile: inbox.folder.lockPath)
        #expect(try lock.tryLock(.exclusive))
        #expect(inbox.state.names == ["inbox"])
    }

    // MARK: What is refused

    @Test("a line that is none is refused before anything is written, and its batch with it")
    func refused() throws {
        let inbox = try InboxUnderTest {
            $0.line = 10
            $0.batch = 40
        }
        let writer = try InboxWriter(inbox.folder)
        let rows: [([String], InboxError, String)] = [
            (
                ["{}", line(ofLength: 11)], .lineTooLong(bytes: 11, limit: 10),
                "a record of 11 bytes is longer than the 10 that it may have; not accepted"
            ),
            (["{}", "{\n}"], .notOneLine, "a record is one line of text; not accepted"),
            (["{}", ""], .notOneLine, "a record is one line of text; not accepted"),
            (
                Array(repeating: line(ofLength: 10), count: 4), .batchTooLarge(bytes: 45),
                "45 bytes are too many at once; not accepted"
            ),
        ]
        for (lines, error, text) in rows {
            #expect(throws: error) { try writer.append(lines.map { Array($0.utf8) }) }
            #expect(error.description == text)
        }
        #expect(try inbox.text() == "")
        #expect(try writer.append(line(ofLength: 10)) == ["1:1"])
    }

    // MARK: Disks that fail

    @Test("on a full disk nothing is accepted, and nothing is left of it")
    func shortWrite() async throws {
        let inbox = try InboxUnderTest()
        let path = inbox.state.path
        try inbox.put("\n{\"event\":1}\n")
        // A limit of the process stands for the disk: the system writes what there is room for.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let folder = InboxFolder(in: StateDirectory(path: path))
            _ = signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 40, rlim_max: 40)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let writer = try InboxWriter(folder)
            let error = #expect(throws: InboxError.self) {
                try writer.append("{\"event\":2}", "{\"event\":3}", "{\"event\":4}")
            }
            #expect(
                error?.description
                    == "cannot write '\(path)/inbox/00000001.ndjson': File too large; not accepted: "
                    + "let this process write larger files (ulimit -f)")
            #expect(try writer.append("{\"event\":5}") == ["1:14"])
        }
        #expect(try inbox.text() == "\n{\"event\":1}\n\n{\"event\":5}\n")
    }

    @Test("on a full file system nothing is accepted until there is room again")
    func fullFileSystem() throws {
        let mounted = try TemporaryFolder()
        guard mount("none", mounted.path, "tmpfs", 0, "size=64k") == 0 else {
            print("notice: no tmpfs can be mounted here, so no full one is tried")
            return
        }
        defer { umount2(mounted.path, 2) }
        let folder = InboxFolder(in: StateDirectory(path: mounted.path))
        try folder.make()
        let writer = try InboxWriter(folder)
        _ = try writer.append("{}")
        let error = #expect(throws: InboxError.self) {
            try writer.append([Array(line(ofLength: 100_000).utf8)])
        }
        #expect(
            error?.description
                == "cannot write '\(folder.path(ofSegment: 1))': No space left on device; "
                + "not accepted: free space on this disk, then send again")
        #expect(try InboxReader(folder).all().map(\.description) == ["1:1 {} 1:4"])
        #expect(try writer.append("{}") == ["1:5"])
    }

    /// A disk that fails on demand.
    private final class Disk {
        var failures = 0
        var onFailure: () -> Void = {}
        func synchronize(_ segment: SegmentFile) throws(FileError) {
            failures -= 1
            if failures >= 0 {
                onFailure()
                throw FileError("synchronize", segment.path, SystemError(code: EIO))
            }
        }
    }

    @Test("when the disk fails nothing is accepted, and its segment is not used again")
    func failedSynchronize() throws {
        let inbox = try InboxUnderTest()
        let disk = Disk()
        let writer = try InboxWriter(inbox.folder, SegmentList(inbox.folder)) {
            segment throws(FileError) in
            try disk.synchronize(segment)
        }
        #expect(try writer.append("{1}") == ["1:1"])
        disk.failures = 1
        let error = #expect(throws: InboxError.self) { try writer.append("{2}", "{3}") }
        #expect(
            error?.description
                == "cannot synchronize '\(inbox.folder.path(ofSegment: 1))': Input/output error; "
                + "not accepted")
        #expect(try inbox.text() == "\n{1}\n")
        #expect(try inbox.folder.segments() == [1, 2])
        #expect(try writer.append("{4}") == ["2:1"])
        #expect(try inbox.read().map(\.line) == ["{1}", "{4}"])
    }

    @Test("where the segment cannot be rolled at once, it is before the next append")
    func failedRoll() throws {
        let inbox = try InboxUnderTest()
        let disk = Disk()
        let writer = try InboxWriter(inbox.folder, SegmentList(inbox.folder)) {
            segment throws(FileError) in
            try disk.synchronize(segment)
        }
        _ = try writer.append("{1}")
        disk.failures = 1
        // In the way of the new segment, and gone later: no file can be created there.
        let next = inbox.folder.path(ofSegment: 2)
        disk.onFailure = { symlink("nowhere", next) }
        #expect(throws: InboxError.self) { try writer.append("{2}") }
        let error = #expect(throws: InboxError.self) { try writer.append("{3}") }
        #expect(
            error?.description
                == "cannot open '\(next)': it is a symbolic link, which is not followed here; "
                + "not accepted: remove it")
        try removeFile(next)
        #expect(try writer.append("{4}") == ["2:1"])
        #expect(try inbox.read().map(\.line) == ["{1}", "{4}"])
    }

    @Test("without a folder nothing is accepted")
    func noFolder() throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder)
        try inbox.state.move("inbox", to: "elsewhere")
        let error = #expect(throws: InboxError.self) { try writer.append("{}") }
        #expect(
            error?.description
                == "cannot list '\(inbox.folder.path)': No such file or directory; not accepted: "
                + "the inbox or a part of it was removed; a host creates it when it starts")
        #expect(throws: InboxError.self) { try InboxWriter(inbox.folder) }
    }

    @Test("a folder that is removed while it is open keeps no writer waiting")
    func removedFolder() throws {
        let inbox = try InboxUnderTest()
        let writer = try InboxWriter(inbox.folder)
        #expect(try writer.append("{1}") == ["1:1"])
        let other = try Descriptor(lockFile: inbox.folder.lockPath)
        for path in [inbox.folder.lockPath, inbox.folder.path(ofSegment: 1), inbox.folder.path] {
            #expect(Glibc.remove(path) == 0)
        }
        let error = #expect(throws: InboxError.self) { try writer.append("{2}") }
        #expect(
            error?.description
                == "cannot open '\(inbox.folder.lockPath)': No such file or directory; not accepted: "
                + "the inbox or a part of it was removed; a host creates it when it starts")
        // As a reader in the same host does, which has opened the lock for itself.
        #expect(try other.tryLock(.shared))
        other.unlock()
        try makeFolders(inbox.folder.path)
        #expect(try writer.append("{3}") == ["2:1"])
    }

    // MARK: Many

    @Test("what many writers append stands there once, whole, and at the positions they were given")
    func manyWriters() async throws {
        let inbox = try InboxUnderTest { $0.segment = 4096 }
        let folder = inbox.folder
        let returned = LockedList<[EventPosition: String]>()
        await withThrowingTaskGroup { group in
            for name in 0..<6 {
                group.addTask {
                    let writer = try InboxWriter(folder)
                    var random = SeededGenerator(seed: UInt64(name))
                    var positions: [EventPosition: String] = [:]
                    for number in 0..<40 {
                        let lines = (0..<Int.random(in: 1...4, using: &random)).map {
                            "{\"w\":\(name),\"n\":\(number),\"l\":\($0)}"
                        }
                        let places = try writer.append(lines.map { Array($0.utf8) })
                        for (place, line) in zip(places, lines) { positions[place] = line }
                    }
                    returned.append(positions)
                }
            }
        }
        let found = try inbox.read()
        let all = returned.values.reduce(into: [:]) { $0.merge($1) { one, _ in one + "?" } }
        #expect(found.count == all.count)
        for item in found { #expect(all[item.position] == item.line) }
        #expect(found.allSatisfy { $0.error == nil })
        #expect(try inbox.folder.segments().count > 2)
    }
}
