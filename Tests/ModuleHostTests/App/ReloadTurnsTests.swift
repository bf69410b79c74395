import TestSupport
import Testing

@testable import ModuleHostCore

/// How one reload stands to another, to a stop, and to the events around it.
@Suite("Reloads and what comes between", .timeLimit(.minutes(10)))
struct ReloadTurnsTests {
    /// Asks for a reload whose outcome goes into a list.
    private func ask(
        _ test: HostUnderTest, _ names: [String], notifiesUnchanged: Bool = true,
        _ outcomes: LockedList<String>
    ) throws {
        let slatefile = try HostUnderTest.slatefile(
            names.map { HostUnderTest.Entry(name: $0) }, probe: test.probe)
        test.host.reload(
            slatefile, tokens: .empty, origin: .host, notifiesUnchanged: notifiesUnchanged
        ) { outcomes.append($0.text) }
    }

    @Test("each has its turn, in the order in which they were asked for, whatever comes of them")
    func turns() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b launch") { _ in door.pass() }
        probe.when("c init") { _ in throw TestError() }
        let test = try HostUnderTest("a", probe: probe)
        let outcomes = LockedList<String>()
        try ask(test, ["a"], outcomes)
        try ask(test, ["a", "b"], outcomes)
        let launched = try await test.launched()
        await probe.reached("b launch")
        for names in [["a", "b"], ["a", "b", "c"], ["a"], ["d"]] { try ask(test, names, outcomes) }
        door.open()
        while outcomes.values.count < 6 { await Task.yield() }
        #expect(
            outcomes.values == [
                "nothing changed", "applied: added x.b", "nothing changed",
                "undone: module 'x.c' failed in init: broken", "applied: removed x.b",
                "applied: added x.d; removed x.a",
            ])
        #expect(await launched.stopped() == .stopped)
    }

    @Test("a reload that finds nothing changed notifies no module where none is to be notified")
    func silent() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        let outcomes = LockedList<String>()
        try ask(test, ["a"], notifiesUnchanged: false, outcomes)
        try ask(test, ["a"], outcomes)
        while outcomes.values.count < 2 { await Task.yield() }
        await test.settled()
        #expect(outcomes.values == ["nothing changed", "nothing changed"])
        #expect(probe.entries("configuration-changed") == ["a configuration-changed"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("none begins once a stop has begun, however long that takes")
    func duringStop() async throws {
        let probe = Probe()
        let hold = Guarded<ModuleHold?>(nil)
        probe.when("a background") { module in
            let taken = try module.context.hold("saving")
            hold.withLock { $0 = taken }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "enough")
        await probe.reached("b background")
        await test.settled()
        #expect(try await test.reload("a").text == "stopped")
        hold.withLock { $0 }?.end()
        #expect(await test.end() == .stopped)
        #expect(probe.entries("b").suffix(3) == ["b background", "b terminate", "b deinit"])
    }

    @Test("an event that was accepted while modules were made follows the ones they receive first")
    func eventInBetween() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b launch") { _ in door.pass() }
        let test = try await HostUnderTest("a", probe: probe).launched()
        async let outcome = test.reload("a", "b")
        await probe.reached("b launch")
        try test.deliver(.memoryWarning)
        door.open()
        #expect(try await outcome.text == "applied: added x.b")
        await test.settled()
        #expect(
            probe.entries("b") == ["b init", "b launch", "b activate", "b memory-warning"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("where the app is inactive a new module is notified neither of that nor of anything else")
    func inactive() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.resignActive)
        #expect(try await test.reload("a", "b").text == "applied: added x.b")
        await test.settled()
        #expect(probe.entries("b") == ["b init", "b launch"])
        try test.deliver(.activate)
        await test.settled()
        #expect(probe.entries("b").last == "b activate")
        #expect(await test.stopped() == .stopped)
    }
}
