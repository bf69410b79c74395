import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Asynchronous handlers of `background` and `terminate`: what waits for them is a stop, and the module itself.
@Suite("Asynchronous handlers of background and terminate", .timeLimit(.minutes(10)))
struct StateHandlersTests {
    private let probe: Probe

    init() { probe = Probe("StateHandlersTests") }

    private static let reason = "its handler has not returned"

    private func entries(_ more: String = "") -> [HostUnderTest.Entry] {
        [
            HostUnderTest.Entry(name: "a"),
            HostUnderTest.Entry(name: "b", more: more, type: "StateProbe"),
            HostUnderTest.Entry(name: "c", type: "StateProbe"),
        ]
    }

    private func launched(_ more: String = "", top: String = "") async throws -> HostUnderTest {
        try await HostUnderTest(entries(more), top: top, probe: probe).launched()
    }

    private func give(_ text: String = "end", to entries: String...) {
        for entry in entries { LateProbe.promise(entry, of: probe).keep(text) }
    }

    /// The notes of the asynchronous modules, but for their ends.
    private var noted: [String] {
        probe.entries.filter { !$0.hasPrefix("a ") && !$0.hasSuffix(" gone") }
    }

    /// The lines of the log about the end of a handler's time.
    private func overruns(_ host: HostUnderTest) -> [String] {
        host.recorder.records.filter { $0.level >= .warning }.map {
            "\($0.module ?? "host") \($0.event ?? "-"): \($0.message)"
        }
    }

    @Test("other modules receive the next events meanwhile, its own wait, and calls do not")
    func order() async throws {
        let host = try await launched()
        try host.deliver(.background)
        try host.deliver(.message, #"{"topic": "t"}"#)
        try host.deliver(.foreground)
        await probe.reached("a activate")
        await host.settled()
        #expect(noted == ["b background", "c background"])
        #expect(await host.call("x.b", "event") == #""no event""#)
        give(to: "c background")
        await probe.reached("c foreground")
        // The context knows the event behind a suspension.
        #expect(noted.dropFirst(2) == ["c background end", "c message", "c foreground"])
        give(to: "b background")
        await host.answered()
        #expect(noted.suffix(3) == ["b background end", "b message", "b foreground"])
        #expect(host.holds == [])
        give(to: "b terminate", "c terminate")
        #expect(await host.stopped() == .stopped)
    }

    @Test("a stop delivers 'terminate' when all have returned, and releases the modules after that")
    func stop() async throws {
        let host = try await launched()
        host.host.stop(because: "the test says so")
        await probe.reached("c background")
        _ = await host.recorder.first(
            containing: "the stop waits: x.b holds 'background': \(Self.reason); x.c holds")
        give(to: "c background")
        await probe.reached("c background end")
        await host.calm()
        #expect(host.holds == ["x.b background: \(Self.reason), 10s left"])
        #expect(!probe.entries.contains("a terminate"))
        give(to: "b background")
        await probe.reached("c terminate")
        await host.calm()
        #expect(
            probe.entries.suffix(5) == [
                "c background end", "b background end", "a terminate", "b terminate",
                "c terminate",
            ])
        give(to: "b terminate")
        await probe.reached("b terminate end")
        await host.calm()
        #expect(!probe.entries.contains { $0.hasSuffix("gone") })
        give(to: "c terminate")
        #expect(await host.end() == .stopped)
        #expect(
            probe.entries.suffix(5) == [
                "b terminate end", "c terminate end", "c gone", "b gone", "a deinit",
            ])
        #expect(overruns(host) == [])
    }

    @Test("those that return without a suspension hold nothing")
    func atOnce() async throws {
        let host = try await launched()
        for name in ["b", "c"] { give(to: "\(name) background", "\(name) terminate") }
        #expect(await host.stopped() == .stopped)
        #expect(noted.filter { $0.hasSuffix("end") }.count == 4)
        #expect(!host.recorder.messages.contains { $0.contains("holds '") })
    }

    @Test("one that throws behind a suspension has failed, and the stop goes on")
    func throwing() async throws {
        let host = try await launched()
        give(to: "c background", "b terminate", "c terminate")
        host.host.stop(because: "the test says so")
        await probe.reached("c background")
        await host.calm()
        give("throw", to: "b background")
        #expect(await host.end() == .stopped)
        #expect(overruns(host) == ["x.b background: failed: broken"])
    }

    @Test("beyond deadlines.stop a handler is cancelled, and the stop goes on", arguments: [1, 3])
    func tooLate(stop: Int) async throws {
        let host = try await launched(top: #""deadlines": {"stop": "\#(stop)s"}"#)
        give(to: "c background", "b terminate")
        host.host.stop(because: "the test says so")
        await probe.reached("c background")
        await host.pass(.seconds(stop) - .milliseconds(500))
        #expect(!noted.contains("b background cancelled"))
        host.time.advance(by: .milliseconds(500))
        await probe.reached("b background cancelled")
        await probe.reached("c terminate")
        await host.pass(.seconds(stop) - .milliseconds(500))
        #expect(!noted.contains("c terminate cancelled"))
        host.time.advance(by: .milliseconds(500))
        #expect(await host.end() == .stopped)
        await probe.reached("c terminate cancelled")
        #expect(
            overruns(host)
                == [("b", "background"), ("c", "terminate")].flatMap { name, event in
                    [
                        "x.\(name) -: held '\(event)' longer than \(stop)s: \(Self.reason)",
                        "x.\(name) \(event): failed: its handler did not return within \(stop)s, "
                            + "and was cancelled",
                    ]
                })
    }

    @Test("a stop that is out of time names those that have not returned")
    func outOfTime() async throws {
        let host = try await launched(top: #""deadlines": {"stopAll": "7s"}"#)
        give(to: "b background", "c background", "c terminate")
        host.host.stop(because: "the test says so")
        await probe.reached("c terminate")
        await host.pass(.milliseconds(6500))
        host.time.advance(by: .milliseconds(500))
        guard case .overdue(let modules) = await host.end() else {
            Issue.record("the stop should have run out of time")
            return
        }
        #expect(modules.map(\.text) == ["x.b"])
        #expect(
            overruns(host).contains(
                "x.b -: held 'terminate' until the stop was out of time: \(Self.reason)"))
    }

    @Test("a stop waits for one that has begun before it, also beyond a third of its time")
    func before() async throws {
        let host = try await launched(top: #""deadlines": {"stop": "20s"}"#)
        give(to: "c background", "b terminate", "c terminate")
        try host.deliver(.background)
        await probe.reached("c background")
        await host.pass(.seconds(2))
        host.host.stop(because: "the test says so")
        // For ten seconds it waits as for any event that was accepted before.
        await host.pass(.seconds(17))
        #expect(!probe.entries.contains("a terminate"))
        #expect(host.holds == ["x.b background: \(Self.reason), 1s left"])
        give(to: "b background")
        #expect(await host.end() == .stopped)
        #expect(noted.suffix(5).first == "b background end")
        #expect(overruns(host) == [])
    }

    @Test(
        "outside of a stop it has the time of a hold, and in the foreground that of a call",
        arguments: [(false, 10), (true, 30)])
    func limits(inForeground: Bool, seconds: Int) async throws {
        let host = try await launched()
        give(to: "c background", "b terminate", "c terminate")
        try host.deliver(.background)
        if inForeground { try host.deliver(.foreground) }
        await host.pass(.seconds(seconds) - .milliseconds(500))
        #expect(!noted.contains("b background cancelled"))
        host.time.advance(by: .milliseconds(500))
        await probe.reached("b background cancelled")
        await host.answered()
        #expect(noted.contains("b foreground") == inForeground)
        let warning = "x.b -: held 'background' longer than 10s: \(Self.reason)"
        let failure =
            "x.b background: failed: its handler did not return within \(seconds)s, and was cancelled"
        #expect(overruns(host) == (inForeground ? [] : [warning]) + [failure])
        #expect(await host.stopped() == .stopped)
    }

    @Test("a module that a reload removes receives 'terminate' behind it, and goes behind that")
    func removed() async throws {
        let host = try await launched()
        #expect(
            try await host.reload([entries()[0], entries()[2]]).text == "applied: removed x.b")
        await probe.reached("b background")
        try host.deliver(.message, #"{"topic": "t"}"#)
        await probe.reached("c message")
        await host.calm()
        #expect(noted == ["b background", "c message"])
        give(to: "b background")
        await probe.reached("b terminate")
        await host.calm()
        #expect(!probe.entries.contains("b gone"))
        // Its time is over, and it goes cancelled.
        host.time.advance(by: .seconds(10))
        await probe.reached("b gone")
        #expect(noted.suffix(2) == ["b terminate", "b terminate cancelled"])
        give(to: "c background", "c terminate")
        #expect(await host.stopped() == .stopped)
    }

    @Test("a restart waits for the time of a stop's step, and cancels one that has not returned")
    func restarted() async throws {
        let host = try await launched()
        give(to: "c background", "c terminate", "b terminate")
        try host.deliver(.background)
        // In the foreground it has more time.
        try host.deliver(.foreground)
        await probe.reached("a activate")
        await host.settled()
        let restarted = Promise<String>()
        host.host.restart("x.b", origin: .host) { restarted.keep("\($0)") }
        while await !host.waitsForAnswers() {}
        await host.pass(.milliseconds(9500))
        #expect(!restarted.isKept && noted.last == "c foreground")
        host.time.advance(by: .milliseconds(500))
        #expect(await restarted.value.contains("applied"))
        await probe.reached("b gone")
        #expect(noted.contains("b background cancelled"))
        #expect(host.holds == [])
        #expect(overruns(host) == [])
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that hears of the stop late does not wait between its events, and the stop waits")
    func late() async throws {
        let host = try await launched()
        give(to: "c background", "c terminate")
        let door = probe.close("b door")
        try host.deliver(.message, #"{"topic": "t"}"#)
        await probe.reached("b door")
        host.overrun()
        await probe.reached("c message")
        host.host.stop(because: "the test says so")
        await probe.reached("c terminate end")
        door.open()
        await probe.reached("b terminate")
        await host.caughtUp()
        #expect(
            host.holds
                == ["background", "terminate"].map {
                    "x.b \($0): \(Self.reason), 10s left"
                })
        give(to: "b background", "b terminate")
        #expect(await host.end() == .stopped)
        #expect(
            Set(noted.suffix(2)) == ["b background end", "b terminate end"])
    }

    @Test("a class with both forms is refused, with the name of each")
    func both() throws {
        let error = #expect(throws: SlatefileError.self) {
            try HostUnderTest.slatefile(
                [HostUnderTest.Entry(name: "a", type: "BothStatesProbe")], probe: probe)
        }
        let text = "\(try #require(error))"
        for name in ["BackgroundResponder", "TerminationResponder"] {
            #expect(
                text.contains(
                    "'ModuleHostTests.BothStatesProbe' is a \(name) and an Async\(name), and one of them "
                        + "would never be called: leave one out"), "\(text)")
        }
    }

    @Test("in a process of its own it answers when its handler has returned")
    func process() async throws {
        let module = try LedModule("StateProbe", probe: probe)
        let events = module.declaration["events"]?.elements.compactMap(\.string)
        #expect(events == ["background", "foreground", "terminate", "message"])
        for event in ["background", "terminate"] {
            let number = try module.request(
                "event", #"{"event":"\#(event)","from":{"kind":"host"}}"#)
            await probe.reached("a \(event)")
            // It is called meanwhile.
            let call = try module.ask("call", #"{"action":"event","from":{"kind":"host"}}"#)
            #expect(call.string == "no event")
            #expect(probe.entries.last == "a \(event)")
            give(to: "a \(event)")
            #expect(try module.answer(to: number) == .emptyObject)
            #expect(probe.entries.suffix(2) == ["a \(event)", "a \(event) end"])
        }
        #expect(try module.notify(.foreground) == nil)
        try module.end()
        #expect(probe.entries.suffix(2) == ["a foreground", "a gone"])
    }
}

final class BothStatesProbe: BackgroundResponder, AsyncBackgroundResponder,
    TerminationResponder, AsyncTerminationResponder
{
    init(context: ModuleContext) {}

    func didEnterBackground(isolation: isolated any Actor) async throws {}
    func willTerminate() {}
    func willTerminate(isolation: isolated any Actor) async throws {}
    func willEnterForeground() {}
}
