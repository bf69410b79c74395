import TestSupport
import Testing

@testable import ModuleHostCore

/// The modules that count as notified of an event: those that wanted to receive it, and no others.
@Suite("How many modules received an event", .timeLimit(.minutes(10)))
struct EventCountTests {
    private func counts(_ test: HostUnderTest, _ kind: EventKind) async -> [String] {
        await test.answered()
        func lines() -> [String] {
            test.recorder.records.filter { $0.event == kind.rawValue }.map(\.message)
        }
        // The answer of a process has its line in a job of its own.
        while lines().isEmpty, !Task.isCancelled { await test.settled() }
        return lines()
    }

    @Test("a message counts those that listen to its topic; who throws has failed")
    func topics() async throws {
        let probe = Probe()
        probe.when("c message") { _ in throw TestError() }
        let test = try await HostUnderTest(
            [
                .init(name: "a", config: #""topics": ["news"]"#),
                .init(name: "b", config: #""topics": ["sport.*"]"#),
                .init(name: "c", config: #""topics": ["sport.golf"]"#),
            ], probe: probe
        ).launched()
        for topic in ["news", "sport.chess", "sport.golf", "newz"] {
            try test.deliver(.message, #"{"topic": "\#(topic)"}"#)
        }
        #expect(
            await counts(test, .message)
                == [
                    "1 module", "1 module", "failed: broken", "1 module, 1 failed",
                    "no module listens to topic 'newz'; did you mean 'news'?",
                ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that takes settings counts where there are some for it")
    func settings() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(try await test.reload("a", "b", "c").text == "applied: added x.c")
        #expect(await counts(test, .configurationChanged) == ["2 modules"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a process counts where it declared the event, and not where it declared another")
    func processes() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(probe: probe).launched()
        try test.host.deliver(.push, "{}")
        try test.host.deliver(.pushRegistered, #"{"deviceToken": "00ff"}"#)
        try test.host.deliver(.localNotification, #"{"title": "x"}"#)
        let pushes = await counts(test.host, .push)
        #expect(pushes == ["2 modules, noData"])
        #expect(await counts(test.host, .pushRegistered) == ["1 module"])
        #expect(await counts(test.host, .localNotification) == ["1 module"])
        #expect(await test.host.stopped() == .stopped)
    }
}
