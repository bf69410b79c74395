import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Calls that take too long", .timeLimit(.minutes(10)))
struct OverdueCallTests {
    private func host(probe: Probe) async throws -> HostUnderTest {
        try await HostUnderTest(
            [
                .init(name: "a", type: "CallProbe"), .init(name: "s", type: "StallProbe"),
                .init(name: "c", type: "CallProbe"),
            ], top: #""schemes": ["app"]"#, probe: probe
        ).launched()
    }

    /// Calls `x.c` from a module, and keeps its answer, or the error in words.
    private static func call(from module: CallProbe, keeping outcome: Promise<String>) {
        do {
            outcome.keep(try module.context.mediator.perform("x.c", "act", as: String.self))
        } catch {
            outcome.keep("\(error)")
        }
    }

    private func sum(_ test: HostUnderTest) async -> String {
        await test.call("x.c", "sum", ["left": 1, "right": 2])
    }

    @Test(
        "the lane is taken from whatever code of a module's a call runs",
        arguments: ["decode", "predicate", "handle", "encode", "describe"])
    func takeover(place: String) async throws {
        let probe = Probe("takeover \(place)")
        let door = probe.close(place)
        let test = try await host(probe: probe)
        async let stuck = call(place, test)
        await probe.reached(place)
        test.overrun()
        #expect(await stuck == "x.s took too long to answer, and is unresponsive")
        #expect(await sum(test) == "3")
        #expect(await call(place, test) == "x.s is unresponsive, and calls do not wait for it")
        door.open()
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries(place) == [place])
    }

    /// Calls by the host's own origin, and with a reply that leaves the app.
    private func call(_ action: String, _ test: HostUnderTest) async -> String {
        await withCheckedContinuation { continuation in
            test.host.call(
                "x.s", action, ["probe": test.probe.name], origin: .host, token: nil
            ) { result in
                switch result {
                case .success: continuation.resume(returning: "replied")
                case .failure(let error): continuation.resume(returning: "\(error)")
                }
            }
        }
    }

    @Test("a predicate that does not return holds up no search by URL")
    func predicateOfURL() async throws {
        let probe = Probe("url")
        let door = probe.close("predicate")
        let test = try await host(probe: probe)
        let name = probe.name.split(separator: " ").joined(separator: "%20")
        async let stuck = test.open("app://x.s/predicate?probe=\(name)", from: .host)
        await probe.reached("predicate")
        test.overrun()
        #expect(await stuck == "x.s took too long to answer, and is unresponsive")
        #expect(await sum(test) == "3")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("an error that does not say what it is delays no other")
    func errorOfEvent() async throws {
        let probe = Probe()
        let door = probe.close("describe")
        let test = try await host(probe: probe)
        try test.deliver(.memoryWarning)
        await probe.reached("describe")
        test.overrun()
        await probe.reached("c memory-warning")
        #expect(await sum(test) == "3")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reply that does not end delays no other")
    func reply() async throws {
        let probe = Probe()
        let door = probe.close("deinit")
        let test = try await host(probe: probe)
        _ = try await test.asFirst { module in
            module.context.mediator.perform(
                "x.s", "encode", ["probe": test.probe.name]
            ) { _ in }
            return ""
        }
        await probe.reached("deinit")
        test.overrun()
        #expect(await sum(test) == "3")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a late module's own call waits for no target that takes too long")
    func callOfLateModule() async throws {
        let probe = Probe()
        let (door, other) = (Door(), Door())
        let outcome = Promise<String>()
        probe.whenCalled("a memory-warning") { module, _ in
            door.pass()
            Self.call(from: module, keeping: outcome)
            return ""
        }
        probe.whenCalled("c act") { _, _ in
            other.pass()
            return ""
        }
        let test = try await host(probe: probe)
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun()
        await probe.reached("c memory-warning")
        door.open()
        await probe.reached("c act")
        test.overrun()
        // The door is still closed.
        #expect(await outcome.value == "x.c took too long to answer, and is unresponsive")
        other.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a caller is answered in a stop long before the module's deadline, and the stop's end")
    func overdue() async throws {
        let probe = Probe()
        let door = Door()
        probe.whenCalled("a act") { module, _ in
            module.context.center.add(ProbeMember("left", probe))
            probe.note("a at the door")
            door.pass()
            return ""
        }
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe")],
            top:
                #""schemes": ["app"], "deadlines": {"event": "1h", "stopAll": "1s", "stop": "1s"}"#,
            probe: probe
        ).launched()
        async let stuck = test.open("app://x.a/act", from: .host)
        await probe.reached("a at the door")
        test.host.stop(because: "the test is over")
        test.time.advance(by: .milliseconds(900))
        #expect(await stuck == "x.a took too long to answer, and is unresponsive")
        test.time.advance(by: .seconds(2))
        let id = try ModuleID("x.a")
        #expect(await test.end() == .overdue([id]))
        door.open()
        // The lane ends, and with it releases what was left behind.
        await probe.reached("left deinit")
        withExtendedLifetime(test) {}
    }

    @Test(
        "a call that outlasts the app still has its dispatcher and its thread",
        arguments: ["a", "b"])
    func outlastingCall(caller: String) async throws {
        let probe = Probe("outlasting call of \(caller)")
        let door = Door()
        let outcome = Promise<String>()
        probe.whenCalled("\(caller) act") { module, _ in
            Self.call(from: module, keeping: outcome)
            return ""
        }
        probe.whenCalled("c act") { _, _ in
            door.pass()
            return ""
        }
        let entries = ["a", "c"].map { HostUnderTest.Entry(name: $0, type: "CallProbe") }
        let top =
            #""schemes": ["app"], "deadlines": {"event": "1h", "stopAll": "1s", "stop": "1s"}"#
        let test = try await HostUnderTest(entries, top: top, probe: probe).launched()
        // The dispatcher that `b` receives in the reload has another one as its successor.
        let added = HostUnderTest.Entry(name: "b", type: "CallProbe")
        #expect(try await test.reload(entries + [added], top: top).text == "applied: added x.b")
        async let stuck = test.open("app://x.\(caller)/act", from: .host)
        await probe.reached("c act")
        test.host.stop(because: "the test is over")
        test.time.advance(by: .milliseconds(900))
        #expect(await stuck == "x.\(caller) took too long to answer, and is unresponsive")
        test.time.advance(by: .seconds(2))
        guard case .overdue(let left) = await test.end() else {
            Issue.record("the host ended as if no module was busy")
            return
        }
        // The third may be in its part of the stop at that moment.
        #expect(Set(left.map(\.text)).isSuperset(of: ["x.\(caller)", "x.c"]))
        door.open()
        #expect(await outcome.value == "x.c took too long to answer, and is unresponsive")
    }

    @Test("a module that is gone gets no completion, and what that held ends")
    func completionOfGone() async throws {
        let probe = Probe()
        let completed = LockedList<String>()
        let test = try await host(probe: probe)
        probe.whenCalled("c act") { _, _ in
            // Comes before the completion.
            test.host.onLane { app, _ in app.gate.lane.unlist(app.records[0].slot) }
            return ""
        }
        _ = try await test.asFirst { module in
            let member = ProbeMember("held", probe)
            module.context.mediator.perform("x.c", "act") { _ in
                withExtendedLifetime(member) { completed.append("called") }
            }
            return ""
        }
        await probe.reached("held deinit")
        await test.settled()
        #expect(completed.values == [])
        #expect(await test.stopped() == .stopped)
    }
}
