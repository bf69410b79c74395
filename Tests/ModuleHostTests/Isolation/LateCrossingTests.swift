import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Answers that come later, from modules in a process of their own and to them.
@Suite("Answers that come later, between processes", .timeLimit(.minutes(10)))
struct LateCrossingTests {
    private func test(_ sin: String = "good", probe: Probe) async throws -> IsolatedTest {
        try await IsolatedTest(
            sin, others: [.init(name: "l", type: "LateProbe")], probe: probe
        ).launched()
    }

    /// What the program noted of a kind of line.
    private func notes(_ member: String, of test: IsolatedTest) throws -> [JSONValue] {
        let bytes = (try? readFile(at: test.folder.path + "/journal", limit: 1 << 20)) ?? []
        return try bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            let value = try JSONValue(parsing: Array($0))[member]
            return value?.isNull == false ? value : nil
        }
    }

    @Test("other calls and events go on until the process answers")
    func later() async throws {
        let test = try await test(probe: Probe())
        async let kept = test.call("keep", ["text": "one"])
        await test.pending(1)
        #expect(await test.call("echo", ["text": "two"]) == #"{"text":"two"}"#)
        try test.host.deliver(.push, "{}")
        #expect(await kept == #"{"text":"one"}"#)
        #expect(await test.call("keep") == "parameter 'text' is missing: expected text")
        #expect(await test.host.stopped() == .stopped)
        #expect(test.log() == [])
    }

    @Test("a synchronous call is refused before the process receives it")
    func synchronous() async throws {
        let test = try await test(probe: Probe())
        let text = try await test.host.asFirst {
            "\(try $0.context.mediator.perform("x.b", "keep", ["text": "one"]))"
        }
        #expect(text.hasPrefix("'keep' of x.b answers later, and a synchronous call cannot wait"))
        #expect(await test.host.stopped() == .stopped)
    }

    @Test("a process that dies fails the calls that it has not answered")
    func died() async throws {
        let test = try await IsolatedTest(
            "trap", "--after", "1", "--once", probe: Probe()
        ).launched()
        async let kept = test.call("keep", ["text": "one"])
        await test.pending(1)
        try test.host.deliver(.background)
        #expect(await kept.contains("x.b: process N"))
        await test.revived()
        #expect(await test.call("echo", ["text": "two"]) == #"{"text":"two"}"#)
        #expect(await test.host.stopped() == .stopped)
    }

    @Test("the process learns that a call's time is over, and may answer nevertheless")
    func deadline() async throws {
        let test = try await test(probe: Probe())
        async let kept = test.call("hurry", ["text": "one"])
        await test.pending(1)
        await test.host.pass(.seconds(2))
        #expect(await kept == "x.b did not answer 'hurry' within 2s")
        // It answers the call that nobody waits for, and the event.
        try test.host.deliver(.push, "{}")
        #expect(await test.call("echo", ["text": "two"]) == #"{"text":"two"}"#)
        #expect(try notes("id", of: test).count == 1)
        #expect(await test.host.stopped() == .stopped)
        #expect(test.log() == [])
    }

    @Test("a process that waits in an event for a later answer does not hold up the others")
    func waiting() async throws {
        let probe = Probe()
        let test = try await test("wait-in-event", probe: probe)
        try test.host.deliver(.push, "{}")
        await probe.reached("await one")
        await probe.reached("c push")
        LateProbe.promise("one", of: probe).keep("done")
        await probe.reached("resume one")
        #expect(await test.host.stopped() == .stopped)
        let responses = try notes("response", of: test)
        #expect(responses.map { $0["result"]?["reply"]?.string } == ["done x.b"])
    }

    @Test("a process that cannot wait is refused")
    func refused() async throws {
        let probe = Probe()
        let test = try await test("call-at-once", probe: probe)
        try test.host.deliver(.push, "{}")
        #expect(await test.host.stopped() == .stopped)
        let responses = try notes("response", of: test)
        #expect(
            responses.first?["error"]?["message"]?.string?.hasPrefix(
                "'await' of x.l answers later, and a synchronous call cannot wait for that") == true
        )
        #expect(probe.entries("await one") == [])
    }

    @Test("no more calls wait for a process than it may have")
    func tooMany() async throws {
        var processes = ProcessSettings.quick
        processes.limits.queue.requests = 2
        let test = try await IsolatedTest("good", processes: processes, probe: Probe()).launched()
        async let first = test.call("keep", ["text": "one"])
        async let second = test.call("keep", ["text": "two"])
        await test.pending(2)
        #expect(
            await test.call("keep", ["text": "three"])
                == "x.b cannot be called now: it has not answered 2 calls yet")
        try test.host.deliver(.push, "{}")
        #expect(await (first, second) == (#"{"text":"one"}"#, #"{"text":"two"}"#))
        #expect(await test.host.stopped() == .stopped)
    }
}

extension IsolatedTest {
    /// Waits until so many calls of the program wait for their answers.
    fileprivate func pending(_ count: Int) async {
        while await pendingCount < count { await Task.yield() }
    }

    private var pendingCount: Int {
        get async {
            await withCheckedContinuation { continuation in
                host.host.onLane { app, _ in
                    continuation.resume(returning: app.records[1].place?.pendingCount ?? 0)
                }
            }
        }
    }
}
