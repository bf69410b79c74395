import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("PathWatch")
struct PathWatchTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for version in ["v1", "v2"] {
            try makeFolders(folder.path("data/\(version)"))
            try folder.write(version, to: "data/\(version)/file")
        }
    }

    private func link(_ name: String, to target: String) throws {
        try #require(symlink(target, folder.path(name)) == 0)
    }

    /// Has a link mean something else at one instant.
    private func `switch`(_ name: String, to target: String) throws {
        try link("\(name).new", to: target)
        try folder.move("\(name).new", to: name)
    }

    private static func isReady(_ watch: PathWatch) -> Bool {
        var set = PollSet()
        set.insert(watch.descriptor, .reading)
        return set.wait(milliseconds: 0)
    }

    @Test("a file that is written, or put in the place of another; and no other file")
    func file() throws {
        let watch = try PathWatch(folder.path("data/v1/file"))
        #expect(try !watch.takeChanges())
        try folder.write("other", to: "data/v1/other")
        #expect(try !watch.takeChanges())
        try folder.move("data/v1/other", to: "data/v1/file")
        #expect(try watch.takeChanges())
        #expect(try !watch.takeChanges())
        try AppendFile(path: folder.path("data/v1/file")).append([1])
        #expect(try watch.takeChanges())
    }

    @Test(
        "a link on the way is switched, again and again; what it led to before no longer counts",
        arguments: ["data/current", "{}/data/current"])
    func link(target: String) throws {
        // As a volume of Kubernetes: the file is a link, too.
        try link("data/current", to: "v1")
        try link("file", to: target.replacing("{}", with: folder.path) + "/file")
        let watch = try PathWatch(folder.path("file"))
        for version in ["v2", "v1", "v2"] {
            try self.switch("data/current", to: version)
            #expect(try watch.takeChanges(), "\(version)")
            let other = version == "v1" ? "v2" : "v1"
            try folder.write("written", to: "data/\(other)/file")
            #expect(try !watch.takeChanges(), "\(version)")
            #expect(!Self.isReady(watch))
            try folder.write("written", to: "data/\(version)/file")
            #expect(try watch.takeChanges(), "\(version)")
        }
        // What is no longer needed goes.
        try #require(unlink(folder.path("data/v1/file")) == 0)
        try #require(rmdir(folder.path("data/v1")) == 0)
        #expect(try !watch.takeChanges())
    }

    @Test("a link in the middle of a path, and one that leads upwards")
    func middle() throws {
        try makeFolders(folder.path("app"))
        try link("app/data", to: "../data/v1/../v1")
        let watch = try PathWatch(folder.path("app/./data/file"))
        try folder.write("written", to: "data/v1/file")
        #expect(try watch.takeChanges())
        try self.switch("app/data", to: "../data/v2")
        #expect(try watch.takeChanges())
        try folder.write("written", to: "data/v2/file")
        #expect(try watch.takeChanges())
    }

    @Test("a folder takes the place of another, a file goes and comes")
    func replaced() throws {
        let watch = try PathWatch(folder.path("data/v1/file"))
        try folder.move("data/v1", to: "data/v0")
        #expect(try watch.takeChanges())
        try folder.write("written", to: "data/v0/file")
        #expect(try !watch.takeChanges())
        try folder.move("data/v2", to: "data/v1")
        #expect(try watch.takeChanges())
        try folder.write("written", to: "data/v1/file")
        #expect(try watch.takeChanges())
        // A folder above it.
        try folder.move("data", to: "elsewhere")
        #expect(try watch.takeChanges())
        try folder.move("elsewhere", to: "data")
        #expect(try watch.takeChanges())
        try folder.write("written", to: "data/v1/file")
        #expect(try watch.takeChanges())
    }

    @Test("a file that is removed, or moved away, is another one")
    func removed() throws {
        let watch = try PathWatch(folder.path("data/v1/file"))
        try folder.move("data/v1/file", to: "data/v1/away")
        #expect(try watch.takeChanges())
        try folder.move("data/v1/away", to: "data/v1/file")
        #expect(try watch.takeChanges())
        try #require(unlink(folder.path("data/v1/file")) == 0)
        #expect(try watch.takeChanges())
        try folder.write("", to: "data/v1/file")
        #expect(try watch.takeChanges())
    }

    @Test("what is not there is waited for: a file, what a link leads to, a folder")
    func missing() throws {
        let watch = try PathWatch(folder.path("later/file"))
        try folder.write("", to: "unlike")
        #expect(try !watch.takeChanges())
        try link("later", to: "more")
        #expect(try watch.takeChanges())
        try makeFolders(folder.path("more"))
        #expect(try watch.takeChanges())
        try folder.write("", to: "more/file")
        #expect(try watch.takeChanges())
    }

    @Test("links in a circle are what is not there")
    func circle() throws {
        try link("a", to: "b")
        try link("b", to: "a")
        let watch = try PathWatch(folder.path("a"))
        try self.switch("a", to: "data/v1/file")
        #expect(try watch.takeChanges())
        try folder.write("written", to: "data/v1/file")
        #expect(try watch.takeChanges())
    }
}
