import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("FolderWatch")
struct FolderWatchTests {
    private static func isReady(_ watch: FolderWatch) -> Bool {
        var set = PollSet()
        set.insert(watch.descriptor, .reading)
        return set.wait(milliseconds: 0)
    }

    @Test(
        "it names what was created, written or put in the place of another, and not what was removed"
    )
    func names() throws {
        let folder = try TemporaryFolder()
        let watch = try FolderWatch(folder.path)
        #expect(!Self.isReady(watch))
        #expect(watch.takeChanges().isEmpty)

        let file = try AppendFile(path: folder.path("a"))
        #expect(Self.isReady(watch))
        #expect(watch.takeChanges() == .init(names: ["a"]))
        #expect(!Self.isReady(watch))

        try file.append([1])
        #expect(watch.takeChanges() == .init(names: ["a"]))

        try folder.write("x", to: "b")
        let names = watch.takeChanges().names
        #expect(names.contains("b"))
        // Beside it, the file that took its place.
        #expect(names.count == 2)

        try folder.move("b", to: "c")
        #expect(watch.takeChanges() == .init(names: ["c"]))
        try removeFile(folder.path("c"))
        #expect(watch.takeChanges().isEmpty)
    }

    @Test("after its end nothing is reported")
    func ended() throws {
        let folder = try TemporaryFolder()
        let watch = try FolderWatch(folder.path)
        watch.end()
        #expect(watch.takeChanges() == .init(isOver: true))
        try folder.write("x", to: "a")
        #expect(watch.takeChanges().isEmpty)
        #expect(!Self.isReady(watch))
    }

    @Test("many changes are taken at once")
    func many() throws {
        let folder = try TemporaryFolder()
        let watch = try FolderWatch(folder.path)
        let names = (0..<2000).map { "\(line(ofLength: 40))\($0)" }
        for name in names { try makeFolders(folder.path(name)) }
        #expect(watch.takeChanges() == .init(names: Set(names)))
    }

    @Test("a folder that goes away ends it, which is reported")
    func over() throws {
        let parent = try TemporaryFolder()
        let path = parent.path("watched")
        try makeFolders(path)
        let removed = try FolderWatch(path)
        try #require(rmdir(path) == 0)
        #expect(removed.takeChanges().isOver)

        try makeFolders(path)
        let moved = try FolderWatch(path)
        try parent.move("watched", to: "elsewhere")
        #expect(moved.takeChanges().isOver)
    }

    @Test("what is no folder cannot be watched")
    func noFolder() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "a")
        for (path, code) in [(folder.path("a"), ENOTDIR), (folder.path("none"), ENOENT)] {
            #expect(throws: FileError("watch", path, SystemError(code: code))) {
                try FolderWatch(path)
            }
        }
    }
}
