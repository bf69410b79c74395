import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Asynchronous handlers of events: the module has the next event when they have returned, and nobody else waits for them.
@Suite("Asynchronous handlers of events", .timeLimit(.minutes(10)))
struct OpenHandlersTests {
    private let probe = Probe("OpenHandlersTests")
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        probe.when("c push") { $0.noteEvent() }
    }

    private func entries(_ more: String = "", config: String = "") -> [HostUnderTest.Entry] {
        [
            HostUnderTest.Entry(name: "a", type: "CallProbe"),
            HostUnderTest.Entry(name: "b", more: more, config: config, type: "AsyncProbe"),
            HostUnderTest.Entry(name: "c"),
        ]
    }

    private func launched(
        _ more: String = "", in state: TemporaryFolder? = nil
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            entries(more), top: #""schemes": ["t"]"#, folder: state ?? folder, probe: probe
        ).launched()
    }

    private func give(_ text: String = "end", to events: String...) {
        for event in events { AsyncProbe.give(text, to: event, of: probe) }
    }

    private func outcome(_ id: String, _ host: HostUnderTest) -> Task<String, Never> {
        Task {
            guard case .done(let outcome) = await host.outcome(id) else { return "not done" }
            let late = outcome.overdue > 0 ? ", \(outcome.overdue) unresponsive" : ""
            let failed = outcome.failed > 0 ? ", \(outcome.failed) failed" : ""
            return "\(outcome.delivered), \(outcome.fetch?.rawValue ?? "no result")\(failed)\(late)"
        }
    }

    /// Waits until the last module has received so many pushes.
    private func heard(_ count: Int) async {
        while probe.received("c").count < count { await Task.yield() }
    }

    /// What the module has noted, but for its end.
    private var noted: [String] { probe.entries.filter { $0.hasPrefix("b ") && $0 != "b gone" } }

    @Test(
        "others are called and hear the next events meanwhile, and the outcome waits for the last")
    func others() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        let second = outcome("two", host)
        await heard(2)
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        #expect(await host.statuses().allSatisfy { $0.state == .running })
        #expect(host.recorder.records.allSatisfy { $0.event != "push" })
        #expect(noted == ["b one"])
        give(to: "two", "one")
        #expect(await first.value == "2, newData")
        #expect(await second.value == "2, newData")
        #expect(noted == ["b one", "b one end", "b two", "b two end"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that returns without a suspension answers at once, as any other handler")
    func atOnce() async throws {
        let host = try await launched()
        #expect(await outcome("at-once", host).value == "2, newData")
        #expect(host.host.gate.lane.openSlots.isEmpty)
        #expect(await host.stopped() == .stopped)
    }

    @Test("the context knows the event behind a suspension, and a call in between has none")
    func context() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        #expect(await host.call("x.b", "event") == #""no event""#)
        give("twice", to: "one")
        await probe.reached("b one twice")
        #expect(await host.call("x.b", "event") == #""no event""#)
        give(to: "one once more")
        #expect(await first.value == "2, newData")
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "events of all kinds wait for it in their order, those for which it has no such handler, too"
    )
    func order() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        try host.deliver(.message, #"{"topic": "t"}"#)
        try host.deliver(.message, #"{"topic": "other"}"#)
        try host.deliver(.localNotification, #"{"title": "tea"}"#)
        try host.deliver(.background)
        _ = await host.accept("two")
        await heard(2)
        await host.settled()
        #expect(noted == ["b one"])
        give(to: "one", "message", "local-notification", "two")
        await host.answered()
        #expect(
            noted == [
                "b one", "b one end", "b message", "b message end", "b local-notification",
                "b local-notification end", "b background", "b two", "b two end",
            ])
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that throws behind a suspension has failed, and the next event begins")
    func throwing() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        give("throw", to: "one")
        #expect(await first.value == "1, failed, 1 failed")
        let record = await host.recorder.first { $0.level == .error }
        #expect(record.message == "failed: broken")
        #expect((record.module, record.event) == ("x.b", "push"))
        give(to: "two")
        #expect(await outcome("two", host).value == "2, newData")
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that takes longer than a call is cancelled, and its event becomes a dead letter")
    func tooLate() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        let second = outcome("two", host)
        await heard(2)
        await host.settled()
        host.time.advance(by: .seconds(29))
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        #expect(noted == ["b one"])
        host.time.advance(by: .seconds(1))
        #expect(await first.value == "1, failed, 1 failed")
        await probe.reached("b two")
        // What it does now has no meaning any more.
        give(to: "one")
        await probe.reached("b one cancelled")
        give(to: "two")
        #expect(await second.value == "2, newData")
        // The thread of the inbox looks again after a time.
        while !host.recorder.messages.contains(where: { $0.contains("dead letter") }) {
            host.time.advance(by: .seconds(1))
            await Task.yield()
        }
        let letter = await host.recorder.first { $0.message.contains("dead letter") }
        #expect(
            letter.message.contains("its handler did not return within 30s, and was cancelled"),
            "\(letter.message)")
        #expect(await host.stopped() == .stopped)
        let next = try await launched()
        #expect(await next.stopped() == .stopped)
        #expect(noted.count { $0.hasPrefix("b one") } == 2)
    }

    @Test("a stop waits for it")
    func stop() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        _ = await host.accept("two")
        await heard(2)
        async let end = host.stopped()
        while await !host.waitsForAnswers() {}
        give(to: "one", "two")
        #expect(await end == .stopped)
        #expect(
            noted == ["b one", "b one end", "b two", "b two end", "b background", "b terminate"])
    }

    @Test("a third of its time later the stop goes on, and the next host tells it again")
    func stopInTime() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        _ = await host.accept("two")
        try host.deliver(.message, #"{"topic": "t"}"#)
        await heard(2)
        await host.settled()
        async let end = host.stopped()
        while await !host.waitsForAnswers() {}
        host.time.advance(by: .seconds(10))
        let left = await host.recorder.first { $0.message.hasPrefix("what was accepted before") }
        #expect(
            left.message.hasSuffix(
                "1 events are dropped, 1 of the inbox left to the next host"), "\(left.message)")
        #expect(await end == .stopped)
        #expect(noted == ["b one", "b background", "b terminate"], "\(host.recorder.messages)")
        give(to: "one", "two")
        let next = try await launched()
        await probe.reached("b two end")
        #expect(await next.stopped() == .stopped)
        #expect(
            noted.filter { $0 != "b one cancelled" }.suffix(6).prefix(4) == [
                "b one again", "b one end", "b two", "b two end",
            ], "\(noted)")
        #expect(probe.received("c").count == 2)
    }

    @Test("a host that dies leaves the event, and those behind it")
    func hostDies() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        _ = await host.accept("two")
        await heard(2)
        await host.settled()
        let left = try folder.copied()
        give(to: "one", "two")
        #expect(await host.stopped() == .stopped)
        let next = try await launched(in: left)
        while noted.count(where: { $0 == "b two end" }) < 2 { await Task.yield() }
        #expect(await next.stopped() == .stopped)
        #expect(
            noted.filter { $0.contains("one") || $0.contains("two") }.suffix(4) == [
                "b one again", "b one end", "b two", "b two end",
            ])
    }

    @Test("one that is replaced returns first, and the new one receives what waited")
    func replaced() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        let second = outcome("two", host)
        await heard(2)
        async let reload = host.reload(
            entries(#""deadline": "3s""#, config: #""root": "t://x""#), top: #""schemes": ["t"]"#)
        await host.settled()
        give(to: "one", "two")
        #expect(try await reload.text == "applied: recreated x.b")
        #expect(await first.value == "2, newData")
        #expect(await second.value.hasPrefix("2"))
        #expect(await host.stopped() == .stopped)
        #expect(noted.prefix(4) == ["b one", "b one end", "b two", "b two end"])
    }

    @Test(
        "beyond the time for a step of the stop it is cancelled, and the new one receives it again")
    func replacedLate() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        _ = await host.accept("two")
        await heard(2)
        let restarted = Promise<String>()
        host.host.restart("x.b", origin: .host) { restarted.keep("\($0)") }
        while await !host.waitsForAnswers() {}
        host.time.advance(by: .seconds(10))
        #expect(await first.value == "1, failed, 1 unresponsive")
        await probe.reached("b one again")
        give(to: "one", "two")
        #expect(await restarted.value.contains("applied"))
        await probe.reached("b two end")
        #expect(await host.stopped() == .stopped)
    }

    @Test("between two slices it is asked whether it claims a URL, once")
    func claims() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        #expect(await host.open("t://x") == "claimed by x.b")
        give(to: "one")
        #expect(await first.value == "2, newData")
        await host.answered()
        #expect(noted == ["b one", "b url", "b one end"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that is asked and declines is not asked again, and another one may claim it")
    func declined() async throws {
        probe.when("c open-url") { _ in }
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        let reply = await host.open("t://declined")
        #expect(!reply.hasPrefix("claimed by x.b"), "\(reply)")
        give(to: "one")
        #expect(await first.value == "2, newData")
        await host.answered()
        #expect(noted == ["b one", "b url", "b one end"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("a URL in which it hangs in between leaves what waits for it where it stands")
    func hangsInURL() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        _ = await host.accept("two")
        await heard(2)
        let door = probe.close("b url door")
        async let url = host.open("t://x")
        await probe.reached("b url door")
        host.overrun()
        #expect(await url.contains("unresponsive"))
        give(to: "one", "two")
        door.open()
        await host.caughtUp()
        await host.answered()
        #expect(
            noted == ["b one", "b url", "b url door", "b one end", "b two", "b two end"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("code of another module that it calls is in no event")
    func calling() async throws {
        let host = try await HostUnderTest(
            entries() + [HostUnderTest.Entry(name: "d", type: "AsyncProbe")],
            top: #""schemes": ["t"]"#, folder: folder, probe: probe
        ).launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        // In a call of its first slice, the lane's own event would be the current one.
        while host.host.gate.lane.openSlots.isEmpty { await Task.yield() }
        give("call", to: "one")
        await host.answered()
        #expect(probe.entries.contains("d called in no event"))
        #expect(await host.stopped() == .stopped)
    }

    @Test("a durable search that it was asked of in between is not given to the instance behind it")
    func askedBeforeRestart() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        let claimed = Promise<String>()
        let line = InboxRecord.line(
            .openURL, payload: try JSONValue(parsing: #"{"url": "t://x"}"#), id: "url")
        host.inbox?.submit(
            InboxSubmission(line: line, id: "url", onAcceptance: { _ in }) {
                claimed.keep("\($0)")
            })
        #expect(await claimed.value.contains("x.b"))
        _ = await host.accept("two")
        await heard(2)
        let restarted = Promise<String>()
        host.host.restart("x.b", origin: .host) { restarted.keep("\($0)") }
        while await !host.waitsForAnswers() {}
        host.time.advance(by: .seconds(10))
        await probe.reached("b one again")
        give(to: "one", "two")
        #expect(await restarted.value.contains("applied"))
        await probe.reached("b two end")
        #expect(noted.count { $0 == "b url" } == 1)
        #expect(await host.stopped() == .stopped)
    }

    @Test("it is not unloaded in the middle of one")
    func unloaded() async throws {
        let host = try await launched(#""launch": "lazy""#)
        let first = outcome("one", host)
        await probe.reached("b one")
        let unloaded = Promise<String>()
        host.host.unload("x.b") { unloaded.keep("\($0)") }
        while await !host.waitsForAnswers() {}
        host.time.advance(by: .seconds(10))
        let refusal = await unloaded.value
        #expect(refusal.contains("x.b has yet to answer an event"), "\(refusal)")
        give(to: "one", "two")
        #expect(await first.value == "2, newData")
        #expect(await outcome("two", host).value == "2, newData")
        #expect(await host.stopped() == .stopped)
    }

    @Test("a reload that fails leaves it as it is")
    func rolledBack() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        probe.fail("e init")
        let outcome = try await host.reload(
            entries(config: #""root": "t://x""#) + [HostUnderTest.Entry(name: "e")],
            top: #""schemes": ["t"]"#)
        #expect(outcome.text.hasPrefix("undone: "), "\(outcome.text)")
        host.time.advance(by: .seconds(20))
        await host.settled()
        give(to: "one")
        #expect(await first.value == "2, newData")
        #expect(noted == ["b one", "b one end"])
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "one whose slice does not return until the stop is told of that, and the next host the event"
    )
    func stuckInStop() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        await probe.reached("b one")
        let door = probe.close("b door")
        // It has yet another suspension behind the door.
        give("stand twice", to: "one")
        await probe.reached("b door")
        _ = await host.accept("two")
        host.overrun()
        await heard(2)
        async let end = host.stopped()
        // It begins without waiting for one that is unresponsive.
        await probe.reached("c resign-active")
        door.open()
        _ = await end
        #expect(noted.suffix(2) == ["b background", "b terminate"], "\(noted)")
        #expect(!noted.contains("b two"))
        give(to: "one once more", "two")
        let next = try await launched()
        while !noted.contains("b two end") { await Task.yield() }
        #expect(noted.contains("b one again"))
        #expect(await next.stopped() == .stopped)
    }

    @Test("a slice that does not return makes it unresponsive; its handler goes on when it returns")
    func stuck() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        await probe.reached("b one")
        let door = probe.close("b door")
        give("stand", to: "one")
        await probe.reached("b door")
        let second = outcome("two", host)
        host.overrun()
        #expect(await first.value == "1, failed, 1 unresponsive")
        #expect(await second.value == "1, failed, 1 unresponsive")
        give(to: "two")
        door.open()
        await host.caughtUp()
        await host.answered()
        #expect(noted == ["b one", "b one stand", "b door", "b two", "b two end"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("messages in memory alone beyond its backlog are dropped, the first ones, and counted")
    func many() async throws {
        let host = try await launched(#""backlog": 10"#)
        _ = await host.accept("one")
        await probe.reached("b one")
        for _ in 0..<50 { try host.deliver(.message, #"{"topic": "t"}"#) }
        await host.settled()
        give(to: "one", "message")
        await host.answered()
        // One more than its backlog: there is room again before the next one begins.
        #expect(noted.count { $0 == "b message" } == 11)
        let missed = await host.recorder.first { $0.message.contains("it missed") }
        #expect(missed.message.contains("it missed 39 events"), "\(missed.message)")
        #expect(await host.stopped() == .stopped)
    }

    @Test("durable events beyond its backlog wait in the inbox, and it reads on there")
    func far() async throws {
        let host = try await launched(#""backlog": 3"#)
        let names = (0..<20).map { "n\($0)" }
        for name in names { _ = await host.accept(name) }
        await heard(20)
        for name in names { give(to: name) }
        await probe.reached("b n19 end")
        await host.caughtUp()
        await host.answered()
        #expect(noted == names.flatMap { ["b \($0)", "b \($0) end"] })
        #expect(await host.stopped() == .stopped)
    }
}
