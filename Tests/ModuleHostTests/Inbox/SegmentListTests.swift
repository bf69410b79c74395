import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("SegmentList, shared by a reader and a writer", .timeLimit(.minutes(10)))
struct SegmentListTests {
    private let inbox: InboxUnderTest
    private let list: SegmentList
    private let writer: InboxWriter
    private let reader: InboxReader

    init() throws {
        inbox = try InboxUnderTest { $0.segment = 200 }
        list = try SegmentList(watching: inbox.folder)
        writer = try InboxWriter(inbox.folder, list)
        reader = try InboxReader(inbox.folder, list, from: nil)
    }

    private func lines() throws -> [String] { try reader.all().map(\.line) }

    @Test("the lock is not taken for what this host has appended, nor where nothing has changed")
    func withoutLock() throws {
        let lock = inbox.folder.lockPath
        for number in 1...3 {
            #expect(try writer.append("{\(number)}").count == 1)
            // Taking the lock creates its file again.
            try removeFile(lock)
            #expect(try lines() == ["{\(number)}"])
            #expect(try lines() == [])
            #expect(!fileExists(lock))
        }
        try inbox.appendBare("\n{4}\n")
        #expect(try lines() == ["{4}"])
        #expect(fileExists(lock))
    }

    @Test("the reader finds each line that this host or another program appends", arguments: 0..<20)
    func everyWriter(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let other = try InboxWriter(inbox.folder)
        var expected: [String] = []
        var found: [String] = []
        for number in 0..<200 {
            let line = "{\(number)}"
            // The folder is listed each time from then on.
            if number == 100, !seed.isMultiple(of: 3) { list.endWatch() }
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: _ = try writer.append(line)
            case 2: _ = try other.append(line)
            case 3:
                try inbox.appendBare(
                    "\n\(line)\n", to: try #require(try inbox.folder.segments().last))
            default:
                try inbox.put("", in: try #require(try inbox.folder.segments().last) + 1)
                continue
            }
            expected.append(line)
            if Bool.random(using: &random) {
                found += try lines()
                #expect(found == expected)
            }
        }
        #expect(try found + lines() == expected)
    }

    @Test("it reports which changes make another list of segments")
    func listChanges() throws {
        func isAnother(_ change: () throws -> Void) throws -> Bool {
            _ = try list.numbers()
            let before = list.listChangeCount
            try change()
            list.takeChanges()
            return list.listChangeCount != before
        }
        for number: UInt32 in 2...3 {
            #expect(try isAnother { try inbox.put("", in: number) })
        }
        let before = list.changeCount
        #expect(try !isAnother { try inbox.state.write("x", to: "inbox/cursor") })
        #expect(list.changeCount == before)
        #expect(try !isAnother { try inbox.appendBare("\n{}\n", to: 3) })
        #expect(list.changeCount > before)
        #expect(try isAnother { try inbox.put("", in: 2) })
    }

    @Test("the size of a segment that was removed is not known any more")
    func removed() throws {
        #expect(try writer.append("{}").count == 1)
        #expect(try lines() == ["{}"])
        #expect(try reader.newestEnd() == SegmentList.End(segment: 1, size: 4))
        try removeFile(inbox.folder.path(ofSegment: 1))
        #expect(try reader.newestEnd() == nil)
    }

    @Test("another folder in the place of the inbox is not watched")
    func elsewhere() throws {
        let opened = try inbox.folder.opened()
        #expect(try SegmentList(watching: opened).isWatched)
        try inbox.state.move("inbox", to: "away")
        try makeFolders(inbox.folder.path)
        #expect(try !SegmentList(watching: opened).isWatched)
    }

    @Test("a record that another reader has found is read, whatever was reported")
    func foundByAnother() throws {
        // By a name in another folder: the system does not report that.
        let name = inbox.state.path("name")
        try #require(link(inbox.folder.path(ofSegment: 1), name) == 0)
        #expect(try lines() == [])
        try AppendFile(path: name).append(Array("\n{1}\n".utf8))
        #expect(try lines() == [])
        let other = try InboxReader(inbox.folder, list, from: nil)
        let place = try #require(try other.next(atMost: 1).first).position
        #expect(try reader.read(at: place)?.bytes.elementsEqual("{1}".utf8) == true)
    }
}
