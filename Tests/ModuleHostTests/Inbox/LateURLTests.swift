import TestSupport
import Testing

@testable import ModuleHost

@Suite("Durable URLs whose answers come later", .timeLimit(.minutes(10)))
struct LateURLTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func host(
        _ probe: Probe, in folder: TemporaryFolder? = nil
    ) async throws -> HostUnderTest {
        for kind in ["push"] { probe.when("a \(kind)") { $0.noteEvent() } }
        return try await HostUnderTest(
            [.init(name: "a"), .init(name: "l", type: "LateProbe")], top: #""schemes": ["app"]"#,
            folder: folder ?? self.folder, probe: probe
        ).launched()
    }

    /// Submits a URL, and waits until its handler has begun.
    private func open(
        _ name: String, in test: HostUnderTest, _ outcome: Promise<String> = Promise()
    ) async throws -> EventPosition? {
        let accepted = Promise<EventPosition?>()
        let payload = try JSONValue(parsing: #"{"url": "app://x.l/await?name=\#(name)"}"#)
        test.inbox?.submit(
            InboxSubmission(
                line: InboxRecord.line(.openURL, payload: payload, id: name), id: name
            ) {
                if case .accepted(let place) = $0 {
                    accepted.keep(place)
                } else {
                    accepted.keep(nil)
                }
            } onDelivery: {
                outcome.keep("\($0)")
            })
        let place = await accepted.value
        await test.probe.reached("await \(name)")
        return place
    }

    private func keep(_ name: String, _ probe: Probe, _ text: String = "done") {
        LateProbe.promise(name, of: probe).keep(text)
    }

    @Test("the event is done when its answer is there, and later events are done before")
    func done() async throws {
        let probe = Probe()
        let test = try await host(probe)
        let outcome = Promise<String>()
        let place = try #require(await open("one", in: test, outcome))
        _ = await test.outcome("push")
        #expect(test.inbox?.progress.unansweredPositions == [place])
        #expect(test.inbox?.progress.countDone == 1)
        keep("one", probe)
        #expect(await outcome.value.hasPrefix("done"))
        #expect(test.inbox?.progress.unansweredPositions == [])
        #expect(await test.stopped() == .stopped)
        let cursor = try InboxCursor.load(from: InboxFolder(in: StateDirectory(path: folder.path)))
            .get()
        #expect(cursor.unanswered == [] && cursor.next ?? place > place)
    }

    @Test("a module that hangs before it suspends has until the deadline of the call to answer")
    func hung() async throws {
        let probe = Probe()
        let door = probe.close("await one")
        let test = try await host(probe)
        let outcome = Promise<String>()
        let place = try #require(await open("one", in: test, outcome))
        test.overrun()
        // Once another event is delivered, the lane has left the module behind.
        _ = await test.outcome("push")
        #expect(test.inbox?.progress.unansweredPositions == [place])
        test.time.advance(by: .seconds(31))
        #expect(await outcome.value.hasPrefix("done"))
        _ = await test.recorder.first(containing: "not opened: ")
        #expect(test.inbox?.progress.unansweredPositions == [])
        keep("one", probe)
        door.open()
        await probe.reached("resume one cancelled")
        #expect(await test.stopped() == .stopped)
    }

    @Test("after a death before the answer the next host delivers that event again, and no other")
    func died() async throws {
        let probe = Probe()
        let first = try await host(probe)
        _ = try await open("one", in: first)
        _ = await first.outcome("push")
        let copy = try folder.copied()
        let next = Probe()
        let second = try await host(next, in: copy)
        await next.reached("await one")
        keep("one", next)
        await next.reached("resume one")
        let last = await second.accept("last")
        await next.reached("a \(try #require(last))#1")
        #expect(next.received("a") == ["\(try #require(last))#1"])
        #expect(second.inbox?.progress.unansweredPositions == [])
        keep("one", probe)
        #expect(await first.stopped() == .stopped)
        #expect(await second.stopped() == .stopped)
    }

    @Test("a stop before the answer leaves the event to the next host, and counts no attempt")
    func stopped() async throws {
        let probe = Probe()
        let first = try await host(probe)
        let outcome = Promise<String>()
        let place = try #require(await open("one", in: first, outcome))
        #expect(await first.stopped() == .stopped)
        #expect(await outcome.value == "left")
        // As the daemon does at its end.
        first.inbox?.box?.setState(.ended)
        let next = Probe()
        let second = try await host(next)
        #expect(second.inbox?.origin.unanswered == [place])
        #expect(second.inbox?.origin.attempts == [:])
        await next.reached("await one")
        keep("one", next)
        await next.reached("resume one")
        #expect(await second.stopped() == .stopped)
        keep("one", probe)
    }

    @Test("an event in whose answers three hosts died is a dead letter")
    func deadLetter() async throws {
        var folder = folder
        var hosts: [HostUnderTest] = []
        for number in 0..<3 {
            let probe = Probe("deadLetter \(number)")
            let test = try await host(probe, in: folder)
            hosts.append(test)
            if number == 0 { _ = try await open("one", in: test) }
            await probe.reached("await one")
            folder = try folder.copied()
        }
        let test = try await host(Probe(), in: folder)
        _ = await test.recorder.first(
            containing: "the host died 3 times while this event was delivered")
        while test.inbox?.progress.unansweredPositions != [] { await Task.yield() }
        for host in hosts + [test] { #expect(await host.stopped() == .stopped) }
    }

    @Test("after a reload without its module the URL has no answer, and the event is done")
    func unloaded() async throws {
        let probe = Probe()
        let test = try await host(probe)
        let outcome = Promise<String>()
        _ = try await open("one", in: test, outcome)
        _ = try await test.reload([.init(name: "a")], top: #""schemes": ["app"]"#)
        #expect(await outcome.value.hasPrefix("done"))
        #expect(test.inbox?.progress.unansweredPositions == [])
        _ = await test.recorder.first(containing: "not opened: ")
        keep("one", probe)
        #expect(await test.stopped() == .stopped)
    }

    @Test("no more events are unanswered than the window of the inbox has room for")
    func window() async throws {
        let probe = Probe()
        let test = try await host(probe)
        for number in 0..<InboxFeeder.Limits.window { _ = try await open("\(number)", in: test) }
        _ = await test.accept("beyond")
        await test.settled()
        #expect(probe.received("a") == [])
        for number in 0..<InboxFeeder.Limits.window { keep("\(number)", probe) }
        while probe.received("a").isEmpty { await Task.yield() }
        #expect(await test.stopped() == .stopped)
    }
}
