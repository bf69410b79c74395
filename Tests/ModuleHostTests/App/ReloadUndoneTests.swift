import TestSupport
import Testing

@testable import ModuleHostCore

/// Every way in which a reload can fail: all stays as it was, and what was made for it is released.
@Suite("Reload that fails", .timeLimit(.minutes(10)))
struct ReloadUndoneTests {
    private static let both = [
        HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "c"),
        HostUnderTest.Entry(name: "b"),
    ]

    /// Expects that the app is as if nothing had been: order, routes, numbers, services, start-up names.
    private func expectAsBefore(
        _ test: HostUnderTest, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = test.probe.entries.count
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(
            Array(test.probe.entries.dropFirst(before)) == [
                "a memory-warning", "b memory-warning",
            ],
            sourceLocation: location)
        #expect(
            test.host.slatefile.modules.map(\.id.text) == ["x.a", "x.b"], sourceLocation: location)
        #expect(test.host.gate.lane.vacantNumbers(1) == [3], sourceLocation: location)
    }

    @Test("a module that throws in init undoes all")
    func initThrows() async throws {
        let probe = Probe()
        probe.when("d init") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let outcome = try await test.reload("d", "c", "a")
        #expect(outcome.text == "undone: module 'x.d' failed in init: broken")
        #expect(probe.entries("c") == [])
        try await expectAsBefore(test)
        #expect(
            test.recorder.messages.contains(
                "reload rolled back, the current slatefile stays in effect (host): "
                    + "module 'x.d' failed in init: broken"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that throws in launch undoes all: launched modules are notified of the end")
    func launchThrows() async throws {
        let probe = Probe()
        probe.when("d launch") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let outcome = try await test.reload("c", "d", "e")
        #expect(outcome.text == "undone: module 'x.d' failed in launch: broken")
        #expect(
            probe.entries.dropFirst(6) == [
                "c init", "d init", "e init", "c launch", "d launch", "c terminate", "e deinit",
                "d deinit", "c deinit",
            ])
        try await expectAsBefore(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that fails when it has launched, before the reload holds, undoes all")
    func failsAfterLaunch() async throws {
        let probe = Probe()
        probe.when("c launch") { module in
            // As the process of one does that is given up.
            module.context.host.services.fail(module.context.slot, "process", TestError())
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let outcome = try await test.reload("c", "d", "e")
        #expect(outcome.text == "undone: module 'x.c': process failed: broken")
        #expect(probe.entries("d") == ["d init", "d deinit"])
        try await expectAsBefore(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a module that hangs undoes all, and is let go of when it returns",
        arguments: ["init", "launch"])
    func hangs(in step: String) async throws {
        let probe = Probe("hangs in \(step)")
        let door = Door()
        probe.when("c \(step)") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        async let outcome = test.reload(Self.both)
        await probe.reached("c \(step)")
        test.overrun(.seconds(20))
        #expect(
            try await outcome.text
                == "undone: module 'x.c' failed in \(step): it did not return within 20s")
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        #expect(!probe.entries.contains("c deinit"))
        door.open()
        await probe.reached("c deinit")
        await test.released(3)
        try await expectAsBefore(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a required start-up task of a new module that fails undoes all, and ends nothing")
    func requiredTask() async throws {
        let probe = Probe()
        probe.when("c init") { module in
            try module.context.startup("load", priority: .high, required: true) {
                throw TestError()
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(
            try await test.reload(Self.both).text
                == "undone: required start-up task 'x.c/load' failed: broken")
        try await expectAsBefore(test)
        probe.when("c init") { module in
            try module.context.startup("load", priority: .high, required: true) {}
        }
        #expect(try await test.reload(Self.both).text == "applied: added x.c")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a required start-up task that fails of an instance about to be replaced ends the app")
    func requiredTaskOfOld() async throws {
        let probe = Probe()
        let (task, making) = (Door(), Door())
        probe.when("b init") { module in
            try module.context.startup("load", required: true) {
                task.pass()
                throw TestError()
            }
        }
        probe.when("c init") { _ in making.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        async let outcome = test.reload([
            .init(name: "a"), .init(name: "b", type: "CallProbe"), .init(name: "c"),
        ])
        await probe.reached("c init")
        task.open()
        while !test.host.isStopping { await Task.yield() }
        making.open()
        #expect(try await outcome.text == "stopped")
        #expect(
            await test.end() == .failed("required start-up task 'x.b/load' failed: broken"))
    }

    @Test("start-up tasks that make no sense undo all")
    func invalidTask() async throws {
        let probe = Probe()
        probe.when("c init") { module in
            try module.context.startup("load", after: ["x.b/none"]) {}
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let text = try await test.reload(Self.both).text
        #expect(text.hasPrefix("undone: invalid start-up tasks: "), "\(text)")
        try await expectAsBefore(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a route that a module which stays has meanwhile added undoes all at the last moment")
    func routeConflict() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("c init") { _ in door.pass() }
        probe.when("c launch") { module in
            try module.context.router.add(
                Route("app://native/:name") { (module: ProbeModule, call) in "new" })
        }
        let top = #""schemes": ["app"]"#
        let test = try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "b")], top: top, probe: probe
        ).launched()
        async let outcome = test.reload(
            [.init(name: "a", type: "CallProbe"), .init(name: "c"), .init(name: "b")], top: top)
        await probe.reached("c init")
        async let added = test.asFirst { module in
            try module.context.router.add(
                Route("app://native/:id") { (module: CallProbe, call) in "dynamic" })
            return "added"
        }
        await test.waiting(1)
        door.open()
        #expect(try await added == "added")
        #expect(
            try await outcome.text
                == "undone: route 'app://native/:name' of x.c answers the same URLs as "
                + "'app://native/:id' of x.a; leave one of them out")
        #expect(
            try await test.asFirst { try $0.context.router.value(for: "app://native/7") }
                == "dynamic")
        #expect(probe.entries("c") == ["c init", "c launch", "c terminate", "c deinit"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a service that a module which stays provides undoes all")
    func serviceConflict() async throws {
        let probe = Probe()
        probe.when("b launch") { module in
            try module.context.services.register((any PingResponder).self) {
                ProbeMember("s", Probe("s"))
            }
        }
        probe.when("c launch") { module in
            try module.context.services.register((any PingResponder).self) {
                ProbeMember("s", Probe("s"))
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let outcome = try await test.reload(Self.both)
        #expect(
            outcome.text
                == "undone: module 'x.c' failed in launch: 'PingResponder' is provided already by x.b; provide it once"
        )
        try await expectAsBefore(test)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop wins over a reload: what was made for it is let go of")
    func stopped() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("c launch") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        async let outcome = test.reload(Self.both)
        await probe.reached("c launch")
        async let second = test.reload("a")
        test.host.stop(because: "enough")
        door.open()
        #expect(await test.end() == .stopped)
        #expect(try await outcome.text == "stopped")
        #expect(try await second.text == "stopped")
        #expect(
            probe.entries("c") == ["c init", "c launch", "c terminate", "c deinit"])
        #expect(probe.entries("b").suffix(2) == ["b terminate", "b deinit"])
    }
}
