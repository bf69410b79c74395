import TestSupport
import Testing

@testable import ModuleHostCore

/// Rule 8: an overdue module that is removed is unlisted at once, and notified of its end when it returns; one that
/// is to be recreated is so only then.
@Suite("Reload with late modules", .timeLimit(.minutes(10)))
struct ReloadOverdueTests {
    private func overdue(
        _ entries: [HostUnderTest.Entry], _ probe: Probe
    ) async throws -> (HostUnderTest, Door) {
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest(entries, probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await probe.reached("c background")
        return (test, door)
    }

    @Test("a removed module receives nothing more but its end, when it returns")
    func removed() async throws {
        let probe = Probe()
        let (test, door) = try await overdue(
            [.init(name: "a"), .init(name: "b"), .init(name: "c")], probe)
        try test.deliver(.memoryWarning)
        #expect(try await test.reload("a", "c").text == "applied: removed x.b")
        try test.deliver(.push, #"{"aps": {}}"#)
        await test.settled()
        #expect(probe.entries("b").last == "b background")
        door.open()
        await probe.reached("b deinit")
        #expect(
            probe.entries("b").suffix(3) == ["b background", "b terminate", "b deinit"])
        await test.released(2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is late in its own end is waited for as in any event, then forgotten")
    func lateInItsEnd() async throws {
        let probe = Probe()
        let door = probe.close("b deinit")
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        async let outcome = test.reload("a", "c")
        await probe.reached("b deinit")
        test.overrun()
        try test.deliver(.memoryWarning)
        await probe.reached("c memory-warning")
        #expect(try await outcome.text == "applied: removed x.b")
        let health = await withCheckedContinuation { continuation in
            test.host.onLane { app, _ in continuation.resume(returning: app.health) }
        }
        #expect(health.overdue == [] && health.modules == 2)
        door.open()
        await test.released(2)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that is overdue in an event for it alone has that as its current event")
    func directed() async throws {
        let (probe, door) = (Probe(), Door())
        probe.when("b activate") { module in
            door.pass()
            probe.note("b in \(module.context.event?.kind.rawValue ?? "nothing")")
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        async let outcome = test.reload("a", "b")
        await probe.reached("b activate")
        test.overrun()
        #expect(try await outcome.text == "applied: added x.b")
        door.open()
        await probe.reached("b in activate")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that is to be recreated receives all it missed, and is recreated then")
    func recreated() async throws {
        let probe = Probe()
        let (test, door) = try await overdue(
            [.init(name: "a"), .init(name: "b"), .init(name: "c")], probe)
        try test.deliver(.memoryWarning)
        let outcome = try await test.reload([
            .init(name: "c"), .init(name: "b", type: "CallProbe"), .init(name: "a"),
        ])
        #expect(
            outcome.text == "applied: to be recreated once they return: x.b; "
                + "adjusted x.c, x.a; order of modules")
        try test.deliver(.push, #"{"aps": {}}"#)
        await test.settled()
        #expect(probe.entries("push") == ["c push", "a push"])
        door.open()
        await probe.reached("b deinit")
        #expect(
            probe.entries("b").suffix(5) == [
                "b memory-warning", "b configuration-changed", "b push", "b terminate", "b deinit",
            ])
        #expect(await test.call("x.b", "sum", ["left": 1, "right": 2]) == "3")
        #expect(
            try await test.reload([
                .init(name: "c"), .init(name: "b", type: "CallProbe"), .init(name: "a"),
            ]).text == "nothing changed")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a claimed event reaches a late module by the order that held when it was claimed")
    func claimed() async throws {
        let probe = Probe()
        let (test, door) = try await overdue(
            [
                .init(name: "a", config: #""claims": true"#), .init(name: "b"), .init(name: "c"),
            ], probe)
        try test.deliver(.openURL, #"{"url": "app:x"}"#)
        let outcome = try await test.reload([
            .init(name: "b"), .init(name: "c"), .init(name: "a", config: #""claims": true"#),
        ])
        #expect(outcome.text == "applied: adjusted x.b, x.a; order of modules")
        try test.deliver(.memoryWarning)
        door.open()
        await probe.reached("b memory-warning")
        #expect(probe.entries("open-url") == ["a open-url"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("an app that stops does not wait for one that was removed and does not return")
    func leftBehind() async throws {
        let probe = Probe()
        let (test, door) = try await overdue(
            [.init(name: "a"), .init(name: "b"), .init(name: "c")], probe)
        #expect(try await test.reload("a", "c").text == "applied: removed x.b")
        // The clock stands still.
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("c").last == "c terminate")
        door.open()
    }
}
