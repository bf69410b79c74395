import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// An event is known by its id from its acceptance on, whether it was read or not.
@Suite("Known ids", .timeLimit(.minutes(10)))
struct KnownIDsTests {
    private static func inbox(in folder: TemporaryFolder) -> InboxFolder {
        InboxFolder(in: StateDirectory(path: folder.path))
    }

    /// How often the log has an event of this id.
    private static func count(_ id: String, in folder: TemporaryFolder) throws -> Int {
        try InboxReader(inbox(in: folder)).next(atMost: .max, bytes: .max).count { item in
            try InboxRecord(item).id == id
        }
    }

    /// What became of an event that was handed in, in a word.
    private static func fate(_ fate: InboxSubmission.Acceptance) -> String {
        switch fate {
        case .accepted: "accepted"
        case .duplicate: "duplicate"
        case .failed(let error): "\(error)"
        }
    }

    private static func send(_ id: String?, to test: HostUnderTest) async -> String {
        let promise = Promise<String>()
        test.submit(id) { promise.keep(fate($0)) }
        return await promise.value
    }

    @Test("an id that was accepted is known, however far behind the modules are")
    func backlog() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("a push") { module in
            module.noteEvent()
            door.pass()
        }
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        // More than the lane is given at a time.
        let count = 2 * InboxFeeder.Limits.window
        for number in 0..<count { #expect(await Self.send("\(number)", to: test) == "accepted") }
        for number in [count - 1, 0] {
            #expect(await Self.send("\(number)", to: test) == "duplicate")
            #expect(try Self.count("\(number)", in: folder) == 1)
        }
        #expect(test.inbox?.metrics.withLock { $0.duplicates } == 2)
        door.open()
        _ = await test.outcome("last")
        #expect(probe.received("a").count == count + 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("of two with one id that are written at once the second is a duplicate of the first")
    func groupCommit() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await test.outcome()
        let fates = LockedList<String>()
        // While another program holds the lock, all that comes is gathered.
        let lock = try Descriptor(lockFile: Self.inbox(in: folder).lockPath)
        try lock.lock(.exclusive)
        for id in [nil, "x", "y", "x", nil, "x"] {
            test.submit(id) { fates.append("\(id ?? "-") \(Self.fate($0))") }
        }
        lock.unlock()
        while fates.values.count < 6 { await test.settled() }
        #expect(
            fates.values.sorted() == [
                "- accepted", "- accepted", "x accepted", "x duplicate", "x duplicate",
                "y accepted",
            ])
        #expect(try Self.count("x", in: folder) == 1)
        // Where the first is not accepted, none is.
        try folder.move("inbox", to: "away")
        try lock.lock(.exclusive)
        for _ in 0..<2 { test.submit("z") { fates.append(Self.fate($0)) } }
        lock.unlock()
        while fates.values.count < 8 { await test.settled() }
        #expect(fates.values.suffix(2).allSatisfy { $0.contains("is not the folder") })
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "what is not read yet is known at a start, before READY and behind modules that are stuck")
    func start() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("a push") { module in
            module.noteEvent()
            door.pass()
        }
        try Self.inbox(in: folder).make()
        let writer = try InboxWriter(Self.inbox(in: folder))
        _ = try writer.append((0..<5000).map { HostUnderTest.push("\($0)") })
        let test = try HostUnderTest.durable("a", in: folder, probe: probe)
        for id in ["4999", "0"] { #expect(await Self.send(id, to: test) == "duplicate") }
        _ = try await test.launched()
        #expect(await Self.send("4998", to: test) == "duplicate")
        #expect(await Self.send("new", to: test) == "accepted")
        #expect(await Self.send("new", to: test) == "duplicate")
        door.open()
        _ = await test.outcome("last")
        #expect(probe.received("a").count == 5002)
        #expect(await test.stopped() == .stopped)
    }

    @Test("an event without an id does not wait until the ids are known, one with an id does")
    func waiting() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        try Self.inbox(in: folder).make()
        let writer = try InboxWriter(Self.inbox(in: folder))
        _ = try writer.append((0..<20_000).map { HostUnderTest.push("\($0)") })
        let fates = LockedList<String>()
        var limits = Inbox.Limits()
        limits.patience = .zero
        let log = LogRecorder()
        let time = ManualTimeSource()
        let inbox = try Inbox(
            Self.inbox(in: folder), limits, box: nil, log: log.log, time: time)
        @Sendable func submit(_ id: String?) {
            inbox.submit(
                InboxSubmission(line: HostUnderTest.push(id), id: id) {
                    fates.append("\(id ?? "-") \(Self.fate($0))")
                })
        }
        time.onLook = {
            // It is about to read the first of the log.
            guard threadName() == "inbox" else { return }
            time.onLook = nil
            for id in ["19999", "x", nil, "x"] { submit(id) }
        }
        try inbox.start()
        while fates.values.count < 4 { await Task.yield() }
        #expect(fates.values == ["- accepted", "19999 duplicate", "x accepted", "x duplicate"])
        let said = log.messages.filter { $0.hasPrefix("events with an id have been waiting for ") }
        #expect(said.count == 1)
        inbox.stop(within: .seconds(60))
        time.dropAlarms()
        #expect(probe.entries == [])
    }

    @Test(
        "where the log cannot be read for its ids, events with an id are refused, until it can be")
    func unreadable() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        try Self.inbox(in: folder).make()
        for number: UInt32 in [1, 3] {
            let line = HostUnderTest.push("\(number)")
            try writeFile(
                line + [0x0A], to: Self.inbox(in: folder).path(ofSegment: number), mode: 0o600)
        }
        let path = Self.inbox(in: folder).path(ofSegment: 2)
        try makeFolders(path)
        let test = try HostUnderTest.durable("a", in: folder, probe: probe)
        #expect(await Self.send("x", to: test) == "cannot open '\(path)': Invalid argument")
        #expect(await Self.send(nil, to: test) == "accepted")
        _ = try await test.launched()
        try folder.move("inbox/00000002.ndjson", to: "elsewhere")
        test.time.advance(by: .seconds(2))
        while await Self.send("3", to: test) != "duplicate" { await test.settled() }
        #expect(await Self.send("x", to: test) == "accepted")
        _ = await test.outcome("last")
        #expect(probe.received("a").count == 5)
        #expect(await test.stopped() == .stopped)
    }

    @Test("what waits for the ids counts as what waits to be written")
    func bound() throws {
        let mailbox = try InboxMailbox()
        func submission(_ id: String?) -> InboxSubmission {
            InboxSubmission(line: Array(repeating: 0x78, count: 10), id: id) { _ in }
        }
        #expect(mailbox.add(submission("a"), limit: 25) == nil)
        #expect(mailbox.add(submission(nil), limit: 25) == nil)
        #expect(mailbox.add(submission(nil), limit: 25) != nil)
        let first = mailbox.take(withIDs: false)
        #expect(first.submissions.map(\.id) == [nil] && first.isWaitedFor)
        #expect(mailbox.add(submission("b"), limit: 25) == nil)
        #expect(mailbox.add(submission("c"), limit: 25) != nil)
        #expect(mailbox.take(withIDs: false).submissions.isEmpty)
        let rest = mailbox.take(withIDs: true)
        #expect(rest.submissions.map(\.id) == ["a", "b"] && !rest.isWaitedFor)
        // At the end nothing waits on.
        #expect(mailbox.add(submission("d"), limit: 25) == nil)
        mailbox.end()
        #expect(mailbox.take(withIDs: false).submissions.map(\.id) == ["d"])
    }

    @Test(
        "many events wait for the ids in time that grows with their number",
        .timeLimit(.minutes(1)),
        .disabled(if: isSanitized, "the limit is for code without a sanitizer")
    )
    func manyWait() throws {
        let count = 100_000
        let mailbox = try InboxMailbox()
        let ids = (0..<count).map { "\($0)" }
        for id in ids {
            let refusal = mailbox.add(InboxSubmission(line: [], id: id) { _ in }, limit: 0)
            try #require(refusal == nil)
            try #require(mailbox.take(withIDs: false).submissions.isEmpty)
        }
        #expect(mailbox.take(withIDs: true).submissions.map(\.id) == ids)
    }
}
