import AppService
import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

/// Segments that grow beyond what positions reach, and large parts of them in which there is no event.
///
/// The reach is 4 GiB outside of tests.
@Suite("Large segments", .timeLimit(.minutes(10)))
struct LargeSegmentTests {
    private static let beyond =
        "it lies beyond the first 4 GiB of its segment, which positions cannot reach"

    // MARK: Reading

    @Test("what begins in reach is found, and each line behind that is an error of its own")
    func beyondReach() throws {
        let inbox = try InboxUnderTest {
            $0.reach = 10
            $0.line = 8
            $0.excerpt = 3
        }
        try inbox.put("\n{1}\n\n{22222}\n{3}\n\n\n123456789\n{4}\n{to")
        let reader = try InboxReader(inbox.folder)
        let found = [
            "1:1 {1} 1:5", "1:6 {22222} 1:10", "1:10 [\(Self.beyond)] {3} 1:10",
            "1:10 [a line of 9 bytes; a record has at most 8; \(Self.beyond)] 123 1:10",
            "1:10 [\(Self.beyond)] {4} 1:10",
        ]
        let items = try reader.next(atMost: 100)
        #expect(items.map { Found($0).description } == found)
        #expect(items.map(\.offset) == [1, 6, 14, 20, 30])
        #expect(try reader.end() == "1:10")
        // What is appended there is found as well, and then what another segment has.
        try inbox.appendBare("rn}\n{5}\n{to")
        #expect(try reader.all().map(\.line) == ["{torn}", "{5}"])
        try inbox.put("\n{6}\n", in: 2)
        #expect(try reader.all().map(\.line) == ["{to", "{6}"])
        #expect(
            try inbox.read(from: "1:10").map(\.line) == [
                "{3}", "123", "{4}", "{torn}", "{5}", "{to", "{6}",
            ])
    }

    @Test("single records behind the reach are none: the next segment follows")
    func singleBeyondReach() throws {
        let inbox = try InboxUnderTest { $0.reach = 10 }
        try inbox.put("\n{1}\n\n{22222}\n{3}\n")
        let reader = try InboxReader(inbox.folder)
        #expect(try reader.read(at: "1:10") == nil)
        try inbox.put("\n{6}\n", in: 2)
        for place in ["1:7", "1:10"] as [EventPosition] {
            #expect(try reader.read(at: place).map { Found($0).description } == "2:1 {6} 2:5")
        }
        // A line that begins in reach is whole, wherever it ends.
        #expect(try reader.read(at: "1:6").map { Found($0).description } == "1:6 {22222} 1:10")
    }

    @Test("of what is no event a piece at a time is read", arguments: [false, true])
    func pauses(isLine: Bool) throws {
        let inbox = try InboxUnderTest {
            $0.reading = 100
            $0.line = 50
        }
        let nothing = String(repeating: isLine ? "x" : "\n", count: 10_000)
        try inbox.put("\n{1}\n\(nothing)\n{2}\n")
        let reader = try InboxReader(inbox.folder)
        #expect(try reader.next(atMost: 10, step: 1000).map { Found($0).line } == ["{1}"])
        var pauses = 0
        while true {
            let items = try reader.next(atMost: 10, step: 1000)
            #expect(reader.isPaused == items.isEmpty)
            guard items.isEmpty else {
                #expect(items.last.map { Found($0).line } == "{2}")
                break
            }
            #expect(reader.isInLongLine == isLine)
            pauses += 1
        }
        #expect(pauses == 9)
        #expect(try reader.next(atMost: 10, step: 1000).isEmpty && !reader.isPaused)
    }

    // MARK: The host

    private static func sizes(_ change: (inout InboxLimits) -> Void) -> InboxLimits {
        var sizes = InboxLimits()
        change(&sizes)
        return sizes
    }

    @Test(
        "events that stand beyond are put aside one by one, not again after a death, and can be retried"
    )
    func moveToDeadLetters() async throws {
        var folder = try TemporaryFolder()
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        try inbox.make()
        let lines = (0..<200).map { HostUnderTest.push("\($0)") }
        try writeFile(
            lines.reduce(into: []) { $0 += $1 + [0x0A] }, to: inbox.path(ofSegment: 1), mode: 0o600)
        // The first three begin in reach.
        let reach = 3 * (lines[0].count + 1) - 1
        let sizes = Self.sizes { ($0.reach, $0.segment) = (reach, reach) }
        do {
            let probe = Probe("put aside, at first")
            let test = try await HostUnderTest.durable("a", in: folder, sizes: sizes, probe: probe)
                .launched()
            _ = await test.recorder.first(containing: "moved 194 more to the dead letters; ")
            #expect(test.inbox?.metrics.withLock { $0.rejected } == 197)
            #expect(test.recorder.messages.count { $0.hasPrefix("moved ") } == 4)
            // It dies at this instant, and the next host begins with the first of them again.
            folder = try folder.copied()
            #expect(await test.stopped() == .stopped)
        }
        let probe = Probe("put aside, again")
        let test = try await HostUnderTest.durable("a", in: folder, sizes: sizes, probe: probe)
            .launched()
        _ = await test.outcome("behind")
        #expect(Set(probe.received("a")).count == probe.received("a").count)
        #expect(test.inbox?.metrics.withLock { $0.rejected } == 0)
        let rejected = DeadLetters(InboxFolder(in: StateDirectory(path: folder.path)))
        let events = try rejected.contents().events
        #expect(events.map(\.id) == (3..<200).map { "\($0)" })
        #expect(events.allSatisfy { $0.reason == Self.beyond })
        #expect(events.compactMap(\.offset).count == 197)
        let line = try #require(events.first).lineForRetry()
        let places = try folder.inboxWriter()
            .append([line])
        await probe.reached("a \(places[0])#1")
        #expect(await test.stopped() == .stopped)
        let cursor = InboxCursor.load(from: InboxFolder(in: StateDirectory(path: folder.path)))
        #expect(try #require(cursor.get().next) > "2:0")
    }

    @Test("events are accepted while what is none is skipped, and the log says what takes so long")
    func skipping() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let sizes = Self.sizes { ($0.step, $0.reading, $0.segment) = (1000, 1000, 1 << 30) }
        var limits = Inbox.Limits()
        limits.patience = .zero
        let test = try HostUnderTest.durable(
            "a", in: folder, limits: limits, sizes: sizes, probe: probe)
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        let nothing = [UInt8](repeating: 0x0A, count: 100_000)
        try writeFile(
            nothing + HostUnderTest.push("last") + [0x0A], to: inbox.path(ofSegment: 1), mode: 0o600
        )
        let progress = try #require(test.inbox).progress
        test.time.onLook = { [weak test] in
            guard threadName() == "inbox", progress.next != nil else { return }
            test?.time.onLook = nil
            test?.submit { fate in
                if case .accepted = fate { probe.note("accepted") }
            }
        }
        _ = try await test.launched()
        while probe.received("a").count < 2 { await test.settled() }
        #expect(probe.entries.filter { $0.contains("#") || $0 == "accepted" }.first == "accepted")
        #expect(probe.received("a").first == "1:100000#1")
        let said = test.recorder.messages.filter { $0.hasPrefix("skipping ") }
        #expect(said.count == 1)
        #expect(said.first?.hasPrefix("skipping empty lines in the inbox, at 1:") == true)
        #expect(await test.stopped() == .stopped)
    }

    @Test("what is empty at the end is done")
    func emptyEnd() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await test.outcome()
        let path = InboxFolder(in: StateDirectory(path: folder.path)).path(ofSegment: 1)
        try AppendFile(path: path).append([UInt8](repeating: 0x0A, count: 1000))
        while test.inbox?.currentFigures().pendingBytes != 0 { await test.settled() }
        #expect(await test.stopped() == .stopped)
    }

    @Test("a full segment is followed by another, also while the modules are far behind")
    func rollsBehind() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let turns = DispatchSemaphore(value: 0)
        probe.when("a push") { module in
            turns.wait()
            module.noteEvent()
        }
        let sizes = Self.sizes { ($0.segment, $0.line, $0.excerpt) = (20_000, 1000, 100) }
        let test = try await HostUnderTest.durable("a", in: folder, sizes: sizes, probe: probe)
            .launched()
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        // A program that knows nothing of segments that are full.
        let count = 10 * InboxFeeder.Limits.window
        for number in 0..<count {
            let newest = try #require(try inbox.segments().last)
            let line = [0x0A] + HostUnderTest.push("\(number)") + [0x0A]
            try AppendFile(path: inbox.path(ofSegment: newest)).append(line)
        }
        while try inbox.segments().count < 2 { await Task.yield() }
        for _ in 0..<count { turns.signal() }
        turns.signal()
        _ = await test.outcome()
        #expect(probe.received("a").count == count + 1)
        #expect(await test.stopped() == .stopped)
    }
}
