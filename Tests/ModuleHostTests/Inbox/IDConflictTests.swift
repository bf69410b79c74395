import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// An id is one event's: another event with the same id is refused, or becomes a dead letter, and is never taken for the
/// first.
@Suite("An id with other contents", .timeLimit(.minutes(10)))
struct IDConflictTests {
    /// The line of a push with a number in its payload.
    private static func push(_ id: String, _ number: String) -> [UInt8] {
        Array(#"{"event":"push","payload":{"aps":{},"n":\#(number)},"id":"\#(id)"}"#.utf8)
    }

    private static func submission(
        _ id: String, _ number: String, isParsed: Bool = true,
        _ fate: @escaping @Sendable (String) -> Void
    ) throws -> InboxSubmission {
        let line = push(id, number)
        let record = isParsed ? try InboxRecord(parsing: line[...]) : nil
        return InboxSubmission(line: line, id: id, record: record) {
            switch $0 {
            case .accepted(let position): fate("\(position)")
            case .duplicate: fate("duplicate")
            case .failed(let error as IDConflict): fate("not that of \(error.first)")
            case .failed(let error): fate("\(error)")
            }
        }
    }

    private static func send(
        _ id: String, _ number: String, to test: HostUnderTest
    ) async throws -> String {
        let fate = Promise<String>()
        test.inbox?.submit(try submission(id, number) { fate.keep($0) })
        return await fate.value
    }

    @Test(
        "the same event may be written in another way",
        arguments: ["3", "3.0", "3e0", "30E-1", "0.3e+1", "300e-2"])
    func same(number: String) throws {
        let first = try InboxRecord(
            parsing: #"{"event":"push","payload":{"a":[1,"é"],"aps":{},"n":3},"id":"x"}"#
                .utf8Slice)
        let again = try InboxRecord(
            parsing: #"""
                {"id":"x","time":"2026-03-01T09:41:00Z","source":"elsewhere",
                "payload":{"n":\#(number), "aps":{}, "a":[1.0,"\u00e9"]},"event":"push"}
                """#.utf8Slice)
        #expect(IDConflict("x", of: again, and: first, at: "1:1") == nil)
    }

    @Test(
        "another event is another event",
        arguments: [
            #"{"event":"push","payload":{"a":[1,"é"],"aps":{},"n":4}}"#,
            #"{"event":"push","payload":{"a":[1,"e\u0301"],"aps":{},"n":3}}"#,
            #"{"event":"push","payload":{"a":["é",1],"aps":{},"n":3}}"#,
            #"{"event":"push","payload":{"aps":{},"n":3}}"#,
            #"{"event":"push","payload":{"a":[1,"é"],"aps":{},"n":3,"b":null}}"#,
            #"{"event":"push","payload":{"a":[1,"é"],"aps":{},"n":"3"}}"#,
            #"{"event":"message","payload":{"topic":"x"}}"#,
        ])
    func other(line: String) throws {
        let first = try InboxRecord(
            parsing: #"{"event":"push","payload":{"a":[1,"é"],"aps":{},"n":3},"id":"x"}"#
                .utf8Slice)
        let other = try InboxRecord(parsing: line.utf8Slice)
        let conflict = IDConflict("x", of: other, and: first, at: "1:1")
        #expect(
            conflict?.description
                == "the id 'x' was used for an event with other contents, at 1:1: give each event an id of "
                + "its own")
    }

    @Test("it is refused, also among those that are written at once, and the first is delivered")
    func refused() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        #expect(try await Self.send("x", "3", to: test) == "1:1")
        #expect(try await Self.send("x", "3.0", to: test) == "duplicate")
        #expect(try await Self.send("x", "4", to: test) == "not that of 1:1")
        let fates = LockedList<String>()
        // While another program holds the lock, all that comes is gathered.
        let files = InboxFolder(in: StateDirectory(path: folder.path))
        let lock = try Descriptor(lockFile: files.lockPath)
        try lock.lock(.exclusive)
        let rows = [("y", "1", true), ("y", "2", true), ("y", "1e0", false), ("x", "9", false)]
        for (id, number, isParsed) in rows {
            test.inbox?.submit(
                try Self.submission(id, number, isParsed: isParsed) {
                    fates.append("\(id) \(number) \($0)")
                })
        }
        // A composed letter and a decomposed one are two ids.
        for id in ["é", "e\u{301}"] {
            test.inbox?.submit(
                try Self.submission(id, "7", isParsed: false) { _ in fates.append(id) })
        }
        lock.unlock()
        while fates.values.count < 6 { await test.settled() }
        let y = try #require(fates.values.first { $0.hasPrefix("y 1 ") }?.dropFirst(4))
        #expect(
            Set(fates.values) == [
                "y 1 \(y)", "y 2 not that of \(y)", "y 1e0 duplicate", "x 9 not that of 1:1", "é",
                "e\u{301}",
            ])
        _ = await test.outcome("last")
        #expect(probe.received("a").count == 5)
        #expect(await test.stopped() == .stopped)
        #expect(try DeadLetters(files).contents().events == [])
    }

    @Test("another program's becomes a dead letter with that reason, and a retry delivers it")
    func otherProgram() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let files = InboxFolder(in: StateDirectory(path: folder.path))
        try files.make()
        let places = try InboxWriter(files).append([
            Self.push("x", "3"), Self.push("x", "4"), Self.push("x", "30e-1"),
        ])
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await test.outcome("last")
        let letters = try DeadLetters(files).contents().events
        #expect(letters.map(\.position) == [places[1]])
        #expect(letters.map(\.line) == [Self.push("x", "4")])
        #expect(
            letters.first?.reason
                == "the id 'x' was used for an event with other contents, at \(places[0]): give each event "
                + "an id of its own")
        #expect(probe.received("a").count == 2)
        let line = try #require(try letters.first?.lineForRetry())
        _ = try folder.inboxWriter().append([line])
        _ = await test.outcome("last but one")
        #expect(probe.received("a").count == 4)
        #expect(test.inbox?.metrics.withLock { $0.duplicates } == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "where the first is gone, or cannot be read, it is a new event", arguments: [true, false])
    func gone(isRemoved: Bool) async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let files = InboxFolder(in: StateDirectory(path: folder.path))
        try files.make()
        let first = Self.push("x", "3")
        for (number, line) in [(1 as UInt32, first), (2, Self.push("y", "3"))] {
            try writeFile(line + [0x0A], to: files.path(ofSegment: number), mode: 0o600)
        }
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await test.outcome("last")
        #expect(try await Self.send("x", "4", to: test) == "not that of 1:0")
        if isRemoved {
            try folder.move("inbox/00000001.ndjson", to: "elsewhere")
        } else {
            let broken = Array(repeating: UInt8(ascii: "?"), count: first.count)
            try writeFile(broken + [0x0A], to: files.path(ofSegment: 1), mode: 0o600)
        }
        #expect(await test.stopped() == .stopped)
        let next = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        #expect(try await Self.send("x", "4", to: next).hasPrefix("2:"))
        _ = await next.outcome("last of all")
        #expect(await next.stopped() == .stopped)
    }

    @Test("a dead letter with a used id does not exclude an event with that id")
    func excludesNothing() throws {
        let inbox = try InboxUnderTest { $0.segment = 10 }
        let writer = try InboxWriter(inbox.folder)
        let places = try ["3", "4", "5"].flatMap { try writer.append([Self.push("x", $0)]) }
        let reader = try InboxReader(inbox.folder)
        var ids = RetainedIDs()
        for place in places { ids.insert("x", at: place) }
        ids.remove("x", at: places[1])
        ids.removeSegments(below: places[1].segment)
        #expect(try ids.original(of: "x", before: nil, in: reader)?.position == places[2])
    }
}

extension String {
    fileprivate var utf8Slice: ArraySlice<UInt8> { Array(utf8)[...] }
}
