import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// A reload is many jobs of the lane: what has its turn in between, and what comes of that.
@Suite("What comes between the steps of a reload", .timeLimit(.minutes(10)))
struct ReloadStepsTests {
    /// The entries from one on.
    private func entries(_ probe: Probe, from first: String) -> [String] {
        Array(probe.entries.drop { $0 != first })
    }

    @Test("an event is delivered when the module in hand is made, launched or let go of")
    func events() async throws {
        let probe = Probe()
        let (making, launching) = (Door(), Door())
        probe.when("b init") { _ in making.pass() }
        probe.when("b launch") { _ in launching.pass() }
        let test = try await HostUnderTest("a", "e", "f", "g", probe: probe).launched()
        async let outcome = test.reload("a", "b", "c", "d")
        await probe.reached("b init")
        try test.deliver(.memoryWarning)
        let leaving = probe.close("g deinit")
        making.open()
        await probe.reached("b launch")
        try test.deliver(.localNotification, #"{"title": "x"}"#)
        launching.open()
        await probe.reached("g deinit")
        try test.deliver(.push, "{}")
        leaving.open()
        #expect(
            try await outcome.text == "applied: added x.b, x.c, x.d; removed x.e, x.f, x.g")
        await test.settled()
        #expect(
            entries(probe, from: "b init") == [
                "b init",
                "a memory-warning", "e memory-warning", "f memory-warning", "g memory-warning",
                "c init", "d init", "b launch",
                "a local-notification", "e local-notification", "f local-notification",
                "g local-notification",
                "c launch", "d launch",
                "a configuration-changed", "b activate", "c activate", "d activate",
                "e resign-active", "f resign-active", "g resign-active",
                "e background", "f background", "g background",
                "e terminate", "f terminate", "g terminate",
                "g deinit", "g deinit", "f deinit",
                "a push", "b push", "c push", "d push",
                "e deinit",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("what new modules post reaches all of them, after the events that they receive first")
    func posts() async throws {
        let probe = Probe()
        for step in ["init", "launch", "activate"] {
            probe.when("b \(step)") { module in
                module.probe?.note("b posts in \(step)")
                try module.context.post("news.\(step)")
            }
        }
        for name in ["a", "b", "c"] {
            probe.when("\(name) message") { module in
                if case .message(let message)? = module.context.event?.content {
                    module.probe?.note("\(name) receives \(message.topic)")
                }
            }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        #expect(try await test.reload("a", "b", "c").text == "applied: added x.b, x.c")
        await test.settled()
        #expect(
            entries(probe, from: "b posts in activate").filter { !$0.hasSuffix(" message") } == [
                "b posts in activate", "c activate",
                "a receives news.init", "b receives news.init", "c receives news.init",
                "a receives news.launch", "b receives news.launch", "c receives news.launch",
                "a receives news.activate", "b receives news.activate", "c receives news.activate",
            ])
        #expect(probe.entries.count { $0.contains("receives") } == 9)
        #expect(await test.stopped() == .stopped)
    }

    @Test("what a module posted whose reload is rolled back reaches the others")
    func postsOfUndone() async throws {
        let probe = Probe()
        probe.when("b launch") { try $0.context.post("news") }
        probe.when("c launch") { _ in throw TestError() }
        let test = try await HostUnderTest("a", probe: probe).launched()
        #expect(
            try await test.reload("a", "b", "c").text
                == "undone: module 'x.c' failed in launch: broken")
        await test.settled()
        #expect(probe.entries("message") == ["a message"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that becomes overdue before it is recreated first receives what it missed")
    func lateMeanwhile() async throws {
        let probe = Probe()
        let (making, overdue) = (Door(), Door())
        probe.when("c init") { _ in making.pass() }
        probe.when("b memory-warning") { _ in overdue.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        async let outcome = test.reload([
            .init(name: "a"), .init(name: "c"), .init(name: "b", type: "CallProbe"),
        ])
        await probe.reached("c init")
        try test.deliver(.memoryWarning)
        making.open()
        await probe.reached("b memory-warning")
        try test.deliver(.push, "{}")
        test.overrun()
        #expect(
            try await outcome.text
                == "applied: added x.c; to be recreated once they return: x.b")
        #expect(
            probe.entries("c").prefix(5) == [
                "c init", "c launch", "c terminate", "c deinit", "c init",
            ])
        overdue.open()
        await probe.reached("b deinit")
        #expect(
            entries(probe, from: "b memory-warning").filter { $0.hasPrefix("b ") } == [
                "b memory-warning", "b push", "b configuration-changed", "b resign-active",
                "b background", "b terminate", "b deinit",
            ])
        #expect(await test.call("x.b", "sum", ["left": 1, "right": 2]) == "3")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a late module that returns while others are made is made anew all the same")
    func returnsMeanwhile() async throws {
        let probe = Probe()
        let (making, overdue) = (Door(), Door())
        probe.when("c init") { _ in making.pass() }
        probe.when("b background") { _ in overdue.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        async let outcome = test.reload([
            .init(name: "a"), .init(name: "c"), .init(name: "d"),
            .init(name: "b", type: "CallProbe"),
        ])
        await probe.reached("c init")
        overdue.open()
        // That it is overdue no more, and that its thread has returned.
        await test.waiting(2)
        making.open()
        #expect(
            try await outcome.text
                == "applied: added x.c, x.d; to be recreated once they return: x.b")
        await probe.reached("b deinit")
        #expect(await test.call("x.b", "sum", ["left": 1, "right": 2]) == "3")
        #expect(test.host.slatefile.modules.map(\.id.text) == ["x.a", "x.c", "x.d", "x.b"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module is started again by the slatefile that holds then")
    func restart() async throws {
        let probe = Probe()
        let making = Door()
        probe.when("c init") { _ in making.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        async let outcome = test.reload("a", "b", "c")
        await probe.reached("c init")
        let restarted = Promise<String>()
        test.host.restart("x.b", origin: .host) { result in
            if case .success(.reload(let outcome)) = result { restarted.keep(outcome.text) }
        }
        making.open()
        #expect(try await outcome.text == "applied: added x.c")
        #expect(await restarted.value == "applied: recreated x.b")
        #expect(test.host.slatefile.modules.map(\.id.text) == ["x.a", "x.b", "x.c"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that hangs while it is let go of keeps neither the others nor the reload waiting")
    func hangsInRelease() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "e", "f", probe: probe).launched()
        let door = probe.close("f deinit")
        async let outcome = test.reload("a")
        await probe.reached("f deinit")
        test.overrun(.seconds(10))
        #expect(try await outcome.text == "applied: removed x.e, x.f")
        #expect(probe.entries("e").last == "e deinit")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop begins when all that leave are let go of")
    func stopBetween() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "e", "f", "g", probe: probe).launched()
        let door = probe.close("g deinit")
        async let outcome = test.reload("a")
        await probe.reached("g deinit")
        test.host.stop(because: "enough")
        door.open()
        #expect(await test.end() == .stopped)
        #expect(try await outcome.text == "applied: removed x.e, x.f, x.g")
        #expect(
            entries(probe, from: "g deinit") == [
                "g deinit", "g deinit", "f deinit", "e deinit", "a resign-active",
                "a background", "a terminate", "a deinit",
            ])
    }
}
