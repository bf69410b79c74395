import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Links in the place of files")
struct LinksTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func link(_ name: String, to target: String) throws {
        try #require(symlink(target, folder.path(name)) == 0)
    }

    private func append(_ text: String, to name: String, _ links: LinkPolicy) throws(FileError) {
        try AppendFile(path: folder.path(name), links: links).append(Array(text.utf8))
    }

    private static let anyUsers = LinkPolicy.followed { _ in true }
    private static let noUsers = LinkPolicy.followed { _ in false }

    @Test("a link that is not followed is an error in words, and its target is left alone")
    func refused() throws {
        try folder.write("a", to: "target")
        try link("link", to: "target")
        try link("dangling", to: "missing")
        let mine = "user \(geteuid()) made this symbolic link, which is not followed"
        let none = "it is a symbolic link, which is not followed here"
        for (policy, reason) in [(LinkPolicy.refused, none), (Self.noUsers, mine)] {
            for name in ["link", "dangling"] {
                let error = #expect(throws: FileError.self) { try append("b", to: name, policy) }
                #expect(error?.description == "cannot open '\(folder.path(name))': \(reason)")
            }
            let error = #expect(throws: FileReadError.self) {
                try readFile(at: folder.path("link"), limit: 10, links: policy)
            }
            #expect(error?.description == "\(folder.path("link")): \(reason)")
        }
        #expect(try folder.text(of: "target") == "a")
        #expect(!folder.names.contains("missing"))
    }

    @Test(
        "a link that is trusted is followed, from link to link, and to a file that is still to be made"
    )
    func followed() throws {
        try makeFolders(folder.path("deep/er"))
        try link("a", to: "deep/b")
        try link("deep/b", to: folder.path("deep/er/c"))
        try link("deep/er/c", to: "../../target")
        for text in ["x", "y"] { try append(text, to: "a", Self.anyUsers) }
        #expect(try folder.text(of: "target") == "xy")
        #expect(try folder.mode(of: "target") == 0o600)
        #expect(try readFile(at: folder.path("a"), limit: 10, links: .own) == Array("xy".utf8))
    }

    @Test("a chain of links is as trusted as the least of them")
    func chain() throws {
        try link("a", to: "b")
        try link("b", to: "target")
        let seen = LockedList<UInt32>()
        let first = LinkPolicy.followed { owner in
            seen.append(owner)
            return seen.values.count == 1
        }
        #expect(throws: FileError.self) { try append("x", to: "a", first) }
        #expect(seen.values == [geteuid(), geteuid()])
        #expect(!folder.names.contains("target"))
    }

    @Test("of links in a path sixteen are followed, and no more")
    func depth() throws {
        try link("l", to: ".")
        func append(through count: Int) throws {
            let path = String(repeating: "l/", count: count) + "a"
            try AppendFile(path: path, below: folder.path, links: Self.anyUsers)
                .append(Array("x".utf8))
        }
        try append(through: 16)
        #expect(throws: FileError.self) { try append(through: 17) }
        #expect(try folder.text(of: "a") == "x")
    }

    @Test("links that lead in a circle are an error")
    func circle() throws {
        try link("a", to: "b")
        try link("b", to: "a")
        let error = #expect(throws: FileError.self) { try append("x", to: "a", Self.anyUsers) }
        #expect(error?.reason == .tooManyLinks)
    }

    @Test("devices and open files are reached by the system's own links")
    func descriptors() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let reading = Descriptor(owning: ends[0])
        let writing = Descriptor(owning: ends[1])
        try link("out", to: "/proc/self/fd/\(writing.number)")
        try append("x", to: "out", Self.anyUsers)
        #expect(try reading.read(upTo: 10) == Array("x".utf8))
        let error = #expect(throws: FileError.self) { try append("x", to: "out", Self.noUsers) }
        #expect(error?.explanation != nil)
    }

    @Test("below a folder each link counts, not only the last")
    func below() throws {
        try makeFolders(folder.path("state"))
        try makeFolders(folder.path("elsewhere/logs"))
        try link("state/logs", to: "../elsewhere/logs")
        func open(_ path: String, _ links: LinkPolicy) throws(FileError) {
            try AppendFile(path: path, below: folder.path("state"), links: links)
                .append(Array("x".utf8))
        }
        let error = #expect(throws: FileError.self) { try open("logs/a", Self.noUsers) }
        #expect(
            error?.description == "cannot open '\(folder.path("state"))/logs/a': user \(geteuid()) "
                + "made this symbolic link, which is not followed")
        try open("logs/a", Self.anyUsers)
        #expect(try folder.text(of: "elsewhere/logs/a") == "x")
        // An absolute path is the decision of its caller, but for the file itself.
        try open(folder.path("state/logs/b"), Self.noUsers)
        #expect(try folder.text(of: "elsewhere/logs/b") == "x")
        #expect(throws: FileError.self) { try open("missing/a", Self.anyUsers) }
        #expect(throws: FileError.self) { try open("logs/a/b", Self.anyUsers) }
    }

    @Test(
        "a link that another user made is not followed",
        .enabled("only root can make a link of another user's") { geteuid() == 0 })
    func foreign() throws {
        try folder.write("a", to: "target")
        try link("link", to: "target")
        try append("b", to: "link", .own)
        try #require(lchown(folder.path("link"), 65_534, 65_534) == 0)
        let error = #expect(throws: FileError.self) { try append("c", to: "link", .own) }
        #expect(
            error?.explanation == "user 65534 made this symbolic link, which is not followed")
        #expect(try folder.text(of: "target") == "ab")
    }

    @Test("a lock is for this user alone, also one that an earlier version made for all to read")
    func locks() throws {
        _ = try Descriptor(lockFile: folder.path("new"))
        #expect(try folder.mode(of: "new") == 0o600)
        try folder.write("", to: "old")
        try #require(chmod(folder.path("old"), 0o644) == 0)
        _ = try Descriptor(lockFile: folder.path("old"))
        #expect(try folder.mode(of: "old") == 0o600)
    }
}
