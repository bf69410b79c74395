import AppService
import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("A full inbox at the start", .timeLimit(.minutes(10)))
struct InboxBacklogTests {
    private let folder: TemporaryFolder
    private let probe = Probe()

    init() throws { folder = try TemporaryFolder() }

    /// A host that is not launched, with events for its module `a` in its log.
    private func host(
        after events: [[UInt8]], onEvent: @escaping @Sendable () -> Void
    ) throws -> (host: HostUnderTest, progress: InboxProgress, places: [EventPosition]) {
        probe.when("a push") { module in
            onEvent()
            module.noteEvent()
        }
        // The cursor's time, which would wake the inbox, is far away.
        let limits = Inbox.Limits(cursorDelay: .seconds(3600))
        let host = try HostUnderTest.durable("a", in: folder, limits: limits, probe: probe)
        let places = try folder.inboxWriter().append(events)
        return (host, try #require(host.inbox).progress, places)
    }

    @Test("the inbox goes on where there is room on the lane again before it has come to its sleep")
    func room() async throws {
        let turns = DispatchSemaphore(value: 0)
        // The lane is full five times: at first, and four times when it has done so many.
        let (window, done) = (InboxFeeder.Limits.window, InboxFeeder.Limits.batch)
        let rounds = 4
        let events = Array(repeating: HostUnderTest.push(), count: window + rounds * done)
        let (test, progress, places) = try host(after: events) { turns.wait() }
        let filled = Guarded(0)
        test.time.onLook = {
            // It has filled the lane, and looks whether the cursor is due before it sleeps.
            guard threadName() == "inbox", progress.countInFlight == window else { return }
            let isLast = filled.withLock { filled in
                filled += 1
                return filled > rounds
            }
            for _ in 0..<(isLast ? window : done) { turns.signal() }
            while progress.countInFlight > window - done {}
        }
        _ = try await test.launched()
        let last = try #require(places.last)
        await probe.reached("a \(last)#1")
        test.time.onLook = nil
        #expect(filled.withLock { $0 } == rounds + 1)
        #expect(probe.received("a") == places.map { "\($0)#1" })
        #expect(await test.stopped() == .stopped)
    }

    @Test("of large events the lane has only a few before it, and all are delivered")
    func large() async throws {
        let door = Door()
        let text = #"{"aps": {}, "text": "\#(String(repeating: "x", count: 900_000))"}"#
        let payload = try JSONValue(parsing: Array(text.utf8))
        let line = InboxRecord.line(.push, payload: payload, id: nil)
        let (test, progress, places) = try host(after: Array(repeating: line, count: 30)) {
            door.pass()
        }
        let most = Guarded(0)
        test.time.onLook = {
            // It has given the lane what it may, and looks whether the cursor is due before it sleeps.
            guard threadName() == "inbox", progress.countInFlight > 0 else { return }
            most.withLock { $0 = max($0, progress.countInFlight) }
            door.open()
        }
        _ = try await test.launched()
        await probe.reached("a \(try #require(places.last))#1")
        test.time.onLook = nil
        // Up to 4 MiB, and the one that reaches them.
        #expect((2...5).contains(most.withLock { $0 }))
        #expect(probe.received("a") == places.map { "\($0)#1" })
        #expect(await test.stopped() == .stopped)
    }
}
