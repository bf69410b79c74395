import AppService
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Delivery from the inbox to modules that have failed", .timeLimit(.minutes(10)))
final class InboxFailedTests: Sendable {
    private let folder: TemporaryFolder
    private let probe: Probe
    /// Whether module `b` throws where it is made to.
    private let isBroken = Guarded(true)

    init() throws {
        folder = try TemporaryFolder()
        probe = Probe(#fileID)
    }

    private func breaks(_ what: String) {
        probe.when("b \(what)") { [weak self] _ in
            if self?.isBroken.withLock(\.self) == true { throw TestError() }
        }
    }

    private func launched(
        _ limits: Inbox.Limits = Inbox.Limits(), in folder: TemporaryFolder? = nil
    ) async throws -> HostUnderTest {
        try await HostUnderTest.durable(
            "a", "b", "c", in: folder ?? self.folder, limits: limits, probe: probe
        ).launched()
    }

    private func restart(_ host: HostUnderTest) async throws -> String {
        let outcome = await withCheckedContinuation { continuation in
            host.host.restart("x.b", origin: .host) { continuation.resume(returning: $0) }
        }
        guard case .reload(let outcome) = try outcome.get() else { return "killed" }
        return outcome.text
    }

    /// What waits for module `b`.
    private func waiting(_ host: HostUnderTest) async -> WaitingEvents? {
        await host.statuses()[1].waiting
    }

    private func rejected() throws -> [DeadLetter] {
        try DeadLetters(InboxFolder(in: StateDirectory(path: folder.path))).contents().events
    }

    @Test(
        "what comes after a module failed waits until it is restarted: each event once, in order",
        arguments: ["init", "launch"])
    func restarted(_ what: String) async throws {
        breaks(what)
        let test = try await launched()
        #expect(await waiting(test) == nil)
        for number in 0..<10 { _ = await test.outcome("\(number)") }
        let all = probe.received("a")
        #expect(all.count == 10 && probe.received("b") == [])
        let first = try #require(all.first?.split(separator: "#").first)
        let place = try #require(EventPosition(String(first)))
        #expect(await waiting(test) == WaitingEvents(count: 10, first: place))
        // A restart that fails changes nothing.
        #expect(try await restart(test).hasPrefix("undone: "))
        #expect(await waiting(test)?.count == 10)
        isBroken.withLock { $0 = false }
        #expect(try await restart(test) == "applied: recreated x.b")
        _ = await test.outcome("after")
        await probe.reached("b \(try #require(probe.received("a").last))")
        #expect(probe.received("b") == probe.received("a"))
        #expect(probe.received("c") == probe.received("a"))
        #expect(await waiting(test) == nil)
        // It catches up on a thread of its own, in time.
        #expect(test.host.currentMetrics.timesOverdue == 0)
        #expect(await test.stopped() == .stopped)

        let next = try await launched()
        _ = await next.outcome("last")
        #expect(probe.received("a").count == 12)
        #expect(probe.received("b") == probe.received("a"))
        #expect(await next.stopped() == .stopped)
        #expect(try rejected().isEmpty)
    }

    @Test("the next host delivers what waited, be the last one stopped or killed")
    func nextHost() async throws {
        breaks("launch")
        let test = try await launched()
        for number in 0..<5 { _ = await test.outcome("\(number)") }
        let killed = try folder.copied()
        #expect(await test.stopped() == .stopped)
        // One host in which it fails again, and one in which it does not.
        let again = try await launched()
        _ = await again.outcome("5")
        #expect(await waiting(again)?.count == 6)
        #expect(await again.stopped() == .stopped)
        #expect(probe.received("b") == [])
        let all = probe.received("a")
        #expect(all.count == 6)

        isBroken.withLock { $0 = false }
        let next = try await launched()
        _ = await next.outcome("last")
        #expect(probe.received("b") == all + probe.received("a").suffix(1))
        #expect(await next.stopped() == .stopped)

        let other = try await launched(in: killed)
        _ = await other.outcome("last")
        #expect(
            Array(probe.received("b").suffix(6)) == all.prefix(5) + probe.received("a").suffix(1))
        #expect(await other.stopped() == .stopped)
    }

    @Test("killed while a restarted module catches up: it alone goes on where it was")
    func killedWhileCatchingUp() async throws {
        breaks("launch")
        let door = Door()
        let test = try await launched()
        for number in 0..<5 { _ = await test.outcome("\(number)") }
        #expect(await test.stopped() == .stopped)
        let all = probe.received("a")

        let again = try await launched()
        _ = await again.outcome("5")
        isBroken.withLock { $0 = false }
        let received = Atomic(0)
        probe.when("b push") { module in
            module.noteEvent()
            if received.add(1, ordering: .relaxed).newValue == 3 { door.pass() }
        }
        #expect(try await restart(again) == "applied: recreated x.b")
        await probe.reached("b \(all[2])")
        let killed = try folder.copied()
        door.open()
        #expect(await again.stopped() == .stopped)
        #expect(probe.received("b") == probe.received("a"))

        let count = probe.received("b").count
        let next = try await launched(in: killed)
        _ = await next.outcome("last")
        let rest = probe.received("b").dropFirst(count)
        // The third was begun, and its delivery is the second attempt now.
        #expect(rest.first == all[2].replacing("#1", with: "#2"))
        #expect(rest.dropFirst().first == all[3])
        #expect(rest.count == 5)
        #expect(await next.stopped() == .stopped)
    }

    @Test(
        "more than may wait: the oldest are rejected under the module's name, and the log warns once"
    )
    func tooMuch() async throws {
        breaks("launch")
        var limits = Inbox.Limits()
        limits.behind = 4000
        let test = try await launched(limits)
        for number in 0..<200 {
            _ = await test.outcome("\(number)")
            test.time.advance(by: .milliseconds(100))
        }
        let all = probe.received("a")
        // Each event has 50 bytes. It goes by the clock, and its own thread.
        while true {
            let left = await waiting(test)?.count ?? 0
            if left <= 80, try rejected().count + left == 200 { break }
            test.time.advance(by: .milliseconds(100))
            test.inbox?.noteDropped()
        }
        let given = try rejected()
        #expect(given.count > 100 && given.count < 200)
        #expect(given.map { "\($0.position)#1" } == Array(all.prefix(given.count)))
        #expect(given.allSatisfy { $0.modules?.map(\.text) == ["x.b"] })
        #expect(given.allSatisfy { $0.reason.hasPrefix("module 'x.b' has failed, and more than ") })
        let warnings = test.recorder.records.filter {
            $0.module == "x.b" && $0.message.hasPrefix("failed, and more than")
        }
        #expect(warnings.count == 1)
        isBroken.withLock { $0 = false }
        #expect(try await restart(test) == "applied: recreated x.b")
        await probe.reached("b \(all[199])")
        #expect(probe.received("b") == Array(all.dropFirst(given.count)))
        #expect(await test.stopped() == .stopped)
    }

    /// Waits until so many events are dead letters.
    private func rejected(_ count: Int, by host: HostUnderTest) async throws -> [DeadLetter] {
        while !Task.isCancelled, try rejected().count < count {
            host.time.advance(by: .seconds(1))
            host.inbox?.noteDropped()
            await Task.yield()
        }
        return try rejected()
    }

    @Test("what a failed module has not received when a reload removes it becomes dead letters")
    func removed() async throws {
        breaks("init")
        let test = try await launched()
        for number in 0..<3 { _ = await test.outcome("\(number)") }
        let directory = StateDirectory(path: folder.path)
        #expect(BlackBox.Contents(in: directory)?.progress?.behind.count == 1)
        let outcome = try await test.reload("a", "c")
        #expect(outcome.text == "applied: removed x.b; 3 undelivered events become dead letters")
        #expect(
            test.recorder.records.contains {
                $0.message.hasPrefix("slatefile applied")
                    && $0.message.hasSuffix("; 3 undelivered events become dead letters")
            })
        let letters = try await rejected(3, by: test)
        #expect(letters.map { "\($0.position)#1" } == probe.received("a"))
        for letter in letters {
            #expect(letter.modules?.map(\.text) == ["x.b"])
            #expect(letter.reason == "module 'x.b' had failed when it was removed or disabled")
        }
        // The note is cleared behind the dead letters.
        while !Task.isCancelled, BlackBox.Contents(in: directory)?.progress?.behind != [:] {
            await Task.yield()
        }
        _ = await test.outcome("after")
        #expect(await test.stopped() == .stopped)
        #expect(try rejected().count == 3)
    }

    @Test("the same for one that is unresponsive, the event in its hands among them")
    func removedUnresponsive() async throws {
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            door.pass()
        }
        let test = try await launched()
        let first = await test.accept("0")
        await probe.reached("b push")
        test.overrun()
        for number in 1..<3 { _ = await test.accept("\(number)") }
        while probe.received("c").count < 3 { await test.settled() }
        let outcome = try await test.reload("a", "c")
        #expect(outcome.text == "applied: removed x.b; 3 undelivered events become dead letters")
        let letters = try await rejected(3, by: test)
        #expect(letters.map { "\($0.position)#1" } == probe.received("c"))
        #expect(letters.first?.position == first)
        for letter in letters {
            #expect(letter.modules?.map(\.text) == ["x.b"])
            #expect(
                letter.reason == "module 'x.b' was unresponsive when it was removed or disabled")
        }
        door.open()
        await test.caughtUp()
        #expect(probe.received("b").count == 1)
        #expect(await test.stopped() == .stopped)
        #expect(try rejected().count == 3)
    }

    @Test(
        "the same for one that catches up with what an earlier host left, and for one that is not there"
    )
    func removedBehind() async throws {
        breaks("launch")
        let test = try await launched()
        let places = try folder.inboxWriter().append(
            (0..<200).map { HostUnderTest.push("\($0)") })
        await probe.reached("a \(places[199])#1")
        #expect(await test.stopped() == .stopped)
        let other = try folder.copied()

        // Removed after some of them.
        isBroken.withLock { $0 = false }
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            door.pass()
        }
        let catching = try await launched()
        await probe.reached("b push")
        async let outcome = catching.reload("a", "c")
        door.open()
        #expect(try await outcome.text.hasPrefix("applied: removed x.b"))
        let count = probe.received("b").count
        #expect(count > 0)
        let letters = try await rejected(200 - count, by: catching)
        #expect(
            probe.received("b") + letters.map { "\($0.position)#1" } == probe.received("a"))
        #expect(await catching.stopped() == .stopped)
        #expect(try rejected().count == 200 - count)

        // Removed while no host runs.
        let next = try await HostUnderTest.durable("a", "c", in: other, probe: probe).launched()
        _ = await next.outcome("after")
        #expect(
            next.recorder.records.contains {
                $0.module == "x.b" && $0.level == .warning
                    && $0.message
                        == "not in the slatefile any more: 200 of the events that waited for it "
                        + "in the inbox are dead letters now"
            })
        #expect(await next.stopped() == .stopped)
        let left = try DeadLetters(InboxFolder(in: StateDirectory(path: other.path))).contents()
        #expect(left.events.count == 200)
        for letter in left.events {
            #expect(letter.modules?.map(\.text) == ["x.b"])
            #expect(
                letter.reason == "module 'x.b' had not received it when it was removed or disabled")
        }
    }

    @Test("an event that another module has claimed does not wait; an unclaimed one does")
    func claimed() async throws {
        breaks("init")
        let test = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "b"),
                HostUnderTest.Entry(name: "c", config: #""claims": true"#),
            ], folder: folder, probe: probe
        ).launched()
        let payload = try JSONValue(parsing: Array(#"{"type": "read"}"#.utf8))
        let line = InboxRecord.line(.userActivity, payload: payload, id: "claimed")
        let outcome = Promise<Bool>()
        test.inbox?.submit(
            InboxSubmission(line: line, id: "claimed", onAcceptance: { _ in }) { _ in
                outcome.keep(true)
            }
        )
        _ = await outcome.value
        #expect(probe.entries("c").contains("c user-activity"))
        #expect(await waiting(test) == nil)
        #expect(try await test.reload("a", "b").text.contains("removed x.c"))
        let unclaimed = Promise<Bool>()
        test.inbox?.submit(
            InboxSubmission(
                line: InboxRecord.line(.userActivity, payload: payload, id: "open"), id: "open",
                onAcceptance: { _ in }
            ) { _ in unclaimed.keep(true) })
        _ = await unclaimed.value
        #expect(await waiting(test)?.count == 1)
        isBroken.withLock { $0 = false }
        #expect(try await restart(test) == "applied: recreated x.b")
        _ = await test.outcome("after")
        await probe.reached("b push")
        #expect(probe.entries("b").filter { $0 == "b user-activity" }.count == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "the cursor stays at the first event that waits, while the module is restarted and fails again"
    )
    func cursor() async throws {
        // So many that no order of a dictionary is right by chance.
        let failing = (0..<8).map { "m\($0)" }
        let (folder, probe) = (try TemporaryFolder(), Probe("cursor of failed modules"))
        let entries = (["a"] + failing + ["z"]).map {
            HostUnderTest.Entry(name: $0, more: $0 == "a" ? "" : #""retry": true"#)
        }
        for name in failing { probe.fail("\(name) init") }
        probe.fail("z init", times: 1)
        let test = try await HostUnderTest(
            entries, folder: folder, limits: Inbox.Limits(cursorDelay: .zero), probe: probe
        ).launched()
        let first = try #require(await test.accept())
        _ = await test.outcome()
        await test.calm()
        // The others have failed again, and the reload waits for this task.
        let door = Door()
        let isAtWork = Promise<Bool>()
        probe.when("z init") { module in
            try module.context.startup("index", priority: .high) {
                isAtWork.keep(true)
                door.pass()
            }
        }
        test.time.advance(by: .milliseconds(125))
        #expect(await isAtWork.value)
        _ = await test.outcome()
        let end = try #require(test.inbox?.progress.next)
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        var cursor = InboxCursor()
        while !Task.isCancelled, cursor.next != end {
            cursor = try InboxCursor.load(from: inbox).get()
            await Task.yield()
        }
        for name in failing { #expect(cursor.modules[try ModuleID("x.\(name)")] == first) }
        door.open()
        #expect(await test.stopped() == .stopped)
    }
}
