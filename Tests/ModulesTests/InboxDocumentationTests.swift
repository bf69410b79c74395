import ModuleHostCore
import TestSupport
import Testing

/// The programs of docs/inbox.md do what the text says: they are run as they stand there.
@Suite("Inbox documentation")
struct InboxDocumentationTests {
    /// A way to append that the text shows.
    enum Example: String, CaseIterable, CustomTestStringConvertible {
        case sh
        case python

        var testDescription: String { rawValue }

        /// Runs the program with the arguments that it wants.
        func send(_ event: String, to state: TemporaryFolder) throws -> HostProcess.Outcome {
            let code = try DocumentationTests.blocks(in: "docs/inbox.md", language: rawValue)
            let program = self == .sh ? ["/bin/sh", "-c"] : ["python3", "-c"]
            var words = program + [try #require(code.first)]
            // What the shell calls itself.
            if self == .sh { words.append("inbox-send") }
            return try HostProcess.run(words + [state.path, event], program: "/usr/bin/env")
        }

        /// Whether what it needs is on this machine.
        var isHere: Bool {
            let tools = self == .sh ? ["flock", "sync", "truncate"] : ["python3"]
            return tools.allSatisfy {
                (try? HostProcess.run([$0, "--version"], program: "/usr/bin/env"))?.exit == .code(0)
            }
        }
    }

    private static func inbox(in state: TemporaryFolder) throws -> InboxFolder {
        let folder = InboxFolder(in: StateDirectory(path: state.path))
        try folder.make()
        return folder
    }

    @Test("events are accepted, whole, behind a torn line too", arguments: Example.allCases)
    func accepted(example: Example) throws {
        guard example.isHere else {
            print(
                "notice: no \(example.rawValue) here with what the example of docs/inbox.md needs")
            return
        }
        let state = try TemporaryFolder()
        let folder = try Self.inbox(in: state)
        let first = try example.send(#"{"event":"push","payload":{"a":"é"},"id":"1"}"#, to: state)
        #expect(first.exit == .code(0), "\(first)")
        // One writer was cut off, and another began a segment.
        try AppendFile(path: folder.path(ofSegment: 1)).append(Array("\n{\"event\":\"pu".utf8))
        _ = try example.send(#"{"event":"push","payload":{},"id":"2"}"#, to: state)
        try writeFile([], to: folder.path(ofSegment: 10))
        _ = try example.send(#"{"event":"push","payload":{},"id":"3"}"#, to: state)

        let items = try InboxReader(folder).next(atMost: 10)
        let ids = items.map { item in try? InboxRecord(parsing: item.bytes).id }
        #expect(ids == ["1", nil, "2", "3"])
        #expect(items.map(\.position.segment) == [1, 1, 1, 10])
        // It can be appended to after, in turn.
        let lock = try Descriptor(lockFile: folder.lockPath)
        #expect(try lock.tryLock(.exclusive))
    }

    @Test("a full segment is followed by the next one", arguments: Example.allCases)
    func full(example: Example) throws {
        guard example.isHere else { return }
        let state = try TemporaryFolder()
        let folder = try Self.inbox(in: state)
        let full = [UInt8](repeating: 0x0A, count: folder.limits.segment)
        try writeFile(full, to: folder.path(ofSegment: 19), mode: 0o600)
        for id in ["1", "2"] {
            let sent = try example.send(#"{"event":"push","payload":{},"id":"\#(id)"}"#, to: state)
            #expect(sent.exit == .code(0), "\(sent)")
        }
        let items = try InboxReader(folder).next(atMost: 10)
        #expect(items.map(\.position.segment) == [20, 20])
        #expect(try folder.segments() == [1, 19, 20])
        #expect(try state.mode(of: "inbox/00000020.ndjson") == 0o600)
    }

    @Test("where nothing can be accepted they fail, and leave nothing", arguments: Example.allCases)
    func refused(example: Example) throws {
        guard example.isHere else { return }
        let state = try TemporaryFolder()
        let none = try example.send(#"{"event":"push","payload":{}}"#, to: state)
        #expect(none.exit != .code(0))
        #expect(state.names == [])
    }

    @Test("many at once are all accepted, with this host's own writer among them")
    func many() async throws {
        let state = try TemporaryFolder()
        let folder = try Self.inbox(in: state)
        let here = Example.allCases.filter(\.isHere)
        try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                for example in here {
                    group.addTask {
                        let event = #"{"event":"push","payload":{},"id":"\#(example)\#(number)"}"#
                        let outcome = try example.send(event, to: state)
                        #expect(outcome.exit == .code(0), "\(outcome)")
                    }
                }
                group.addTask {
                    let line = InboxRecord.line(
                        .push, payload: try JSONValue(parsing: "{}"), id: "own\(number)")
                    _ = try InboxWriter(folder).append([line])
                }
            }
            try await group.waitForAll()
        }
        let ids = try InboxReader(folder).next(atMost: 100).map { item in
            try InboxRecord(parsing: item.bytes).id ?? ""
        }
        let expected = (here.map(\.rawValue) + ["own"]).flatMap { name in
            (0..<4).map { "\(name)\($0)" }
        }
        #expect(ids.sorted() == expected.sorted())
    }

    @Test("the record that it shows is one")
    func record() throws {
        let line = try #require(
            try DocumentationTests.blocks(in: "docs/inbox.md", language: "json").first)
        let record = try InboxRecord(parsing: Array(line.utf8)[...])
        #expect(record.event.kind == .push)
        #expect(record.id == "order-17")
    }
}
