import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Durable URLs whose answers come later", .timeLimit(.minutes(10)))
struct LateURLTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func host(
        _ probe: Probe, in folder: TemporaryFolder? = nil, limits: Inbox.Limits = Inbox.Limits()
    ) async throws -> HostUnderTest {
        for kind in ["push"] { probe.when("a \(kind)") { $0.noteEvent() } }
        return try await HostUnderTest(
            [.init(name: "a"), .init(name: "l", type: "LateProbe")], top: #""schemes": ["app"]"#,
            folder: folder ?? self.folder, limits: limits, probe: probe
        ).launched()
    }

    /// Submits a URL, and waits until its handler has begun.
    private func open(
        _ name: String, in test: HostUnderTest, _ outcome: Promise<String> = Promise()
    ) async throws -> EventPosition? {
        let place = try await submit(name, in: test, outcome)
        await test.probe.reached("await \(name)")
        return place
    }

    /// Submits a URL, and waits until it is accepted.
    @discardableResult
    private func submit(
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
        return await accepted.value
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

    @Test("more URLs than a module may have begun wait for it, and other events do not")
    func manyOfOneModule() async throws {
        let probe = Probe()
        let test = try await host(probe)
        let limit = UnansweredURLs.limit
        for number in 0..<limit { _ = try await open("\(number)", in: test) }
        for number in limit...limit + 1 { try await submit("\(number)", in: test) }
        let warning = await test.recorder.first(containing: "has not answered 64 URLs")
        #expect(warning.module == "x.l" && warning.level == .warning)
        _ = await test.outcome("push")
        #expect(probe.entries("\(limit)") == [])
        let problem = "64 URLs are not answered, and more wait for the same module: x.l"
        #expect(test.inbox?.currentFigures().problem == problem)
        #expect(await test.health().description.hasSuffix("; inbox: \(problem)"))
        keep("3", probe)
        await probe.reached("await \(limit)")
        #expect(probe.entries("\(limit + 1)") == [])
        keep("\(limit)", probe)
        await probe.reached("await \(limit + 1)")
        for number in 0...limit + 1 { keep("\(number)", probe) }
        _ = await test.recorder.first(containing: "no URL of the inbox waits for it any more")
        #expect(test.inbox?.currentFigures().problem == nil)
        while test.inbox?.progress.unansweredPositions != [] { await Task.yield() }
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a URL that waits for its module at a stop is left to the next host, and no attempt counts")
    func waitingAtStop() async throws {
        let probe = Probe()
        let first = try await host(probe)
        let limit = UnansweredURLs.limit
        for number in 0..<limit { _ = try await open("\(number)", in: first) }
        try await submit("last", in: first)
        _ = await first.recorder.first(containing: "has not answered 64 URLs")
        let copy = try folder.copied()
        #expect(await first.stopped() == .stopped)
        let next = Probe()
        // As after a death: those that had begun have an attempt more.
        let second = try await host(next, in: copy)
        #expect(second.inbox?.origin.unanswered.count == limit + 1)
        #expect(second.inbox?.origin.attempts.count == limit)
        for number in 0..<limit { keep("\(number)", next) }
        await next.reached("await last")
        for number in 0..<limit { keep("\(number)", probe) }
        keep("last", next)
        #expect(await second.stopped() == .stopped)
    }

    @Test(
        "no more events are unanswered than the limit of the inbox, which is a problem of the host")
    func limit() async throws {
        let probe = Probe()
        var limits = Inbox.Limits()
        limits.unanswered = 3
        let test = try await host(probe, limits: limits)
        for number in 0..<3 { _ = try await open("\(number)", in: test) }
        // A handler has begun before its event counts.
        while test.inbox?.progress.countSuspended != 3 { await Task.yield() }
        _ = await test.accept("beyond")
        _ = await test.recorder.first(
            containing: "3 events of the inbox are not answered: no further ones are delivered")
        await test.settled()
        #expect(probe.received("a") == [])
        #expect(
            test.inbox?.currentFigures().problem
                == "3 events are not answered: no further ones are delivered")
        for number in 0..<3 { keep("\(number)", probe) }
        while probe.received("a").isEmpty { await Task.yield() }
        #expect(test.inbox?.currentFigures().problem == nil)
        #expect(await test.stopped() == .stopped)
    }
}

extension HostUnderTest {
    fileprivate func health() async -> HostHealth {
        await withCheckedContinuation { continuation in
            host.onLane { app, _ in continuation.resume(returning: app.health) }
        }
    }
}
