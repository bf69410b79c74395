import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Clients that wait until the host is ready or a module runs", .timeLimit(.minutes(10)))
struct HostWaitTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("HostWaitTests")

    /// The outcome of a wait, with a closure that cancels it.
    private struct Wait {
        let outcome = Promise<Result<HostWaitOutcome, RPCError>>()
        let cancel: @Sendable () -> Void

        init(_ test: HostUnderTest, _ module: String? = nil, ready: Bool = true) {
            cancel = test.host.wait(
                for: HostCondition(needsReady: ready, module: module), within: .seconds(5)
            ) { [outcome] in outcome.keep($0) }
        }
    }

    @Test("until the host is ready, and no longer")
    func ready() async throws {
        let door = Door()
        probe.when("a init") { _ in door.pass() }
        let test = try HostUnderTest("a", "b", probe: probe)
        let waits = [Wait(test), Wait(test, "x.b"), Wait(test, "x.b", ready: false)]
        try test.host.launch()
        await probe.reached("a init")
        #expect(waits.allSatisfy { $0.outcome.current == nil })
        door.open()
        for wait in waits { #expect(await wait.outcome.value == .success(.met)) }
        #expect(await Wait(test).outcome.value == .success(.met))
        #expect(await test.stopped() == .stopped)
    }

    @Test("when the time is up, it says what is missing")
    func timeIsUp() async throws {
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try HostUnderTest("a", "b", "c", probe: probe)
        let early = Wait(test, "x.b")
        test.time.advance(by: .seconds(5))
        test.time.advance(by: .milliseconds(200))
        #expect(
            await early.outcome.value
                == .success(
                    .missing([
                        "the app is not ready",
                        "the state of x.b is not known: the host is busy",
                    ])))
        _ = try await test.launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await probe.reached("c background")
        let hanging = Wait(test, "x.b")
        await test.settled()
        #expect(hanging.outcome.current == nil)
        test.time.advance(by: .seconds(5))
        #expect(await hanging.outcome.value == .success(.missing(["x.b is unresponsive"])))
        let back = Wait(test, "x.b")
        door.open()
        #expect(await back.outcome.value == .success(.met))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that failed for good, also because of one that it needs; one that is retried")
    func failed() async throws {
        probe.fail("b init")
        probe.fail("d init", times: 1)
        let test = try await HostUnderTest(
            [
                Entry(name: "a"), Entry(name: "b"),
                Entry(name: "c", more: #""needs": ["x.b"]"#),
                Entry(name: "d", more: #""retry": true"#),
                Entry(name: "e", more: #""launch": "lazy""#, type: "LazyProbe"),
            ], probe: probe
        ).launched()
        guard case .success(.failed(let reason)) = await Wait(test, "x.b").outcome.value,
            case .success(.failed(let needy)) = await Wait(test, "x.c").outcome.value
        else {
            Issue.record("they are waited for")
            return
        }
        #expect(reason.hasPrefix("x.b failed: init: "), "\(reason)")
        #expect(needy.hasPrefix("x.c failed: it needs x.b, which failed: init: "), "\(needy)")
        #expect(await Wait(test, "x.e").outcome.value == .success(.met))
        let retried = Wait(test, "x.d", ready: false)
        await test.settled()
        #expect(retried.outcome.current == nil)
        test.time.advance(by: .milliseconds(125))
        #expect(await retried.outcome.value == .success(.met))
        let unknown = await Wait(test, "x.bb").outcome.value
        #expect(
            unknown == .failure(RPCError(.notFound, "no module 'x.bb'; did you mean 'x.b'?")))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a wait that is cancelled, and those that a stop ends")
    func ends() async throws {
        probe.fail("b init")
        let test = try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "b", more: #""retry": true"#)], probe: probe
        ).launched()
        let cancelled = Wait(test, "x.b")
        cancelled.cancel()
        #expect(await cancelled.outcome.value == .failure(RPCError(ofCall: RouteError.cancelled)))
        let waiting = Wait(test, "x.b")
        test.host.waits.end(failure: "a part is lost")
        #expect(await waiting.outcome.value == .success(.failed("a part is lost")))
        let late = await Wait(test).outcome.value
        #expect(late == .failure(RPCError(ofCall: RouteError.stopped)))
        #expect(await test.stopped() == .stopped)
    }
}
